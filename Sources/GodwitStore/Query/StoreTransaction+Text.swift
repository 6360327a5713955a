extension StoreTransaction where Self: ~Copyable {
    /// The objects that a full-text search finds, the best match first.
    ///
    /// An object that cannot be read is left out, and named in ``TextRows/unreadable``. A view has no
    /// full-text search: SQLite keeps the words of the newest commit alone.
    ///
    /// - Throws: ``StoreError/noIndex(_:collection:)`` if the collection has no such index,
    ///   ``StoreError/unusableField(_:reason:)``.
    public borrowing func objects<Object>(_ query: TextQuery<Object>) throws -> TextRows<Object> {
        try markedObjects(query).rows
    }

    /// The keys of the objects that a full-text search finds, the best match first.
    public borrowing func keys<Object>(_ query: TextQuery<Object>) throws -> [String] {
        var keys: [String] = []
        try forEachMatch(of: query) { match, _, _ in
            keys.append(match.key)
            return true
        }
        return keys
    }

    /// How many objects a full-text search finds.
    public borrowing func count<Object>(_ query: TextQuery<Object>) throws -> Int {
        try keys(query).count
    }

    /// The objects that a full-text search finds, and the commits that have last changed them.
    borrowing func markedObjects<Object>(
        _ query: TextQuery<Object>
    ) throws -> (rows: TextRows<Object>, marks: [ObjectMark]) {
        var (rows, marks) = (TextRows<Object>(), [ObjectMark]())
        try forEachMatch(of: query) { match, stored, snippet in
            marks.append(ObjectMark(key: match.key, commit: stored.commit))
            switch try stored.readable(at: query.collection.place(match.key), in: query.collection)
            {
            case .success(let object):
                let snippet = TextSnippet(marked: try snippet())
                rows.append(
                    TextRow(key: match.key, object: object, score: -match.rank, snippet: snippet)
                )
                return true
            case .failure(let error):
                rows.leaveOut(match.key, because: error)
                return false
            }
        }
        return (rows, marks)
    }

    /// - Parameter body: Returns whether the object counts for the limit.
    private borrowing func forEachMatch<Object>(
        of query: TextQuery<Object>,
        _ body: (TextMatch, StoredObject, _ snippet: () throws -> String) throws -> Bool
    ) throws {
        let (collection, objects, database) = (query.collection, source.objects, connection)
        let entry = try objects.indexes(of: collection.name).first {
            $0.index == query.index && $0.version == collection.version
        }
        guard let entry else {
            throw StoreError.noIndex(query.index.name, collection: collection.name)
        }
        let (search, fields) = (query.filtered.search, StoredFields(collection))
        try query.filtered.fields.check(collection, objects)
        guard let expression = query.pattern.expression, search.limit != 0 else { return }
        var count = 0
        try entry.forEachMatch(expression, in: database) { match in
            let place = collection.place(match.key)
            guard let stored = try objects.object(at: place) else { return true }
            if search.criterion != .everything {
                let values = try fields.values(of: stored, at: place)
                guard search.criterion.isMet(by: values) else { return true }
            }
            let isCounted = try body(match, stored) {
                try entry.snippet(of: match, expression, in: database)
            }
            if isCounted { count += 1 }
            return count != search.limit
        }
    }
}
