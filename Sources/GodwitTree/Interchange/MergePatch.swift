// JSON Merge Patch, RFC 7386.
//
// A merge patch is a document itself: what stands under a key replaces what stood there, null
// removes it, and maps are patched in their turn. So no null can be put into a map, and a list can
// only be replaced as a whole.

extension Value {
    /// The value that a merge patch (RFC 7386) makes of this one.
    ///
    /// ```swift
    /// let value: Value = ["a": 1, "b": 2]
    /// try value.applying(mergePatch: ["a": .null, "c": 3])  // {:b 2 :c 3}
    /// ```
    ///
    /// The result nests no deeper than the deeper one of value and patch.
    ///
    /// - Complexity: O(*k* log *n*), for *k* entries in the patch and *n* in the maps patched.
    /// - Throws: ``TreeError/tooDeep(limit:)`` when the patch nests deeper than a value may.
    public func applying(mergePatch patch: Value) throws(TreeError) -> Value {
        guard patch.isNested(within: Value.depthMax) else {
            throw .tooDeep(limit: Value.depthMax)
        }
        return patched(by: patch)
    }

    fileprivate func patched(by patch: Value) -> Value {
        guard case .map(let changes) = patch else { return patch }
        guard case .map(var map) = self else { return .map(changes.withoutNulls) }
        for entry in changes {
            map[entry.key] =
                switch (map[entry.key], entry.value) {
                case (_, .null): nil
                case (let old?, let change): old.patched(by: change)
                case (nil, .map(let new)): .map(new.withoutNulls)
                case (nil, let new): new
                }
        }
        return .map(map)
    }
}

extension Delta {
    /// The change that a merge patch (RFC 7386) makes to `base`.
    ///
    /// ```swift
    /// try Delta(mergePatch: ["a": .null, "c": 3], on: ["a": 1, "b": 2])  // {:a #d/del nil :c 3}
    /// ```
    ///
    /// A merge patch can only replace a list, or a text, as a whole. What it really changes there
    /// is found as by ``diff(_:_:policy:inPieces:)``, so that it merges well with other changes of
    /// the same list. ``applied(to:)`` leads to what ``Value/applying(mergePatch:)`` returns.
    ///
    /// - Complexity: O(*k* log *n*), and what the differences cost of lists that are replaced.
    /// - Throws: ``TreeError/tooDeep(limit:)`` when the patch nests deeper than a value may.
    public init(mergePatch patch: Value, on base: Value) throws(TreeError) {
        guard patch.isNested(within: Value.depthMax) else {
            throw .tooDeep(limit: Value.depthMax)
        }
        self.init(shallow: patch, on: base)
    }

    /// - Precondition: The patch nests no deeper than a value may.
    private init(shallow patch: Value, on base: Value) {
        guard case .map(let changes) = patch, case .map(let map) = base else {
            self = .diff(base, base.patched(by: patch))
            return
        }
        let entries = changes.compactMap { change -> MapDelta.Entry? in
            switch (map[change.key], change.value) {
            case (nil, .null): return nil
            case (_?, .null): return MapDelta.Entry(key: change.key, change: .remove)
            case (let old?, let patch):
                let delta = Delta(shallow: patch, on: old)
                return MapDelta.Entry(key: change.key, change: .apply(delta))
            case (nil, let patch):
                let new = Value.null.patched(by: patch)
                return MapDelta.Entry(key: change.key, change: .apply(.set(new)))
            }
        }
        self = .map(entries)
    }

    /// The merge patch (RFC 7386) that does to `base` what this delta does.
    ///
    /// Lists and texts that change are in it as a whole. For another base it may do something else.
    ///
    /// - Complexity: O(*k* log *n*) for *k* changes, and the size of what the patch holds.
    /// - Throws: ``TreeError/inexpressible(path:reason:)`` when a null would have to be put into a
    ///   map, and what ``applied(to:)`` throws for this base.
    public func mergePatch(on base: Value) throws(TreeError) -> Value {
        let result = try applied(to: base)
        // At the root a null is a document like any other, not a removal.
        guard case .map = result else { return result }
        return try patch(base) ?? (base.map == nil ? base : [:])
    }

    /// The merge patch that changes `base`, for a delta that is known to fit; nil for no change.
    fileprivate func patch(_ base: Value) throws(TreeError) -> Value? {
        switch self {
        case .keep: return nil
        case .set(let value): return try value.patch(from: base)
        case .map(let delta):
            guard case .map(let map) = base else { return nil }
            return try delta.patch(map)
        case .list, .text, .increment:
            let value = try applied(to: base)
            return value == base ? nil : value
        }
    }
}

extension MapDelta {
    fileprivate func patch(_ base: Value.Map) throws(TreeError) -> Value? {
        var patch: [Value.Map.Entry] = []
        for entry in entries {
            let value: Value?
            do throws(TreeError) {
                switch (base[entry.key], entry.change) {
                case (let old, .remove): value = old == nil ? nil : .null
                case (let old?, .apply(let delta)): value = try delta.patch(old)
                case (nil, .apply(.set(let new))): value = try new.patch(from: nil)
                case (nil, .apply): value = nil
                }
            } catch {
                throw error.within(.key(entry.key))
            }
            if let value { patch.append(Value.Map.Entry(key: entry.key, value: value)) }
        }
        return patch.isEmpty ? nil : .map(Value.Map(ascending: patch))
    }
}

extension Value {
    /// The merge patch that makes this value of another, or of nothing; nil when they are equal.
    fileprivate func patch(from old: Value?) throws(TreeError) -> Value? {
        if let old, old == self { return nil }
        switch (old, self) {
        case (_, .null):
            throw .inexpressible(
                path: ValuePath(),
                reason: "a merge patch takes null for a removal"
            )
        case (.map(let old)?, .map(let new)): return try new.patch(from: old)
        case (_, .map(let new)): return try new.patch(from: [:]) ?? self
        default: return self
        }
    }
}

extension Value.Map {
    fileprivate func patch(from old: Value.Map) throws(TreeError) -> Value? {
        let gone = old.filter { self[$0.key] == nil }
        var patch = gone.map { Entry(key: $0.key, value: .null) }
        for entry in self {
            do throws(TreeError) {
                guard let value = try entry.value.patch(from: old[entry.key]) else { continue }
                patch.append(Entry(key: entry.key, value: value))
            } catch {
                throw error.within(.key(entry.key))
            }
        }
        return patch.isEmpty ? nil : .map(Value.Map(patch))
    }

    /// The value that a patch makes where there was nothing: no key that it removes, on any level.
    fileprivate var withoutNulls: Value.Map {
        Value.Map(
            ascending: compactMap { entry in
                switch entry.value {
                case .null: nil
                case .map(let map): Entry(key: entry.key, value: .map(map.withoutNulls))
                default: entry
                }
            }
        )
    }
}
