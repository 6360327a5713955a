import GodwitTree

/// All containers of some documents, and the numbers and strings that a value spells, by what they are.
final class SourcePool {
    private let documents: [Document]
    private lazy var sources = Self.sources(in: documents)

    init(_ documents: [Document]) { self.documents = documents }

    /// The first place with this value; nil for any other scalar, which stands in many places.
    func source(of value: Value) -> Source? {
        Self.isKept(value) ? sources[value.digest] : nil
    }

    private static func isKept(_ value: Value) -> Bool {
        switch value {
        case .list(let items): !items.isEmpty
        case .map(let map): !map.isEmpty
        case .bytes: true
        case .null, .bool, .int, .double, .string: false
        }
    }

    private static func sources(in documents: [Document]) -> [Digest: Source] {
        var sources: [Digest: Source] = [:]
        for document in documents {
            var left = [(document.root, document.value)]
            while let (node, value) = left.popLast() {
                guard isKept(value) else { continue }
                if sources[value.digest] == nil {
                    sources[value.digest] = Source(document: document, node: node, delta: .keep)
                }
                // The first ones are to be seen first.
                for (member, part) in zip(node.members, node.parts(of: value)).reversed() {
                    left.append((member.node, part))
                }
            }
        }
        return sources
    }
}

extension Document.Node {
    /// The values of the members.
    fileprivate func parts(of value: Value) -> [Value] {
        members.enumerated().map { position, member in
            (member.key.map { value[$0] } ?? value.list?[position]) ?? .null
        }
    }
}
