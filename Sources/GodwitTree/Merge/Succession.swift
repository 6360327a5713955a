// Versions and dates only grow: of two that were set in one place, the greater is the later one,
// whichever side it comes from. People who merge by hand decide the same way.

/// A version of three numbers, or a date and time, that can be compared with another of its form.
enum Succession: Equatable {
    /// What stands before the numbers, the numbers, and what stands behind them.
    case version(prefix: String, numbers: [Int], suffix: String)
    /// As ISO 8601 writes it, which sorts as text.
    case date(String)

    init?(_ value: Value) {
        guard let text = value.text, text.utf8.count <= Self.sizeMaxInBytes else { return nil }
        if let date = text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+Z?)?/) {
            self = .date(String(date.output))
        } else if let match = text.wholeMatch(
            of: /(v|\^|~|>=|<=|=)?([0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9})([-+][0-9A-Za-z.+-]*)?/
        ) {
            self = .version(
                prefix: String(match.output.1 ?? ""),
                numbers: match.output.2.split(separator: ".").compactMap { Int($0) },
                suffix: String(match.output.3 ?? "")
            )
        } else {
            return nil
        }
    }

    private static let sizeMaxInBytes = 64

    /// Whether another comes after this one; nil when they cannot be compared.
    func isBefore(_ other: Succession) -> Bool? {
        switch (self, other) {
        case (.date(let left), .date(let right)) where left.utf8.count == right.utf8.count:
            return Key.isBefore(Key(left), Key(right))
        case (
            .version(let leftPrefix, let left, let leftSuffix),
            .version(let rightPrefix, let right, let rightSuffix)
        ) where leftPrefix == rightPrefix && left != right && leftSuffix == rightSuffix:
            return left.lexicographicallyPrecedes(right)
        default:
            return nil
        }
    }
}
