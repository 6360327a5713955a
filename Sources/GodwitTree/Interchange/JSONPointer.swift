/// The way to a part of a document, as JSON Pointer (RFC 6901) writes it.
///
/// ```swift
/// let pointer = try JSONPointer("/items/0/a~1b")  // items, 0, a/b
/// ```
///
/// Whether `0` is the key of a map or an index is decided by the document.
public struct JSONPointer: Hashable, Sendable {
    /// The steps from the root, without escapes.
    public var tokens: [Key]

    public init(tokens: [Key] = []) { self.tokens = tokens }

    /// Reads a pointer: empty for the root, else each step behind a `/`.
    ///
    /// - Throws: ``TreeError/malformed(format:offset:reason:)``.
    public init(_ text: String) throws(TreeError) {
        try self.init(Key(text))
    }

    init(_ key: Key) throws(TreeError) {
        let bytes = Array(key.text.utf8)
        var tokens: [[UInt8]] = []
        var offset = 0
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "/"):
                tokens.append([])
            case _ where tokens.isEmpty:
                throw Self.fault("a pointer begins with /", at: offset)
            case UInt8(ascii: "~"):
                offset += 1
                guard offset < bytes.count, let byte = Self.unescaped(bytes[offset]) else {
                    throw Self.fault("behind ~ stands 0 or 1", at: offset - 1)
                }
                tokens[tokens.count - 1].append(byte)
            default:
                tokens[tokens.count - 1].append(bytes[offset])
            }
            offset += 1
        }
        self.tokens = tokens.map { Key(String(decoding: $0, as: UTF8.self)) }
    }

    private static func unescaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0"): UInt8(ascii: "~")
        case UInt8(ascii: "1"): UInt8(ascii: "/")
        default: nil
        }
    }

    private static func fault(_ reason: String, at offset: Int) -> TreeError {
        .malformed(format: .pointer, offset: offset, reason: reason)
    }
}

extension JSONPointer: CustomStringConvertible {
    /// The pointer as RFC 6901 writes it; ``init(_:)-(String)`` reads it back.
    public var description: String { tokens.map { "/" + $0.pointerToken }.joined() }
}

extension JSONPointer {
    func appending(_ token: Key) -> JSONPointer { JSONPointer(tokens: tokens + [token]) }
    func appending(_ index: Int) -> JSONPointer { appending(Key(String(index))) }

    /// Whether the other pointer leads to a part of what this one leads to, and not to itself.
    func isAbove(_ other: JSONPointer) -> Bool {
        tokens.count < other.tokens.count && other.tokens.starts(with: tokens)
    }
}

extension Key {
    /// The key as a step of a pointer, with its `~` and `/` escaped.
    var pointerToken: String {
        text.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The index that this step of a pointer stands for: digits without a zero before them.
    var index: Int? {
        let digits = text.utf8
        guard let first = digits.first, digits.count == 1 || first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }
}
