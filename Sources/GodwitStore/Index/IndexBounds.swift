/// A part of an index.
struct IndexBounds: Hashable, Sendable {
    /// The version of the type whose fields the values are.
    let version: Int
    let prefix: [IndexedValue]
    /// The values of the field after the prefix.
    var range = IndexedRange.all
    var order = SortDirection.ascending
    var limit: Int?

    /// Whether an object with these values belongs to the part, the limit left aside.
    func contains(_ values: [IndexedValue]) -> Bool {
        // By order and not by `==`: for SQLite, 1 and 1.0 are the same.
        guard zip(values, prefix).allSatisfy({ !($0 < $1) && !($1 < $0) }) else { return false }
        return prefix.count == values.count || range.contains(values[prefix.count])
    }
}
