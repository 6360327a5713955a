// Looks at a property list in XML before Foundation does.
//
// Foundation's reader calls itself for each tag within a tag: a list that nests without end takes the
// whole stack, and stops the program. So the tags are counted first:
//
//   (1) Comments, CDATA and instructions are skipped to their ends; what stands in them is no tag.
//   (2) A tag ends at the first ">". Readers differ on what a "<", or a ">" in quotes, means within a
//       tag: no property list has them, and such a one is refused.
//   (3) Foundation sees the same tags: other encodings than UTF-8, and lists that declare entities,
//       are refused.

/// How deep the tags of a property list in XML lie in each other.
struct XMLNesting {
    static let depthMax = 512

    private let bytes: [UInt8]
    private var place = 0
    private var depth = 0

    /// - Throws: ``YapDatabaseError/unreadableData(reason:)`` for a list that Foundation must not see.
    static func check(_ bytes: [UInt8]) throws(YapDatabaseError) {
        guard !bytes.contains(0) else { throw refused("is not in UTF-8") }
        var nesting = XMLNesting(bytes)
        while let start = nesting.next("<") { try nesting.tag(at: start) }
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private static func refused(_ reason: String) -> YapDatabaseError {
        .unreadableData(reason: "the property list in XML \(reason)")
    }

    private mutating func tag(at start: Int) throws(YapDatabaseError) {
        if begins("!--", at: place) {
            try skip(past: "-->", from: place + 3)
        } else if begins("![CDATA[", at: place) {
            try skip(past: "]]>", from: place + 8)
        } else if begins("?", at: place) {
            try skip(past: "?>", from: place + 1)
            try Self.checkEncoding(bytes[start..<place])
        } else {
            let end = try endOfTag()
            defer { place = end + 1 }
            if begins("!", at: place) {
                guard !bytes[place..<end].contains(UInt8(ascii: "[")) else {
                    throw Self.refused("declares entities")
                }
            } else if begins("/", at: place) {
                depth = max(0, depth - 1)
            } else if bytes[end - 1] != UInt8(ascii: "/") {
                depth += 1
                guard depth <= Self.depthMax else {
                    throw Self.refused("nests deeper than \(Self.depthMax) tags")
                }
            }
        }
    }

    /// Lists of Foundation's say "UTF-8".
    private static func checkEncoding(_ instruction: ArraySlice<UInt8>) throws(YapDatabaseError) {
        let text = String(decoding: instruction, as: UTF8.self).lowercased()
        guard !text.contains("encoding") || text.contains("utf-8") || text.contains("us-ascii")
        else { throw refused("is not in UTF-8") }
    }

    /// The place of the next such byte; what comes after it is next then.
    private mutating func next(_ byte: Unicode.Scalar) -> Int? {
        guard place < bytes.count, let found = bytes[place...].firstIndex(of: UInt8(ascii: byte))
        else { return nil }
        place = found + 1
        return found
    }

    private func begins(_ text: StaticString, at start: Int) -> Bool {
        let text = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return start <= bytes.count && bytes[start...].starts(with: text)
    }

    private mutating func skip(
        past end: StaticString,
        from start: Int
    ) throws(YapDatabaseError) {
        var index = start
        while index < bytes.count {
            if begins(end, at: index) {
                place = index + end.utf8CodeUnitCount
                return
            }
            index += 1
        }
        throw Self.refused("ends within a tag")
    }

    private func endOfTag() throws(YapDatabaseError) -> Int {
        var quote: UInt8?
        for index in place..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "<"): throw Self.refused("has a tag within a tag")
            case UInt8(ascii: ">"):
                guard quote == nil else { throw Self.refused("has a tag that ends in quotes") }
                return index
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let byte = bytes[index]
                quote = quote == nil ? byte : quote == byte ? nil : quote
            default: break
            }
        }
        throw Self.refused("ends within a tag")
    }
}
