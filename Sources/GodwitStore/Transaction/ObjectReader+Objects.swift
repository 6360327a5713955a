public import GodwitTree

extension ObjectReader where Self: ~Copyable {
    /// The object under a key, or nil.
    ///
    /// - Throws: ``StoreError/damagedObject(_:)``, ``StoreError/newerObject(_:found:known:)``, or
    ///   ``StoreError/unreadableObject(_:reason:)`` when the object is of another type.
    public borrowing func get<Object>(
        _ key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws -> Object? {
        let place = collection.place(key)
        return try source.objects.object(at: place)?.object(at: place, in: collection)
    }

    /// The objects under some keys; a key without an object is left out.
    ///
    /// ```swift
    /// let found = try transaction.get([robbie.id], in: contacts)
    /// ```
    public borrowing func get<Keys: Sequence, Object>(
        _ keys: Keys,
        in collection: StoreCollection<Object>
    ) throws -> [Keys.Element: Object] where Keys.Element: StoreKey & Hashable {
        let source = source
        return try keys.reduce(into: [:]) { found, key in
            let place = collection.place(key)
            found[key] = try source.objects.object(at: place)?.object(at: place, in: collection)
        }
    }

    /// What was stored beside an object, or nil.
    ///
    /// - Throws: `DecodingError` when the metadata is of another type.
    public borrowing func metadata<Metadata: Decodable, Object>(
        _ type: Metadata.Type = Metadata.self,
        of key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws -> Metadata? {
        let place = collection.place(key)
        guard let value = try source.objects.object(at: place)?.metadataValue(at: place) else {
            return nil
        }
        return try ValueDecoder().decode(Metadata.self, from: value)
    }

    /// Whether there is an object under a key; the object itself is not read.
    public borrowing func exists<Object>(
        _ key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws -> Bool {
        try source.objects.exists(collection.place(key))
    }

    /// The commit that has last changed an object, or nil without one.
    public borrowing func commit<Object>(
        of key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws -> CommitNumber? {
        try source.objects.object(at: collection.place(key))?.commit
    }
}

// MARK: - Many objects

extension ObjectReader where Self: ~Copyable {
    /// How many objects a collection has, or a range of its keys.
    ///
    /// - Complexity: O(*n*) in the objects counted; they are not read.
    public borrowing func count<Object>(
        in collection: StoreCollection<Object>,
        range: KeyRange = .all
    ) throws -> Int {
        try source.objects.count(of: collection.name, in: range)
    }

    /// The keys of a collection, in byte order; the objects are not read.
    public borrowing func keys<Object>(
        in collection: StoreCollection<Object>,
        range: KeyRange = .all,
        order: SortDirection = .ascending,
        limit: Int? = nil
    ) throws -> [String] {
        var keys: [String] = []
        let walk = KeyWalk(range: range, order: order, limit: limit)
        try source.objects.forEachKey(of: collection.name, walk) { key in
            keys.append(key)
            return true
        }
        return keys
    }

    /// Calls `body` with each object of a range, in the order of the keys, until it sets `stop`.
    ///
    /// ```swift
    /// try transaction.enumerate(contacts, range: .prefix("b")) { key, contact, stop in
    ///     if contact.isOnline { stop = true }
    /// }
    /// ```
    ///
    /// One object is in memory at a time. An object that cannot be read is left out.
    ///
    /// - Returns: The objects that were left out, and why, by key.
    @discardableResult
    public borrowing func enumerate<Object>(
        _ collection: StoreCollection<Object>,
        range: KeyRange = .all,
        order: SortDirection = .ascending,
        limit: Int? = nil,
        _ body: (_ key: String, _ object: Object, _ stop: inout Bool) throws -> Void
    ) throws -> [String: StoreError] {
        var unreadable: [String: StoreError] = [:]
        let walk = KeyWalk(range: range, order: order, limit: limit)
        try source.objects.forEachObject(of: collection.name, walk) { key, stored in
            let object: Object
            do {
                object = try stored.object(at: collection.place(key), in: collection)
            } catch let error as StoreError where error.isOfOneObject {
                unreadable[key] = error
                return true
            }
            var stop = false
            try body(key, object, &stop)
            return !stop
        }
        return unreadable
    }

    /// The names of all collections that hold an object.
    public borrowing func collections() throws -> [Key] { try source.objects.collections() }
}

// MARK: - Plain data

extension ObjectReader where Self: ~Copyable {
    /// The object under a key as plain data, or nil.
    public borrowing func value(of key: ObjectKey) throws -> Value? {
        try source.objects.object(at: key)?.value(at: key)
    }

    /// An object as plain data: what ``WriteTransaction/set(_:for:in:)`` would store under a key.
    ///
    /// Use it for what a cloud has sent, so that both sides of a merge are written alike:
    ///
    /// ```swift
    /// let theirs = try JSONDecoder().decode(Contact.self, from: answer.body)
    /// let value = try await store.read { try $0.value(of: theirs, for: "robbie", in: contacts) }
    /// return .conflict(theirs: value, tag: tag, reason: "the cloud has another version")
    /// ```
    ///
    /// Fields of the stored object that the type does not know are kept.
    ///
    /// - Throws: `EncodingError`, or what `get(_:in:)` throws.
    public borrowing func value<Object>(
        of object: Object,
        for key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws -> Value {
        let (place, put) = (collection.place(key), try Put(object, in: collection, metadata: .keep))
        return try put.value(replacing: source.objects.object(at: place), at: place)
    }

    /// The metadata of an object as plain data, or nil.
    public borrowing func metadataValue(of key: ObjectKey) throws -> Value? {
        try source.objects.object(at: key)?.metadataValue(at: key)
    }
}
