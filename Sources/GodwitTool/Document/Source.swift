import GodwitTree

/// A piece of a document that a value, or part of it, can be written with.
struct Source {
    let document: Document
    let node: Document.Node
    /// The change from what the node says to the value that is written.
    let delta: Delta

    /// A whole document, for a value that grew from it.
    init(_ document: Document, for value: Value, policy: MergePolicy = .standard) {
        self.init(
            document: document,
            node: document.root,
            delta: .diff(document.value, value, policy: policy, inPieces: true)
        )
    }

    init(document: Document, node: Document.Node, delta: Delta) {
        (self.document, self.node, self.delta) = (document, node, delta)
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
        guard let key = member.key else { return nil }
        switch delta {
        case .keep: return Source(document: document, node: member.node, delta: .keep)
        case .map(let map):
            switch map[key] {
            case nil: return Source(document: document, node: member.node, delta: .keep)
            case .apply(let delta)?:
                return Source(document: document, node: member.node, delta: delta)
            case .remove?: return nil
            }
        default: return nil
        }
    }

    /// For each item of the list that is written: which item of this one it was.
    func items(count: Int) -> [(position: Int, source: Source)?] {
        guard case .list(let members) = node.content else { return [] }
        return places(members.count, count).map { place in
            place.map { position, delta in
                let node = members[position].node
                return (position, Source(document: document, node: node, delta: delta))
            }
        }
    }

    private func places(_ oldCount: Int, _ count: Int) -> [(Int, Delta)?] {
        switch delta {
        case .keep: (0..<oldCount).map { ($0, .keep) }
        case .list(let list): list.places(in: oldCount, resultCount: count)
        default: Array(repeating: nil, count: count)
        }
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
