extension Delta {
    /// The value that this delta leads to from `base`.
    ///
    /// - Complexity: O(*k* log *n*) expected, for *k* changes in containers of *n* elements.
    /// - Throws: ``TreeError/wrongBase(path:reason:)`` when `base` has another shape than the
    ///   delta was made for, ``TreeError/tooDeep(limit:)`` when the result would nest too deep.
    public func applied(to base: Value) throws(TreeError) -> Value {
        try applied(to: base, at: .checked(0))
    }

    /// The value that this delta leads to where it stands in a document.
    func applied(to base: Value, at depth: ApplyDepth) throws(TreeError) -> Value {
        var value = base
        try value.apply(self, depth: depth)
        return value
    }
}

extension Value {
    /// The value after a delta that is known to apply.
    func changed(by delta: Delta) -> Value {
        guard let value = try? delta.applied(to: self, at: .known) else {
            preconditionFailure("The delta was made for another value")
        }
        return value
    }
}

extension Value.List {
    /// The list after a delta that is known to apply.
    func changed(by delta: ListDelta) -> Value.List {
        var list = self
        guard (try? list.apply(delta.recipe, depth: .known)) != nil else {
            preconditionFailure("The delta was made for another list")
        }
        return list
    }
}

/// How many containers there are around the place where a delta applies.
enum ApplyDepth {
    case checked(Int)
    /// The caller has made sure that the result nests no deeper than it may.
    case known

    fileprivate var below: ApplyDepth {
        if case .checked(let depth) = self { .checked(depth + 1) } else { .known }
    }

    /// Checks that a value may be set here.
    fileprivate func check(_ value: Value) throws(TreeError) {
        guard case .checked(let depth) = self else { return }
        guard depth <= Value.depthMax, value.isNested(within: Value.depthMax - depth) else {
            throw .tooDeep(limit: Value.depthMax)
        }
    }
}

extension Value {
    /// Changes the value; where it throws, what is left of it is of no use.
    fileprivate mutating func apply(_ delta: Delta, depth: ApplyDepth) throws(TreeError) {
        switch delta {
        case .keep:
            break
        case .set(let value):
            try depth.check(value)
            self = value
        case .map(let delta):
            guard case .map(var map) = self else { throw unlike("a map") }
            // Gives the map up, so that it can change in place.
            self = .null
            try map.apply(delta, depth: depth)
            self = .map(map)
        case .list(let delta):
            guard case .list(var list) = self else { throw unlike("a list") }
            self = .null
            try list.apply(delta.recipe, depth: depth)
            self = .list(list)
        case .text(let delta):
            guard case .string(let text) = self else { throw unlike("a string") }
            self = .string(try delta.applied(to: text))
        case .increment(let number):
            guard case .int(let int) = self else { throw unlike("an int") }
            self = .int(int &+ number)
        }
    }

    private func unlike(_ expected: String) -> TreeError {
        .wrongBase(path: ValuePath(), reason: "there is a \(kind) in the place of \(expected)")
    }
}

extension Value.Map {
    fileprivate mutating func apply(_ delta: MapDelta, depth: ApplyDepth) throws(TreeError) {
        if delta.entries.count > 64, delta.entries.count * 8 > count {
            return try rebuild(delta, depth: depth)
        }
        for entry in delta.entries {
            switch entry.change {
            case .remove: self[entry.key] = nil
            case .apply(.set(let value)):
                let new = try Self.created(value, at: entry.key, depth: depth)
                self[entry.key] = new
            case .apply(let change):
                let result = modify(entry.key) { value in
                    value.attempt(change, at: .key(entry.key), depth: depth)
                }
                guard let result else { throw .nothing(at: entry.key) }
                try result.get()
            }
        }
    }

    /// One walk along the old entries and the changes, where there are many.
    private mutating func rebuild(_ delta: MapDelta, depth: ApplyDepth) throws(TreeError) {
        var result: [Entry] = []
        result.reserveCapacity(count + delta.entries.count)
        var rest = delta.entries[...]
        for var entry in self {
            while let change = rest.first, change.key < entry.key {
                try result.append(contentsOf: Self.created(change, depth: depth))
                rest.removeFirst()
            }
            if let change = rest.first, change.key == entry.key {
                rest.removeFirst()
                guard case .apply(let delta) = change.change else { continue }
                try entry.value.attempt(delta, at: .key(entry.key), depth: depth).get()
            }
            result.append(entry)
        }
        for change in rest { try result.append(contentsOf: Self.created(change, depth: depth)) }
        self = Value.Map(ascending: result)
    }

    private static func created(
        _ entry: MapDelta.Entry,
        depth: ApplyDepth
    ) throws(TreeError) -> [Entry] {
        switch entry.change {
        case .remove: return []
        case .apply(.set(let value)):
            return [Entry(key: entry.key, value: try created(value, at: entry.key, depth: depth))]
        case .apply: throw .nothing(at: entry.key)
        }
    }

    private static func created(
        _ value: Value,
        at key: Key,
        depth: ApplyDepth
    ) throws(TreeError) -> Value {
        var new = Value.null
        try new.attempt(.set(value), at: .key(key), depth: depth).get()
        return new
    }
}

extension Value.List {
    fileprivate mutating func apply(_ recipe: ListRecipe, depth: ApplyDepth) throws(TreeError) {
        guard recipe.tail <= count else {
            let reason = "there is no item \(recipe.tail - 1) in a list of \(count)"
            throw .wrongBase(path: ValuePath(), reason: reason)
        }
        if recipe.runs.count * 8 <= count, recipe.staysInPlace {
            for case .edited(let position, let delta) in recipe.runs {
                try modify(at: position) {
                    $0.attempt(delta, at: .position(position), depth: depth)
                }.get()
            }
            return
        }
        var builder = ChunkBuilder<Value>()
        for run in recipe.runs {
            switch run {
            case .kept(let range):
                if let root = tree.root { builder.append(range, of: root) }
            case .edited(let position, let delta):
                var item = self[position]
                try item.attempt(delta, at: .position(position), depth: depth).get()
                builder.append(item)
            case .new(let value):
                var item = Value.null
                try item.attempt(.set(value), at: .position(0), depth: depth).get()
                builder.append(item)
            }
        }
        if let root = tree.root { builder.append(recipe.tail..<root.count, of: root) }
        self.tree = ChunkTree(root: builder.finish())
    }
}

extension Value {
    /// Applies a delta one step further down.
    fileprivate mutating func attempt(
        _ delta: Delta,
        at step: ValuePath.Step,
        depth: ApplyDepth
    ) -> Result<Void, TreeError> {
        do throws(TreeError) {
            return .success(try apply(delta, depth: depth.below))
        } catch {
            return .failure(error.within(step))
        }
    }
}

extension TreeError {
    /// The same error, seen from one level higher.
    func within(_ step: ValuePath.Step) -> TreeError {
        switch self {
        case .wrongBase(let path, let reason):
            .wrongBase(path: ValuePath([step] + path.steps), reason: reason)
        case .inexpressible(let path, let reason):
            .inexpressible(path: ValuePath([step] + path.steps), reason: reason)
        default: self
        }
    }

    static func nothing(at key: Key) -> TreeError {
        .wrongBase(path: ValuePath([.key(key)]), reason: "there is nothing to change")
    }
}
