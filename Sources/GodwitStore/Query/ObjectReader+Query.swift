extension ObjectReader where Self: ~Copyable {
    /// The objects that a query finds, in its order, each with its key.
    ///
    /// An object that cannot be read is left out, and named in ``QueryRows/unreadable``.
    ///
    /// - Throws: ``StoreError/unusableField(_:reason:)``. For a query that names its index,
    ///   ``StoreError/noIndex(_:collection:)`` if the collection has no such index, and
    ///   ``StoreError/newerIndex(_:collection:found:known:)`` if a newer app has built it.
    /// - Complexity: O(log *n* + *k*) for *k* objects by an index, else O(*n*).
    public borrowing func objects<Object>(
        _ query: StoreQuery<Object>
    ) throws -> QueryRows<Object> {
        try markedObjects(query).rows
    }

    /// The objects that a query finds, and the commits that have last changed them.
    borrowing func markedObjects<Object>(
        _ query: StoreQuery<Object>
    ) throws -> MarkedRows<Object> {
        var wider = query
        while true {
            let found = try QueryRun(wider, source.objects).objects()
            let rows = try marked(found, of: query)
            // Objects that cannot be read take no place of others.
            guard let limit = query.search.limit, let width = wider.search.limit,
                found.count == width, rows.rows.count < limit
            else { return rows }
            wider.widenLimit()
        }
    }

    private borrowing func marked<Object>(
        _ found: [FoundObject],
        of query: StoreQuery<Object>
    ) throws -> MarkedRows<Object> {
        var (rows, marks) = (QueryRows<Object>(), [ObjectMark]())
        for row in found where rows.count < query.search.limit ?? .max {
            let place = query.collection.place(row.key)
            marks.append(ObjectMark(key: row.key, commit: row.stored.commit))
            switch try row.stored.readable(at: place, in: query.collection) {
            case .success(let object): rows.append(row.key, object)
            case .failure(let error): rows.leaveOut(row.key, because: error)
            }
        }
        return MarkedRows(rows: rows, marks: marks)
    }

    /// The keys of the objects that a query finds, in its order.
    public borrowing func keys<Object>(_ query: StoreQuery<Object>) throws -> [String] {
        try QueryRun(query, source.objects).keys()
    }

    /// How many objects a query finds; an index that has all of its fields tells without reading them.
    public borrowing func count<Object>(_ query: StoreQuery<Object>) throws -> Int {
        try QueryRun(query, source.objects).count()
    }
}

/// An object, and the commit that has last changed it.
struct ObjectMark: Hashable, Sendable {
    let key: String
    let commit: CommitNumber
}

/// The objects that a query has found, and the commits that have last changed them.
struct MarkedRows<Object: Sendable>: Sendable {
    let rows: QueryRows<Object>
    /// Those of objects that cannot be read, too.
    let marks: [ObjectMark]
}

extension StoredObject {
    /// The app's object, or why this one alone cannot be read.
    func readable<Object>(
        at place: ObjectKey,
        in collection: StoreCollection<Object>
    ) throws(StoreError) -> Result<Object, StoreError> {
        let result = Result { () throws(StoreError) in try object(at: place, in: collection) }
        if case .failure(let error) = result, !error.isOfOneObject { throw error }
        return result
    }
}
