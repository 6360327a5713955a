/// A place in a cloud that addresses things by path.
///
/// Paths are equal if their bytes are: a cloud may tell the two spellings of "é" apart.
public struct RemotePath: Hashable, Sendable {
    /// A slash before each component, or a slash alone.
    private let text: String

    /// Reads `/foo/bar`; empty components do not count.
    public init(_ text: String) {
        var last = UInt8(0)
        let isNormal =
            text.utf8.first == UInt8(ascii: "/")
            && text.utf8.allSatisfy { byte in
                defer { last = byte }
                return byte != UInt8(ascii: "/") || last != byte
            }
        let isCanonical = isNormal && (last != UInt8(ascii: "/") || text.utf8.count == 1)
        self.text = isCanonical ? text : "/" + Self.components(of: text).joined(separator: "/")
    }

    /// - Parameter components: One that has a slash in it counts as several.
    public init(components: [String]) { self.init("/" + components.joined(separator: "/")) }

    public var components: [String] { Self.components(of: text) }

    private static func components(of text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    public var isRoot: Bool { text.utf8.count == 1 }

    /// The folder that it lies in; the root lies in itself.
    public var parent: RemotePath {
        let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) ?? text.startIndex
        return RemotePath(slash == text.startIndex ? "/" : String(text[..<slash]))
    }

    /// The folders that it lies in, from the nearest to the root.
    public var ancestors: [RemotePath] {
        var (ancestors, folder) = ([RemotePath](), self)
        while !folder.isRoot {
            folder = folder.parent
            ancestors.append(folder)
        }
        return ancestors
    }
}

extension RemotePath {
    public static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}

extension Hasher {
    /// A text by its bytes, and not by Swift's canonical equivalence.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        combine(text.utf8.count)
    }
}

extension RemotePath: CustomStringConvertible, ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }

    public var description: String { text }
}
