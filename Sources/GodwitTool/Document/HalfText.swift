import GodwitTree

/// A string with half of a surrogate pair, as JSON spells it.
///
/// Programs that count in UTF-16 write such strings where they cut a character in two: `"\ud83d"`.
/// No UTF-8 text has one, so no string of a ``Value`` does. Like a number that a value cannot hold
/// (``Numeral``), it stands in the value as a byte string that spells it, and a merge takes it
/// whole.
struct HalfText {
    /// In one spelling for all: equal strings have equal values.
    private let literal: [UInt8]

    var value: Value { .bytes(literal) }

    var spelling: [UInt8] { literal }

    /// Reads back what ``value`` has made.
    init?(_ bytes: [UInt8]) {
        guard bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\""),
            Self.firstHalf(in: bytes[...]) != nil
        else { return nil }
        literal = bytes
    }

    /// Reads a string in quotes; nil for one without half a pair, or that is malformed otherwise.
    init?(spelt text: ArraySlice<UInt8>) {
        guard text.count > 1, text.last == UInt8(ascii: "\"") else { return nil }
        var rest = text.dropFirst().dropLast()
        var literal = [UInt8(ascii: "\"")]
        while let half = Self.firstHalf(in: rest) {
            guard let plain = Self.normalForm(rest[..<half.lowerBound]) else { return nil }
            literal += plain
            literal += String(decoding: rest[half], as: UTF8.self).lowercased().utf8
            rest = rest[half.upperBound...]
        }
        guard literal.count > 1, let plain = Self.normalForm(rest) else { return nil }
        self.literal = literal + plain + [UInt8(ascii: "\"")]
    }

    /// The escape of the first half that has no other half behind it.
    private static func firstHalf(in text: ArraySlice<UInt8>) -> Range<Int>? {
        var place = text.startIndex
        while place < text.endIndex {
            guard text[place] == UInt8(ascii: "\\") else {
                place += 1
                continue
            }
            guard let unit = unit(at: place, in: text) else {
                place += 2
                continue
            }
            let next = Self.unit(at: place + escapeSize, in: text)
            let isPair = UTF16.isLeadSurrogate(unit) && next.map(UTF16.isTrailSurrogate) == true
            if !isPair, UTF16.isSurrogate(unit) { return place..<(place + escapeSize) }
            place += isPair ? 2 * escapeSize : escapeSize
        }
        return nil
    }

    /// The code unit of an escape such as `\ud83d`.
    private static func unit(at place: Int, in text: ArraySlice<UInt8>) -> UInt16? {
        guard place + escapeSize <= text.endIndex,
            text[place...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")])
        else { return nil }
        let digits = text[(place + 2)..<(place + escapeSize)]
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static let escapeSize = 6

    /// What stands between halves, spelt without escapes where that is possible.
    private static func normalForm(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let quote = [UInt8(ascii: "\"")]
        guard case .string(let key)? = try? Value(json: quote + text + quote) else { return nil }
        return Layout.Spelling().quoted(key.text).dropFirst().dropLast()
    }
}
