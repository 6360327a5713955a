import GodwitTree

/// The parts of a document and of a change of it, by what they are.
final class SourcePool {
    private let document: Document
    private let change: Document?
    private lazy var containers = [document, change].compactMap { $0 }.map {
        Self.sources(in: $0, where: \.isContainer)
    }
    private lazy var scalars = [change, document].compactMap { $0 }.map {
        Self.sources(in: $0) { !$0.isContainer }
    }

    init(_ document: Document, _ change: Document?) {
        (self.document, self.change) = (document, change)
    }

    /// A place with this value; nil where the document or the change spells a scalar in several ways.
    ///
    /// It is a container of the document, or else of the change; a scalar of the change, or else of the
    /// document.
    func source(of value: Value) -> Source? {
        for sources in value.isContainer ? containers : scalars {
            if let source = sources[value.digest] { return source }
        }
        return nil
    }

    /// Whether a container stands in the document, or in the change with keys in an order that says
    /// something: sorted ones, as programs write them, do not.
    func isPlaced(_ value: Value) -> Bool {
        guard let source = source(of: value) else { return false }
        let isOwn = containers.first?[value.digest] != nil
        let keys = source.node.members.compactMap(\.key?.text)
        return isOwn || keys != keys.sorted()
    }

    private static func sources(
        in document: Document,
        where isWanted: (Value) -> Bool
    ) -> [ContentDigest: Source?] {
        var sources: [ContentDigest: Source?] = [:]
        var left = [(document.root, document.value)]
        while let (node, value) = left.popLast() {
            // The first ones are to be seen first.
            for (member, part) in zip(node.members, node.parts(of: value)).reversed() {
                left.append((member.node, part))
            }
            guard isWanted(value) else { continue }
            let source = Source(document: document, node: node, value: value, delta: .keep)
            switch sources[value.digest] {
            case nil: sources[value.digest] = .some(source)
            case let known??:
                if !value.isContainer, known.text != source.text {
                    sources[value.digest] = .some(nil)
                }
            case .some(nil): break
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
