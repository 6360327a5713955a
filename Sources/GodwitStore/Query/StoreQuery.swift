public import GodwitTree

/// Some objects of a collection, in an order.
///
/// ```swift
/// let online = contacts.where(\.isOnline, .equal(true)).order(by: \.name)
/// let newest = messages.order(by: \.date, .descending).limit(20)
/// let spring = messages.where(\.date, .between(march..<june))
///
/// let list = try await store.read { try $0.objects(online) }
/// for try await list in store.values(of: online) { show(list) }
/// ```
///
/// The store answers from an ``StoreIndex`` whose first fields the query compares, if the collection has one;
/// else it looks at every object (the metric `godwit.store.scans` counts that). Rows that are equal in
/// all that a query sorts by are in the order of their keys.
public struct StoreQuery<Object: Codable & Sendable>: Sendable {
    public let collection: StoreCollection<Object>
    private(set) var search = Search()
    private(set) var fields = FieldChecks<Object>()
    /// The index that has to answer; nil for any, or none.
    private(set) var index: StoreIndex?

    init(_ collection: StoreCollection<Object>) { self.collection = collection }

    /// A part of an index, by plain values.
    ///
    /// - Parameters:
    ///   - collection: The collection that the objects are in.
    ///   - index: The index that answers: reading throws ``StoreError/noIndex(_:collection:)`` if the
    ///     collection does not have it. Where an order that is added, or more than 1,024 alternatives, ask
    ///     for a look at every object, no index answers.
    ///   - equal: What the index's first fields must be.
    ///   - lower: The least value of the field after those; included.
    ///   - upper: Where that field's values end; not included.
    ///   - order: The direction of the index's order.
    ///   - limit: No more objects than that.
    public init(
        _ collection: StoreCollection<Object>,
        by index: StoreIndex,
        equal: [Value] = [],
        from lower: Value? = nil,
        to upper: Value? = nil,
        order: SortDirection = .ascending,
        limit: Int? = nil
    ) {
        precondition(index.kind == .ordered, "\(index.name) has words; see matching(_:by:)")
        precondition(equal.count <= index.fields.count, "There are more values than fields")
        self.collection = collection
        self.index = index
        var criteria = zip(index.fields, equal).map { field, value in
            Criterion.field(field, [IndexedRange(IndexedValue(value))])
        }
        if equal.count < index.fields.count, lower != nil || upper != nil {
            let end = { IndexedRange.End(value: IndexedValue($0), isIncluded: $1) }
            let range = IndexedRange(
                lower: lower.map { end($0, true) },
                upper: upper.map { end($0, false) }
            )
            criteria.append(.field(index.fields[equal.count], [range]))
        }
        search.criterion = .all(criteria)
        search.order = index.fields.map { SortField(field: $0, order: order) }
        search.limit = limit
    }
}

extension StoreQuery {
    /// The objects that also pass a test.
    public func `where`(_ filter: Filter<Object>) -> StoreQuery {
        var query = self
        query.search.criterion = search.criterion.and(filter.criterion)
        query.fields = fields + filter.fields
        return query
    }

    /// The objects of which a property also passes a test.
    public func `where`<Property: Encodable & Sendable>(
        _ path: any KeyPath<Object, Property> & Sendable,
        _ test: FieldTest<Property>
    ) -> StoreQuery {
        self.where(Filter(path, test))
    }

    /// The objects of which an optional property also passes a test.
    public func `where`<Property: Encodable & Sendable>(
        _ path: any KeyPath<Object, Property?> & Sendable,
        _ test: FieldTest<Property>
    ) -> StoreQuery {
        self.where(Filter(path, test))
    }

    /// The objects sorted by a property, and by what they were sorted by before where that is equal.
    ///
    /// ```swift
    /// contacts.order(by: \.city).order(by: \.born, .descending)   // by city, then by date
    /// ```
    public func order<Property: Encodable & Sendable>(
        by path: any KeyPath<Object, Property> & Sendable,
        _ order: SortDirection = .ascending
    ) -> StoreQuery {
        let field = Field(named: path)
        var query = self.order(by: field ?? Field(), order)
        query.fields = fields + FieldChecks(path, named: field)
        return query
    }

    /// The objects sorted by a field that the type stores under this name.
    public func order(by field: Field, _ order: SortDirection = .ascending) -> StoreQuery {
        var query = self
        query.search.order.append(SortField(field: field, order: order))
        return query
    }

    /// Two of these may be added.
    private static var limitMax: Int { 1 << 40 }

    /// The first objects, and no more of them.
    public func limit(_ count: Int) -> StoreQuery {
        var query = self
        query.search.limit = min(max(count, 0), search.limit ?? Self.limitMax, Self.limitMax)
        return query
    }
}

extension StoreQuery {
    /// Asks for twice as many objects.
    mutating func widenLimit() { search.limit = search.limit.map { 2 * max($0, 1) } }
}

extension StoreCollection {
    /// All objects, by key: where a query begins.
    public var all: StoreQuery<Object> { StoreQuery(self) }

    /// The objects that pass a test.
    public func `where`(_ filter: Filter<Object>) -> StoreQuery<Object> { all.where(filter) }

    /// The objects of which a property passes a test.
    public func `where`<Property: Encodable & Sendable>(
        _ path: any KeyPath<Object, Property> & Sendable,
        _ test: FieldTest<Property>
    ) -> StoreQuery<Object> {
        all.where(path, test)
    }

    /// The objects of which an optional property passes a test.
    public func `where`<Property: Encodable & Sendable>(
        _ path: any KeyPath<Object, Property?> & Sendable,
        _ test: FieldTest<Property>
    ) -> StoreQuery<Object> {
        all.where(path, test)
    }

    /// All objects sorted by a property.
    public func order<Property: Encodable & Sendable>(
        by path: any KeyPath<Object, Property> & Sendable,
        _ order: SortDirection = .ascending
    ) -> StoreQuery<Object> {
        all.order(by: path, order)
    }
}
