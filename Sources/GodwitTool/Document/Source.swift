import GodwitTree

/// A piece of a document that a value, or part of it, can be written with.
struct Source {
    let document: Document
    let node: Document.Node
    /// What the node says.
    let value: Value
    /// The change from what the node says to the value that is written.
    let delta: Delta

    /// A whole document, for a value that grew from it.
    init(_ document: Document, for value: Value, policy: MergePolicy = .standard) {
        self.init(
            document: document,
            node: document.root,
            value: document.value,
            delta: .diff(document.value, value, policy: policy, inPieces: true)
        )
    }

    init(document: Document, node: Document.Node, value: Value, delta: Delta) {
        (self.document, self.node, self.value, self.delta) = (document, node, value, delta)
    }

    var text: ArraySlice<UInt8> { document.bytes[node.range] }

    /// Whether the text says what is to be written.
    var isKept: Bool { delta == .keep }

    var isScalar: Bool { if case .scalar = node.content { true } else { false } }

    /// The entries of a map with their places; empty for other nodes.
    var entries: [Key: Document.Member] {
        guard case .map(let members) = node.content else { return [:] }
        return Dictionary(members.lazy.compactMap { member in member.key.map { ($0, member) } }) {
            first,
            _ in first
        }
    }

    /// What an entry of this map is to the value under its key.
    func child(_ member: Document.Member) -> Source? {
        guard let key = member.key, let value = value[key] else { return nil }
        func part(_ delta: Delta) -> Source {
            Source(document: document, node: member.node, value: value, delta: delta)
        }
        switch delta {
        case .keep: return part(.keep)
        case .map(let map):
            switch map[key] {
            case nil: return part(.keep)
            case .apply(let delta)?: return part(delta)
            case .remove?: return nil
            }
        default: return nil
        }
    }

    /// For each item of the list that is written: which item of this one it was.
    func items(count: Int) -> [(position: Int, source: Source)?] {
        guard case .list(let members) = node.content else { return [] }
        return places(members.count, count).map { place in
            place.map { ($0, item(at: $0, $1)) }
        }
    }

    /// The same, where an item also counts as the new one that came in its place: that one is laid out
    /// like it.
    ///
    /// - Parameter isNew: Whether an item comes from nowhere else.
    func items(
        replacedIn list: Value.List,
        isNew: (Value) -> Bool
    ) -> [(position: Int, source: Source)?] {
        guard let old = value.list else { return [] }
        var items = items(count: list.count)
        let left = Set(old.indices).subtracting(items.compactMap { $0?.position })
        var (start, position) = (0, 0)
        for end in 0...items.count {
            let next = end < items.count ? items[end]?.position : old.count
            guard let next else { continue }
            let gone = position..<max(position, next)
            if end - start == gone.count, left.isSuperset(of: gone) {
                for (place, position) in zip(start..<end, gone)
                where old[position].isContainer(like: list[place]) && isNew(list[place]) {
                    let delta = Delta.diff(old[position], list[place], inPieces: true)
                    items[place] = (position, item(at: position, delta))
                }
            }
            (start, position) = (end + 1, next + 1)
        }
        return items
    }

    private func item(at position: Int, _ delta: Delta) -> Source {
        Source(
            document: document,
            node: node.members[position].node,
            value: value.list?[position] ?? .null,
            delta: delta
        )
    }

    private func places(_ oldCount: Int, _ count: Int) -> [(Int, Delta)?] {
        switch delta {
        case .keep: (0..<oldCount).map { ($0, .keep) }
        case .list(let list): list.places(in: oldCount, resultCount: count)
        default: Array(repeating: nil, count: count)
        }
    }
}

extension Value {
    fileprivate func isContainer(like other: Value) -> Bool {
        map != nil && other.map != nil || list != nil && other.list != nil
    }
}

extension ListDelta {
    /// For each item of the result: its place in the base and its change, or nil if it is new.
    func places(in baseCount: Int, resultCount: Int) -> [(Int, Delta)?] {
        let parts = parts
        var edits: [Int: Delta] = [:]
        for edit in parts.edits { edits[edit.position] = edit.delta }
        var isGone = Array(repeating: false, count: baseCount)
        var isTaken = Array(repeating: false, count: resultCount)
        var places = [(Int, Delta)?](repeating: nil, count: resultCount)
        for position in parts.removes.joined() { isGone[position] = true }
        for insert in parts.inserts { isTaken[insert.position] = true }
        for move in parts.moves {
            for offset in 0..<move.count {
                let (source, target) = (move.source + offset, move.target + offset)
                isGone[source] = true
                isTaken[target] = true
                places[target] = (source, edits[source] ?? .keep)
            }
        }
        let stays = (0..<baseCount).filter { !isGone[$0] }
        for (target, source) in zip((0..<resultCount).filter { !isTaken[$0] }, stays) {
            places[target] = (source, edits[source] ?? .keep)
        }
        return places
    }
}
