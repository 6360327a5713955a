/// What a query looks for, whatever the type of the objects.
struct Search: Hashable, Sendable {
    var criterion = Criterion.everything
    /// By what the objects are sorted: by the first field, then by the next one.
    var order: [SortField] = []
    var limit: Int?

    /// In which direction objects that are equal in all fields of ``order`` are sorted by key.
    var keyOrder: SortDirection { order.last?.order ?? .ascending }
}

/// A field by which objects are sorted.
struct SortField: Hashable, Sendable {
    let field: Field
    let order: SortDirection
}

/// An object's key with the values by which it is sorted.
struct SortedKey {
    let key: String
    let values: [IndexedValue]

    func precedes(_ other: SortedKey, in search: Search) -> Bool {
        for (place, field) in search.order.enumerated() {
            let (value, otherValue) = (values[place], other.values[place])
            if value < otherValue { return field.order == .ascending }
            if otherValue < value { return field.order == .descending }
        }
        return search.keyOrder == .ascending
            ? key.utf8.lexicographicallyPrecedes(other.key.utf8)
            : other.key.utf8.lexicographicallyPrecedes(key.utf8)
    }
}
