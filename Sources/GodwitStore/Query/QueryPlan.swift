/// How a query is answered: from parts of indexes, or from all objects.
struct QueryPlan: Hashable, Sendable {
    struct Part: Hashable, Sendable {
        let index: StoreIndex
        let bounds: IndexBounds
    }

    /// nil: every object is looked at.
    private(set) var parts: [Part]?
    /// Whether each entry of the parts belongs to the result, without a look at its object.
    private(set) var isExact = false
    /// Whether the entries come in the order of the result.
    private(set) var isSorted = false

    /// - Parameters:
    ///   - version: The version of the type whose fields the search names.
    ///   - indexes: The indexes over the fields of that version.
    init(_ search: Search, version: Int, indexes: [StoreIndex]) {
        // A walk over all objects goes by key.
        isSorted = search.order.isEmpty
        guard let terms = search.criterion.terms, !indexes.isEmpty else { return }
        var uses: [Use] = []
        for term in terms {
            let mayBeSorted = terms.count == 1
            let best = indexes.map { Use($0, term, mayBeSorted ? search : nil) }
                .max { $0.worth < $1.worth }
            guard let best, best.worth > 0 else { return }
            uses.append(best)
        }
        isExact = uses.allSatisfy(\.isExact)
        isSorted = uses.count == 1 && uses[0].isSorted
        let limit = isExact && isSorted ? search.limit : nil
        let order = isSorted ? search.keyOrder : .ascending
        parts = uses.map { $0.part(version: version, order: order, limit: limit) }
    }
}

/// What an index can do for a term.
private struct Use {
    let index: StoreIndex
    /// What the index's first fields are.
    let prefix: [IndexedValue]
    /// The range of the field after those.
    let range: IndexedRange?
    let isExact: Bool
    let isSorted: Bool

    /// - Parameter search: What is sorted; nil if the entries are sorted afterwards.
    init(_ index: StoreIndex, _ term: Criterion.Term, _ search: Search?) {
        let prefix = index.fields.prefix { term.ranges[$0]?.onlyValue != nil }
        let rest = index.fields.dropFirst(prefix.count)
        self.index = index
        self.prefix = prefix.compactMap { term.ranges[$0]?.onlyValue }
        range = rest.first.flatMap { term.ranges[$0] }
        isExact = !term.isWider && term.ranges.count == prefix.count + (range == nil ? 0 : 1)
        // Objects that are equal in all fields of the order have to come by key.
        let order = search?.order.filter { !prefix.contains($0.field) }
        isSorted =
            order?.map(\.field) == Array(rest)
            && order?.allSatisfy { $0.order == search?.keyOrder } == true
    }

    /// Fixed fields narrow most, then a range, then an order that need not be made.
    var worth: Int { 4 * prefix.count + (range == nil ? 0 : 2) + (isSorted ? 1 : 0) }

    func part(version: Int, order: SortDirection, limit: Int?) -> QueryPlan.Part {
        let bounds = IndexBounds(
            version: version,
            prefix: prefix,
            range: range ?? .all,
            order: order,
            limit: limit
        )
        return QueryPlan.Part(index: index, bounds: bounds)
    }
}
