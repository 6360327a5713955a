internal import Foundation
internal import GodwitTree

// A decimal is one scalar, exactly: an int if it is one of 64 bits, a double if the shortest digits
// of that double are the decimal's own, else its digits as a string. So JSON of a cloud has numbers
// where it can, and a merge never takes a decimal apart. An index sorts the numbers; a decimal of more
// than 17 digits, such as a third, is a string there, and comes after all of them.

extension Value {
    /// Returns nil for a decimal that is no number.
    init?(_ decimal: Decimal) {
        guard !decimal.isNaN else { return nil }
        let digits = decimal.description
        if let int = Int64(digits) {
            self = .int(int)
        } else if let finite = Double(digits).flatMap(Finite.init),
            Decimal(string: finite.double.description) == decimal
        {
            self = .double(finite)
        } else {
            self = .string(Key(digits))
        }
    }

    /// The decimal that a number is, or that a string has the digits of; nil for other values.
    var decimal: Decimal? {
        switch self {
        case .int(let int): Decimal(int)
        case .double(let finite): Decimal(string: finite.double.description)
        case .string(let key): Decimal(exactly: key.text)
        default: nil
        }
    }
}

extension Decimal {
    /// Returns nil for a text that is no number, has an exponent, or has more digits than fit.
    fileprivate init?(exactly text: String) {
        guard text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) != nil,
            let decimal = Decimal(string: text),
            Self.digits(of: decimal.description) == Self.digits(of: text)
        else { return nil }
        self = decimal
    }

    /// The digits of a number, without those that say nothing.
    private static func digits(of text: String) -> Substring {
        var digits = text.drop { "-0".contains($0) }
        if digits.contains(".") {
            while digits.last == "0" { digits.removeLast() }
            if digits.last == "." { digits.removeLast() }
        }
        return digits
    }
}
