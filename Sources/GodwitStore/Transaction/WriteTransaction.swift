public import GRDB
public import GodwitTree

/// The only way to change a store: all of its changes are committed, or none.
public struct WriteTransaction: StoreTransaction, ~Copyable {
    package let connection: Database

    /// The number that this transaction will have as a commit, if it changes something.
    public let commit: CommitNumber

    let draft: CommitDraft

    /// The database connection, for the app's own tables in the same transaction.
    ///
    /// If the app rolls a savepoint back around what this transaction has written by the store or the
    /// queue, the transaction throws ``StoreError/savepointRolledBack`` at its end, and is rolled back.
    public var database: Database {
        draft.lendConnection()
        return connection
    }

    public var lastCommit: CommitNumber { commit.previous }
    public var source: ObjectSource { ObjectSource(draft, connection: connection) }

    /// Whether other processes may have the store open.
    package var isShared: Bool { draft.context.options.processes == .several }

    /// The deepest object that a store takes: a replica puts two levels above it.
    public static let objectDepthMax = Value.depthMax - 2

    init(_ draft: CommitDraft) {
        connection = draft.database
        commit = draft.commit
        self.draft = draft
    }
}

extension WriteTransaction {
    /// Puts an object under a key, in the place of the one that was there.
    ///
    /// The metadata stays what it was. An object that is there already is no change.
    ///
    /// - Throws: `EncodingError`, ``StoreError/tooDeep(_:limit:)``,
    ///   ``StoreError/newerObject(_:found:known:)``, or what the database throws.
    public borrowing func set<Object>(
        _ object: Object,
        for key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws {
        try draft.put(Put(object, in: collection, metadata: .keep), at: collection.place(key))
    }

    /// Puts an object and its metadata under a key.
    public borrowing func set<Object>(
        _ object: Object,
        for key: some StoreKey,
        in collection: StoreCollection<Object>,
        metadata: some Encodable
    ) throws {
        let metadata = Put.Metadata.replace(try ValueEncoder().encode(metadata).canonicalBytes)
        try draft.put(Put(object, in: collection, metadata: metadata), at: collection.place(key))
    }

    /// Throws unless an object is still as a certain commit has left it.
    ///
    /// Call it before a change that was made from an older view, so that it does not overwrite what
    /// was written meanwhile:
    ///
    /// ```swift
    /// let commit = try view.commit(of: "robbie", in: contacts)
    /// try await store.write { transaction in
    ///     try transaction.require(commit, of: "robbie", in: contacts)
    ///     try transaction.set(edited, for: "robbie", in: contacts)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - commit: What ``ObjectReader/commit(of:in:)`` has returned; nil for no object.
    ///   - key: The object's key.
    ///   - collection: The collection that the object is in.
    /// - Throws: ``StoreError/commitMismatch(_:expected:found:)``, also if this transaction itself has
    ///   changed the object.
    public borrowing func require<Object>(
        _ commit: CommitNumber?,
        of key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws {
        let found = try self.commit(of: key, in: collection)
        guard found == commit else {
            let place = collection.place(key)
            throw StoreError.commitMismatch(place, expected: commit, found: found)
        }
    }

    /// Changes an object in place.
    ///
    /// ```swift
    /// try transaction.update("robbie", in: contacts) { $0.presence = .online }
    /// ```
    ///
    /// For an object that several devices edit, use ``edit(_:in:_:)-(_,_,(ObjectDraft<Object>)->Void)``: it
    /// records increments, moves and words, so that those of all devices stay. This one leaves only the
    /// difference of the two values.
    ///
    /// - Throws: ``StoreError/noObject(_:)`` without an object, what ``set(_:for:in:)`` throws, or what
    ///   `body` throws.
    public borrowing func update<Object>(
        _ key: some StoreKey,
        in collection: StoreCollection<Object>,
        _ body: (inout Object) throws -> Void
    ) throws {
        guard var object = try get(key, in: collection) else {
            throw StoreError.noObject(collection.place(key))
        }
        try body(&object)
        try set(object, for: key, in: collection)
    }

    /// Edits an object in place, and records how.
    ///
    /// ```swift
    /// try transaction.edit("groceries", in: lists) {
    ///     $0.items.move(from: 4, to: 0)
    ///     $0.count += 1
    /// }
    /// ```
    ///
    /// The compiler checks the names and types of what is edited; see ``ObjectDraft``. The store keeps the
    /// object as ``update(_:in:_:)`` would. Hooks get the edits besides, as
    /// ``ObjectChange/recordedDelta``: a move is a move there, and an increment is one, so that a
    /// merge with the changes of others comes out as all sides meant it. Several edits in one
    /// transaction are recorded as one delta.
    ///
    /// - Returns: The delta from the object as it was to the object as it is.
    /// - Throws: ``StoreError/noObject(_:)`` without an object,
    ///   ``StoreError/unreadableObject(_:reason:)`` if the result is not of the collection's type,
    ///   `TreeError` if an edit does not fit the object, or what `body` throws. The object is what it
    ///   was then.
    @_disfavoredOverload
    @discardableResult
    public borrowing func edit<Object>(
        _ key: some StoreKey,
        in collection: StoreCollection<Object>,
        _ body: (inout ObjectDraft<Object>) throws -> Void
    ) throws -> Delta {
        try editValue(of: key, in: collection) { try $0.edit(as: Object.self, body) }
    }

    /// Edits plain data in place, and records how.
    ///
    /// - Returns: The delta from the data as they were to the data as they are.
    /// - Throws: What ``editValue(of:in:_:)`` throws.
    @discardableResult
    public borrowing func edit(
        _ key: some StoreKey,
        in collection: StoreCollection<Value>,
        _ body: (inout Draft) throws -> Void
    ) throws -> Delta {
        try editValue(of: key, in: collection, body)
    }

    /// Edits the plain data of an object in place, and records how.
    ///
    /// A misspelt name is another field here. Use it for fields that the type does not have, or names
    /// differently; else edit the object by an ``ObjectDraft``.
    ///
    /// - Returns: The delta from the data as they were to the data as they are.
    /// - Throws: ``StoreError/noObject(_:)`` without an object,
    ///   ``StoreError/unreadableObject(_:reason:)`` if the result is not of the collection's type,
    ///   `TreeError` if an edit does not fit the data, or what `body` throws. The object is what it
    ///   was then.
    @discardableResult
    public borrowing func editValue<Object>(
        of key: some StoreKey,
        in collection: StoreCollection<Object>,
        _ body: (inout Draft) throws -> Void
    ) throws -> Delta {
        let place = collection.place(key)
        guard let stored = try draft.object(at: place) else { throw StoreError.noObject(place) }
        let old = try stored.value(at: place)
        var value = try collection.upgraded(old, at: place, from: stored.version)
        let delta = try value.edit(body)
        try collection.check(value, at: place)
        // The recorded edits begin with the stored value, not with an upgraded one.
        let isUpgraded = stored.version != collection.version
        try draft.put(
            Put(value, version: collection.version),
            at: place,
            by: isUpgraded ? nil : delta
        )
        return delta
    }

    /// Puts other metadata beside an object, which stays as it is.
    ///
    /// - Parameters:
    ///   - metadata: nil removes it.
    ///   - key: The object's key.
    ///   - collection: The collection that the object is in.
    /// - Throws: ``StoreError/noObject(_:)`` without an object.
    public borrowing func replaceMetadata<Object>(
        _ metadata: (some Encodable)?,
        of key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws {
        let bytes = try metadata.map { try ValueEncoder().encode($0).canonicalBytes }
        try draft.replaceMetadata(bytes, at: collection.place(key))
    }

    /// Puts plain data under a key.
    ///
    /// Data that is there already is no change. The data is taken to be of the version that the
    /// collection's ``CollectionRules`` declare.
    public borrowing func setValue(_ value: Value, of key: ObjectKey) throws {
        try setValue(value, version: draft.context.version(of: key.collection), of: key)
    }

    /// Puts plain data of another device, with the version of the type that wrote it.
    ///
    /// - Parameter edits: How the data came from what is there, for hooks; nil if that is not known.
    package borrowing func setValue(
        _ value: Value,
        version: Int,
        of key: ObjectKey,
        by edits: Delta? = nil
    ) throws {
        try draft.put(Put(value, version: version), at: key, by: edits)
    }
}

extension WriteTransaction {
    /// Removes the object under a key; without one, nothing happens.
    public borrowing func remove<Object>(
        _ key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws {
        try draft.remove(collection.place(key))
    }

    /// Removes the objects under some keys.
    public borrowing func remove<Keys: Sequence, Object>(
        _ keys: Keys,
        in collection: StoreCollection<Object>
    ) throws where Keys.Element: StoreKey {
        for key in keys { try draft.remove(collection.place(key)) }
    }

    /// Removes all objects of a collection, or of a range of its keys.
    public borrowing func removeAll<Object>(
        in collection: StoreCollection<Object>,
        range: KeyRange = .all
    ) throws {
        for key in try keys(in: collection, range: range) {
            try draft.remove(collection.place(key))
        }
    }

    /// Removes all objects of all collections.
    public borrowing func removeEverything() throws {
        for collection in try collections() {
            try removeAll(in: StoreCollection<Value>(collection))
        }
    }

    /// Removes the object under a key; without one, nothing happens.
    public borrowing func removeValue(of key: ObjectKey) throws { try draft.remove(key) }

    /// The sum of a collection's objects before the transaction, and now.
    borrowing func totals(of collection: Key) -> (old: Ledger.Total, new: Ledger.Total) {
        draft.totals(of: collection)
    }

    /// The commit that wrote an object; nil when there is none.
    borrowing func commit(of key: ObjectKey) throws -> CommitNumber? {
        try draft.object(at: key)?.commit
    }

    /// Removes an object that has been there for too long.
    borrowing func expire(_ key: ObjectKey) throws { try draft.remove(key, isExpired: true) }

    /// Has observers look again at an object that is what it was.
    public borrowing func touch<Object>(
        _ key: some StoreKey,
        in collection: StoreCollection<Object>
    ) throws {
        try draft.touch(collection.place(key))
    }

    /// Notes that a table of Godwit's own has changed, which a savepoint of the app's may take back.
    package borrowing func noteChange() throws { try draft.noteChange() }

    /// Makes a commit of this transaction although no object changes.
    ///
    /// Code that writes tables of its own beside the objects calls this, so that what they wrote
    /// belongs to a commit.
    public borrowing func touch() { draft.isTouched = true }

    /// A new identifier, from the source that the store was opened with.
    public borrowing func newIdentifier() -> Identifier { draft.context.identifiers.next() }

    /// What this transaction has made of an object so far; nil when it has not changed it.
    public borrowing func change(of key: ObjectKey) -> ObjectChange? { draft.change(of: key) }

    /// Plain data as the type of its collection writes it, if the collection has rules.
    ///
    /// - Throws: ``StoreError/unreadableObject(_:reason:)`` if it is not of that type.
    package borrowing func retyped(_ value: Value, at key: ObjectKey) throws -> Value {
        try draft.context.indexes.retyped(value, at: key)
    }

    /// What another layer keeps in memory beside this transaction's store.
    package borrowing func attachment<Object: AnyObject & Sendable>(
        _ make: (Identifiers) -> Object
    ) -> Object {
        let context = draft.context
        return context.attachments.get { make(context.identifiers) }
    }

    /// Has the transaction throw ``HookRefusal`` when a hook refuses it.
    package borrowing func tellRefusals() { draft.tellsRefusals = true }

    /// Lets state in memory follow what this transaction writes.
    package borrowing func add(_ participant: any TransactionParticipant) {
        draft.add(participant)
    }
}
