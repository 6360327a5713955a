internal import Foundation
internal import GodwitTree

// A decimal is one scalar, exactly: an int if it is one of 64 bits, a double if the shortest digits
// of that double are the decimal's own, else its digits as a string. So JSON of a cloud has numbers
// where it can, an index sorts them as numbers, and a merge never takes a decimal apart.

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
        case .string(let key) where key.text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) != nil:
            Decimal(string: key.text)
        default: nil
        }
    }
}
