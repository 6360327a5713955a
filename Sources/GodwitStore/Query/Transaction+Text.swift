extension Transaction where Self: ~Copyable {
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
        try forEachMatch(of: query) { match, _ in keys.append(match.key) }
        return keys
    }

    /// The objects that a full-text search finds, and the commits that have last changed them.
    borrowing func markedObjects<Object>(
        _ query: TextQuery<Object>
    ) throws -> (rows: TextRows<Object>, marks: [ObjectMark]) {
        var (rows, marks) = (TextRows<Object>(), [ObjectMark]())
        try forEachMatch(of: query) { match, stored in
            marks.append(ObjectMark(key: match.key, commit: stored.commit))
            let place = query.collection.place(match.key)
            switch try stored.readable(at: place, in: query.collection) {
            case .success(let object):
                let snippet = TextSnippet(marked: match.snippet)
                rows.append(
                    TextRow(key: match.key, object: object, score: -match.rank, snippet: snippet)
                )
            case .failure(let error): rows.leaveOut(match.key, because: error)
            }
        }
        return (rows, marks)
    }

    private borrowing func forEachMatch<Object>(
        of query: TextQuery<Object>,
        _ body: (TextMatch, StoredObject) throws -> Void
    ) throws {
        let (collection, objects) = (query.collection, source.objects)
        let entry = try objects.indexes(of: collection.name).first {
            $0.index == query.index && $0.version == collection.version
        }
        guard let entry else {
            throw StoreError.noIndex(query.index.name, collection: collection.name)
        }
        let search = query.filtered.search
        if let problem = query.filtered.fields.problem { throw problem }
        guard let expression = query.pattern.expression, search.limit != 0 else { return }
        let fields = StoredFields(collection)
        var count = 0
        try entry.forEachMatch(expression, in: connection) { match in
            let place = collection.place(match.key)
            guard let stored = try objects.object(at: place) else { return true }
            if search.criterion != .everything {
                let values = try fields.values(of: stored, at: place)
                guard search.criterion.isMet(by: values) else { return true }
            }
            try body(match, stored)
            count += 1
            return count != search.limit
        }
    }
}
