/// Some of the keys of a collection, in the order of their UTF-8 bytes.
///
/// ```swift
/// let year = try transaction.keys(in: notes, range: .prefix("2026-"))
/// let half = try transaction.keys(in: notes, range: KeyRange(from: "a", to: "n"))
/// ```
public struct KeyRange: Hashable, Sendable {
    /// The least key, which belongs to the range; nil for no lower end.
    public let lower: String?
    /// The key where the range ends, and which does not belong to it; nil for no upper end.
    public let upper: String?

    public init(from lower: String? = nil, to upper: String? = nil) {
        self.lower = lower
        self.upper = upper
    }

    public static let all = KeyRange()

    /// All keys that begin with `text`.
    public static func prefix(_ text: String) -> KeyRange {
        KeyRange(from: text, to: successor(of: text))
    }

    public func contains(_ key: String) -> Bool {
        let isAbove = lower.map { !key.utf8.lexicographicallyPrecedes($0.utf8) } ?? true
        let isBelow = upper.map { key.utf8.lexicographicallyPrecedes($0.utf8) } ?? true
        return isAbove && isBelow
    }

    /// The first text after all that begin with `text`; nil when there is none.
    private static func successor(of text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.popLast() {
            // UTF-8 sorts as code points do; the surrogates between are no scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            if let scalar = Unicode.Scalar(next) {
                scalars.append(scalar)
                return String(String.UnicodeScalarView(scalars))
            }
        }
        return nil
    }
}

/// The direction in which keys, or the rows of a query, are walked.
public enum SortDirection: Hashable, Sendable {
    case ascending, descending
}
