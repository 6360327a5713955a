/// A place in a cloud that addresses things by path.
public struct RemotePath: Hashable, Sendable {
    public let components: [String]

    /// Reads `/foo/bar`; empty components do not count.
    public init(_ text: String) {
        components = text.split(separator: "/").map(String.init)
    }

    public init(components: [String]) { self.components = components }

    public var isRoot: Bool { components.isEmpty }

    /// The folder that it lies in; the root lies in itself.
    public var parent: RemotePath { RemotePath(components: components.dropLast()) }

    /// The folders that it lies in, from the nearest to the root.
    public var ancestors: [RemotePath] {
        components.indices.reversed().map { RemotePath(components: Array(components[..<$0])) }
    }
}

extension RemotePath: CustomStringConvertible, ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }

    public var description: String { "/" + components.joined(separator: "/") }
}
