public import GodwitTree

/// Some objects of a collection, in the order of an index.
///
/// ```swift
/// let online = Query(contacts, by: byPresence, equal: ["online"])
/// let newest = Query(messages, by: byDate, order: .descending, limit: 20)
/// let spring = Query(messages, by: byDate, from: 20260301, to: 20260601)
///
/// let list = try await store.read { try $0.objects(online) }
/// ```
///
/// A query is a value: keep it, compare it, observe it (``Store/values(of:)``).
public struct Query<Object: Codable & Sendable>: Sendable {
    public let collection: StoreCollection<Object>
    public let index: Index
    let bounds: IndexBounds

    /// - Parameters:
    ///   - equal: What the index's first fields must be.
    ///   - lower: The least value of the field after those; included.
    ///   - upper: Where that field's values end; not included.
    ///   - limit: No more objects than that.
    public init(
        _ collection: StoreCollection<Object>,
        by index: Index,
        equal: [Value] = [],
        from lower: Value? = nil,
        to upper: Value? = nil,
        order: Order = .ascending,
        limit: Int? = nil
    ) {
        precondition(equal.count <= index.fields.count, "There are more values than fields")
        self.collection = collection
        self.index = index
        bounds = IndexBounds(
            version: collection.version,
            prefix: equal.map { IndexedValue($0) },
            lower: lower.map { IndexedValue($0) },
            upper: upper.map { IndexedValue($0) },
            order: order,
            limit: limit
        )
    }
}

extension ObjectReader where Self: ~Copyable {
    /// The objects that a query finds, in its order, each with its key.
    ///
    /// An object that cannot be read is left out, and named in ``QueryRows/unreadable``.
    ///
    /// - Throws: ``StoreError/noIndex(_:collection:)`` when the collection has no such index,
    ///   ``StoreError/newerIndex(_:collection:found:known:)`` when a newer app has built it.
    /// - Complexity: O(log *n* + *k*) for *k* objects.
    public borrowing func objects<Object>(
        _ query: Query<Object>
    ) throws -> QueryRows<Object> {
        var rows = QueryRows<Object>()
        for key in try keys(query) {
            let place = query.collection.place(key)
            do {
                guard let stored = try source.objects.object(at: place) else { continue }
                rows.append(key, try stored.object(at: place, in: query.collection))
            } catch let error as StoreError where error.isOfOneObject {
                rows.leaveOut(key, because: error)
            }
        }
        return rows
    }

    /// The keys of the objects that a query finds, in its order.
    public borrowing func keys<Object>(_ query: Query<Object>) throws -> [String] {
        var keys: [String] = []
        try source.objects.forEachKey(of: query.collection.name, by: query.index, query.bounds) {
            keys.append($0)
            return true
        }
        return keys
    }

    /// How many objects a query finds.
    public borrowing func count<Object>(_ query: Query<Object>) throws -> Int {
        var count = 0
        try source.objects.forEachKey(of: query.collection.name, by: query.index, query.bounds) {
            _ in
            count += 1
            return true
        }
        return count
    }
}
