/// A string that is compared, hashed and ordered by its UTF-8 bytes.
///
/// Swift's own `==` holds "é" and "e\u{301}" for equal. Two peers that fold such keys, or hash
/// them differently, never agree on a state again; so every string of a ``Value`` is a `Key`.
///
/// ```swift
/// Key("\u{e9}") == Key("e\u{301}")  // false
/// ```
///
/// The order is that of the canonical encoding: shorter first, then byte by byte.
public struct Key: Sendable {
    public let text: String

    public init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        self.text = text
    }
}

extension Key: Hashable {
    public static func == (left: Key, right: Key) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count else { return false }
        return left.withBytes { leftBytes in
            right.withBytes { leftBytes.elementsEqual($0) }
        }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xff as UInt8)
    }
}

extension Key: Comparable {
    public static func < (left: Key, right: Key) -> Bool {
        left.order(to: right) < 0
    }

    /// Less than zero if this key comes before the other, zero if it is the same.
    func order(to other: Key) -> Int {
        let (count, otherCount) = (text.utf8.count, other.text.utf8.count)
        guard count == otherCount else { return count - otherCount }
        return withBytes { bytes in
            other.withBytes { otherBytes in
                for index in 0..<count where bytes[index] != otherBytes[index] {
                    return Int(bytes[index]) - Int(otherBytes[index])
                }
                return 0
            }
        }
    }

    /// The order in which people look for words: byte by byte, a prefix first.
    package static func isBefore(_ left: Key, _ right: Key) -> Bool {
        left.withBytes { leftBytes in
            right.withBytes { leftBytes.lexicographicallyPrecedes($0) }
        }
    }
}

extension Key: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) { self.init(value) }
    public var description: String { text }
}

extension Key {
    /// Lends the UTF-8 bytes, without copying what is already contiguous.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        return Array(text.utf8).withUnsafeBufferPointer(body)
    }
}

extension Key {
    var isEmpty: Bool { text.utf8.isEmpty }
    var sizeInBytes: Int { text.utf8.count }

    /// Strings put together, byte by byte.
    init(joining pieces: [Key]) {
        var text = ""
        text.reserveCapacity(pieces.reduce(0) { $0 + $1.sizeInBytes })
        for piece in pieces { text += piece.text }
        self.init(text)
    }

    /// Whether an offset in bytes is between Unicode scalars.
    func isBoundary(_ offset: Int) -> Bool {
        let utf8 = text.utf8
        guard offset < utf8.count else { return true }
        return utf8[utf8.index(utf8.startIndex, offsetBy: offset)] & 0xc0 != 0x80
    }

    /// Some of the bytes.
    ///
    /// - Throws: ``TreeError/wrongBase(path:reason:)`` when that would cut a Unicode scalar.
    func piece(_ range: Range<Int>) throws(TreeError) -> Key {
        if range.count == sizeInBytes { return self }
        for offset in [range.lowerBound, range.upperBound] where !isBoundary(offset) {
            throw .wrongBase(path: ValuePath(), reason: "byte \(offset) is within a character")
        }
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        return Key(String(text[start..<utf8.index(start, offsetBy: range.count)]))
    }
}
