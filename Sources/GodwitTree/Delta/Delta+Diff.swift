// Finding the change between two values.
//
// Maps are compared key by key. In lists the same item is looked for on both sides, first by a
// declared identity (a scalar under `id`, `_id` or `uuid` that occurs once on each side), then by
// equal content. What stays in order is left in place, what does not moves; leftovers between
// the same neighbours that resemble each other are one item, edited. Nothing is quadratic: the
// search for resemblance looks at a bounded number of candidates.

extension Delta {
    /// The change that leads from `old` to `new`; `keep` exactly when they are equal.
    ///
    /// - Complexity: O(*n* log *n*) in the sizes of the lists that differ, O(*n*) for the rest.
    public static func diff(_ old: Value, _ new: Value) -> Delta {
        switch (old, new) {
        case (.map(let old), .map(let new)): .map(diff(old, new))
        case (.list(let old), .list(let new)):
            old == new ? .keep : .list(diff(Array(old), Array(new)))
        default: old == new ? .keep : .set(new)
        }
    }

    private static func diff(_ old: Value.Map, _ new: Value.Map) -> [Key: MapDelta.Change] {
        guard old != new else { return [:] }
        var changes: [Key: MapDelta.Change] = [:]
        var rest = Array(old)[...]
        for entry in new {
            while let gone = rest.first, gone.key < entry.key {
                changes[gone.key] = .remove
                rest.removeFirst()
            }
            if let same = rest.first, same.key == entry.key {
                changes[entry.key] = .apply(diff(same.value, entry.value))
                rest.removeFirst()
            } else {
                changes[entry.key] = .apply(.set(entry.value))
            }
        }
        for gone in rest { changes[gone.key] = .remove }
        return changes
    }

    private static func diff(_ old: [Value], _ new: [Value]) -> ListRecipe {
        let prefix = zip(old, new).prefix { $0 == $1 }.count
        let suffix = zip(old.dropFirst(prefix).reversed(), new.dropFirst(prefix).reversed())
            .prefix { $0 == $1 }.count
        var matching = ListMatching(
            old: old[prefix..<(old.count - suffix)],
            new: new[prefix..<(new.count - suffix)]
        )
        matching.matchIdentities()
        matching.matchContents()
        matching.matchResemblances()

        var recipe = ListRecipe()
        recipe.append(.kept(0..<prefix))
        for (value, source) in zip(matching.new, matching.sources) {
            if let source {
                recipe.append(.edited(source, diff(old[source], value)))
            } else {
                recipe.append(.new(value))
            }
        }
        recipe.finish(tail: old.count - suffix)
        return recipe
    }
}

/// Which old item each new item is.
private struct ListMatching {
    private let old: ArraySlice<Value>
    let new: ArraySlice<Value>
    /// The position in `old`, for each item of `new`.
    private(set) var sources: [Int?]
    private var isTaken: [Bool]

    private static let candidatesMax = 8

    init(old: ArraySlice<Value>, new: ArraySlice<Value>) {
        self.old = old
        self.new = new
        sources = Array(repeating: nil, count: new.count)
        isTaken = Array(repeating: false, count: old.count)
    }

    /// Matches items whose declared identity occurs once on each side.
    mutating func matchIdentities() {
        let oldPositions = Self.uniqueIdentities(of: old)
        guard !oldPositions.isEmpty else { return }
        for (identity, position) in Self.uniqueIdentities(of: new) {
            if let source = oldPositions[identity] { match(position - new.startIndex, source) }
        }
    }

    /// Matches equal items, the first with the first.
    mutating func matchContents() {
        var positions: [Value: [Int]] = [:]
        for position in old.indices.reversed() where !isTaken[position - old.startIndex] {
            positions[old[position], default: []].append(position)
        }
        for (index, value) in new.enumerated() where sources[index] == nil {
            if let source = positions[value]?.popLast() { match(index, source) }
        }
    }

    /// Matches what is left over between the same two stationary neighbours.
    mutating func matchResemblances() {
        let matched = sources.indices.filter { sources[$0] != nil }
        let sequence = matched.compactMap { index in
            sources[index].map { WeightedElement(value: $0, weight: 1) }
        }
        let anchors = heaviestIncreasingSubsequence(of: sequence).map { matched[$0] }
        var (nextNew, nextOld) = (0, old.startIndex)
        for anchor in anchors + [sources.count] {
            let oldEnd = anchor < sources.count ? sources[anchor] ?? old.endIndex : old.endIndex
            matchGap(new: nextNew..<anchor, old: nextOld..<oldEnd)
            (nextNew, nextOld) = (anchor + 1, min(oldEnd + 1, old.endIndex))
        }
    }

    private mutating func matchGap(new range: Range<Int>, old gap: Range<Int>) {
        var candidates = gap.filter { !isTaken[$0 - old.startIndex] }[...]
        for index in range where sources[index] == nil {
            let value = new[new.startIndex + index]
            var best: (offset: Int, score: Int)?
            for (offset, position) in candidates.prefix(Self.candidatesMax).enumerated() {
                let score = old[position].resemblance(to: value)
                if score > best?.score ?? 0 { best = (offset, score) }
            }
            guard let best else { continue }
            candidates = candidates.dropFirst(best.offset)
            if let source = candidates.popFirst() { match(index, source) }
        }
    }

    private mutating func match(_ index: Int, _ source: Int) {
        sources[index] = source
        isTaken[source - old.startIndex] = true
    }

    private static func uniqueIdentities(of items: ArraySlice<Value>) -> [Value: Int] {
        var positions: [Value: Int?] = [:]
        for (position, item) in zip(items.indices, items) {
            guard let identity = item.identity else { continue }
            positions[identity] = positions.keys.contains(identity) ? .some(nil) : position
        }
        return positions.compactMapValues { $0 }
    }
}

extension Value {
    private static let identityKeys: [Key] = ["id", "_id", "uuid"]

    /// The scalar by which this item says who it is.
    var identity: Value? {
        guard case .map(let map) = self else { return nil }
        for key in Self.identityKeys {
            switch map[key] {
            case .int(let int)?: return .int(int)
            case .string(let text)?: return .string(text)
            case .bytes(let bytes)?: return .bytes(bytes)
            default: continue
            }
        }
        return nil
    }

    /// How much two items look like versions of one: 0 when they do not.
    fileprivate func resemblance(to other: Value) -> Int {
        switch (self, other) {
        case (.map(let old), .map(let new)):
            if let identity, let otherIdentity = other.identity, identity != otherIdentity {
                return 0
            }
            let shared = new.filter { old[$0.key] != nil }
            guard shared.count * 2 >= max(old.count, new.count), !shared.isEmpty else { return 0 }
            return shared.count + shared.count { old[$0.key] == $0.value } * 4
        case (.list(let old), .list(let new)):
            return old.first == new.first || old.last == new.last ? 2 : 0
        default:
            return 0
        }
    }
}
