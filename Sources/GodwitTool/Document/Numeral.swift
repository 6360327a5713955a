import GodwitTree

/// A number as JSON spells it.
///
/// JSON bounds neither the size nor the precision of a number; a ``Value`` holds ints of 64 bits
/// and doubles. A number that neither holds exactly stands in the value as a byte string that spells
/// it: JSON has no byte strings, so nothing else looks like it, and a merge takes it whole.
struct Numeral {
    private let text: String

    init(_ text: String) { self.text = text }

    /// Reads back what ``value`` has made.
    init?(_ bytes: [UInt8]) {
        guard let first = bytes.first, first == UInt8(ascii: "-") || Self.isDigit(first),
            bytes.allSatisfy({ Self.isDigit($0) || "+-.eE".utf8.contains($0) })
        else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    var spelling: String { text }

    /// How many digits the number has, without zeros at either end.
    var digitCount: Int { Self.normalForm(text).prefix { $0 != "e" }.count(where: \.isNumber) }

    /// As many digits tell every double from all others.
    static let doubleDigitsMax = 17

    /// The number as a value: two numerals of one kind and size have equal values.
    var value: Value {
        if text.utf8.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: "-") }) {
            return Int64(text).map(Value.int) ?? .bytes(Array(text.utf8))
        }
        guard let double = Double(text), let finite = Finite(double) else {
            return .bytes(Array(Self.normalForm(text).utf8))
        }
        let description = finite.double.description
        if text == description || Self.normalForm(text) == Self.normalForm(description) {
            return .double(finite)
        }
        return .bytes(Array(Self.normalForm(text).utf8))
    }

    /// The digits without zeros at either end, and a power of ten: `12.50` is `125e-1`.
    private static func normalForm(_ text: String) -> String {
        let parts = text.split(maxSplits: 1) { $0 == "e" || $0 == "E" }
        guard let exponent = parts.count == 2 ? Int(parts[1]) : 0, exponent.magnitude < 1 << 32
        else { return text }
        let mantissa = parts[0].split(separator: ".")
        let fraction = mantissa.count == 2 ? mantissa[1].count : 0
        let digits = mantissa.joined().drop { $0 == "-" || $0 == "0" }
        let zeros = digits.reversed().prefix { $0 == "0" }.count
        guard digits.count > zeros else { return "0e0" }
        let sign = text.first == "-" ? "-" : ""
        return "\(sign)\(digits.dropLast(zeros))e\(exponent - fraction + zeros)"
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
