// Which item of an old list each item of a new one is.
//
//   (1) By identity: a scalar under one key that tells the items of both lists apart. The key is
//       declared, or the first of the usual ones that nearly all items have, each its own.
//   (2) By content that occurs once in each list; then, between the same two neighbours that stay
//       in place, by content that occurs more often; then anywhere.
//   (3) By resemblance: what is left between the same two neighbours, when they share most keys,
//       is an item that was edited. A bounded number of candidates is looked at.
//
// Each step takes only what the steps before it have left. All of it is O(n log n).

/// The search for the items of one list in another.
struct ListMatching {
    let old: [Value]
    let new: [Value]
    /// The position in `old`, for each item of `new`.
    private(set) var sources: [Int?]
    private var isTaken: [Bool]
    private let identity: Key?

    private static let candidatesMax = 8

    /// - Parameter declared: The key that tells the items apart, where it is known.
    init(old: [Value], new: [Value], declared: Key? = nil) {
        self.old = old
        self.new = new
        sources = Array(repeating: nil, count: new.count)
        isTaken = Array(repeating: false, count: old.count)
        identity = declared ?? ItemIdentity.key(of: [old, new])
    }

    mutating func matchAll() {
        guard !old.isEmpty, !new.isEmpty else { return }
        matchIdentities()
        matchUniqueContents()
        forEachGap { $0.matchEqual(new: $1, old: $2) }
        matchEqual(new: new.indices, old: old.indices)
        forEachGap { $0.matchAlike(new: $1, old: $2) }
    }

    private mutating func matchIdentities() {
        guard let identity else { return }
        let oldPositions = ItemIdentity.uniquePositions(of: old.map { $0.identity(identity) })
        guard !oldPositions.isEmpty else { return }
        let newPositions = ItemIdentity.uniquePositions(of: new.map { $0.identity(identity) })
        for (name, index) in newPositions {
            if let source = oldPositions[name] { match(index, source) }
        }
    }

    private mutating func matchUniqueContents() {
        let oldContents = old.indices.map { isTaken[$0] ? nil : ItemContent(old[$0]) }
        let oldPositions = ItemIdentity.uniquePositions(of: oldContents)
        let newContents = new.indices.map { sources[$0] == nil ? ItemContent(new[$0]) : nil }
        for (content, index) in ItemIdentity.uniquePositions(of: newContents) {
            if let source = oldPositions[content] { match(index, source) }
        }
    }

    /// Matches equal items, the first with the first.
    private mutating func matchEqual(new range: Range<Int>, old gap: Range<Int>) {
        let indices = range.filter { sources[$0] == nil }
        guard !indices.isEmpty else { return }
        var positions: [ItemContent: [Int]] = [:]
        for position in gap.reversed() where !isTaken[position] {
            positions[ItemContent(old[position]), default: []].append(position)
        }
        guard !positions.isEmpty else { return }
        for index in indices {
            if let source = positions[ItemContent(new[index])]?.popLast() { match(index, source) }
        }
    }

    /// Matches items that look like versions of one.
    private mutating func matchAlike(new range: Range<Int>, old gap: Range<Int>) {
        var candidates = gap.filter { !isTaken[$0] }[...]
        for index in range where sources[index] == nil && !candidates.isEmpty {
            var best: (offset: Int, score: Int)?
            for (offset, position) in candidates.prefix(Self.candidatesMax).enumerated() {
                let score = old[position].resemblance(to: new[index], identity: identity)
                if score > best?.score ?? 0 { best = (offset, score) }
            }
            guard let best else { continue }
            candidates = candidates.dropFirst(best.offset)
            if let source = candidates.popFirst() { match(index, source) }
        }
    }

    /// Calls `body` for what is between each two items that stay in place.
    private mutating func forEachGap(_ body: (inout Self, Range<Int>, Range<Int>) -> Void) {
        let matched = sources.indices.filter { sources[$0] != nil }
        guard matched.count < new.count else { return }
        let sequence = matched.compactMap { index in
            sources[index].map { WeightedElement(value: $0, weight: 1) }
        }
        let anchors = heaviestIncreasingSubsequence(of: sequence).map { matched[$0] }
        var (nextNew, nextOld) = (0, 0)
        for anchor in anchors + [new.count] {
            let oldEnd = anchor < new.count ? sources[anchor] ?? old.count : old.count
            if nextNew < anchor, nextOld < oldEnd {
                body(&self, nextNew..<anchor, nextOld..<oldEnd)
            }
            (nextNew, nextOld) = (anchor + 1, min(oldEnd + 1, old.count))
        }
    }

    private mutating func match(_ index: Int, _ source: Int) {
        sources[index] = source
        isTaken[source] = true
    }
}

/// An item, compared and hashed by its digest where it is a container.
struct ItemContent: Hashable {
    private enum Kind: Hashable {
        case scalar(Value)
        case container(Digest)
    }

    private let kind: Kind

    init(_ value: Value) {
        switch value {
        case .list, .map: kind = .container(value.digest)
        default: kind = .scalar(value)
        }
    }
}

/// How the items of a list are told apart.
enum ItemIdentity {
    /// Keys that usually name an item, the strictest first.
    private static let usualKeys: [Key] = [
        "id", "_id", "uuid", "guid", "key", "slug", "name", "title",
    ]

    /// The first usual key that nearly all maps in each list have, with a scalar of its own.
    static func key(of lists: [[Value]]) -> Key? {
        usualKeys.first { key in lists.allSatisfy { isIdentity(key, in: $0) } }
    }

    /// Nearly: in lists that people keep by hand, two items may share a title.
    private static func isIdentity(_ key: Key, in items: [Value]) -> Bool {
        var seen: Set<Value> = []
        var count = 0
        for case .map(let map) in items {
            count += 1
            if let name = map[key], name.isName { seen.insert(name) }
        }
        return count > 0 && seen.count * 10 >= count * 9
    }

    /// The positions of what occurs once.
    static func uniquePositions<Name: Hashable>(of names: [Name?]) -> [Name: Int] {
        var positions: [Name: Int?] = [:]
        for (position, name) in names.enumerated() {
            guard let name else { continue }
            positions[name] = positions.keys.contains(name) ? .some(nil) : position
        }
        return positions.compactMapValues { $0 }
    }
}

extension Value {
    /// What this item is called, if it has such a key.
    func identity(_ key: Key) -> Value? {
        guard case .map(let map) = self, let name = map[key], name.isName else { return nil }
        return name
    }

    /// Whether this can be a name: an int, a string or bytes.
    fileprivate var isName: Bool {
        switch self {
        case .int, .string, .bytes: true
        default: false
        }
    }

    /// How much two items look like versions of one: 0 when they do not.
    fileprivate func resemblance(to other: Value, identity: Key?) -> Int {
        switch (self, other) {
        case (.map(let old), .map(let new)):
            let shared = new.filter { old[$0.key] != nil }
            guard shared.count * 2 >= Swift.max(old.count, new.count), !shared.isEmpty else {
                return 0
            }
            let equal = shared.count { old[$0.key] == $0.value }
            // Under another name, only what is otherwise the same is the same item.
            if let identity, self.identity(identity) != other.identity(identity) {
                guard equal > 0, (equal + 1) * 2 >= old.count else { return 0 }
            }
            return shared.count + equal * 4
        case (.list(let old), .list(let new)):
            return old.first == new.first || old.last == new.last ? 2 : 0
        default:
            return 0
        }
    }
}
