/// A part of an index.
struct IndexBounds: Hashable, Sendable {
    /// The version of the type whose fields the values are.
    let version: Int
    let prefix: [IndexedValue]
    let lower: IndexedValue?
    let upper: IndexedValue?
    let order: Order
    var limit: Int?

    /// Whether an object with these values belongs to the part, the limit left aside.
    func contains(_ values: [IndexedValue]) -> Bool {
        // By order and not by `==`: for SQLite, 1 and 1.0 are the same.
        guard zip(values, prefix).allSatisfy({ !($0 < $1) && !($1 < $0) }) else { return false }
        guard prefix.count < values.count else { return true }
        let value = values[prefix.count]
        return lower.map { value >= $0 } ?? true && upper.map { value < $0 } ?? true
    }
}
