public import GRDB

extension Store {
    /// How many changed objects end a group of writes that share a commit; from the next group on.
    ///
    /// An import sets it higher for as long as it takes, an app whose readers must see each change soon
    /// sets it lower.
    public var saveThreshold: Int {
        get { context.limits.saveThreshold }
        set { context.setSaveThreshold(newValue) }
    }

    /// Runs `body` in a transaction: all of its changes are committed, or none if it throws.
    ///
    /// Transactions run one after the other, in the order in which they were asked for; several
    /// may be committed together, each with its own commit number and its own failure. A task
    /// that is cancelled before its turn throws `CancellationError` and has changed nothing; one
    /// that is cancelled later gets its result.
    ///
    /// - Throws: What `body` throws, or ``StoreError``.
    @discardableResult
    public func write<Result: Sendable>(
        durability: Durability = .durable,
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
    ) async throws -> Result {
        let ticket = try submit(durability, isAwaited: true, body)
        return try await withTaskCancellationHandler {
            try await ticket.finish().value
        } onCancel: {
            writer.cancel(ticket)
        }
    }

    /// Asks for a transaction and does not wait for it; its place in the line is fixed.
    ///
    /// Many small writes that no task awaits one by one share a commit, and one sync of the disk.
    /// ``flush()`` waits for all of them, and throws the error of one that has failed.
    ///
    /// - Throws: ``StoreError/overloaded(limit:)`` when ``WriteLimits/queueMax`` writes wait
    ///   already; ``StoreError/closed``.
    @discardableResult
    public func writeLater<Result: Sendable>(
        durability: Durability = .durable,
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
    ) throws(StoreError) -> WriteTicket<Result> {
        try submit(durability, isAwaited: false, body)
    }

    /// Takes part in a transaction that the app has begun itself, on the database that the store
    /// was adopted from.
    ///
    /// ```swift
    /// try await pool.write { database in
    ///     try invoice.insert(database)
    ///     try store.write(in: database) { try $0.enqueue(SendInvoice(id: invoice.id)) }
    /// }
    /// ```
    ///
    /// What `body` changes is committed with the app's transaction, or rolled back with it; observers
    /// hear of it after the commit. When `body` throws, the store undoes its changes, and the app's
    /// transaction may go on.
    ///
    /// - Throws: What `body` throws; ``StoreError/foreignTransaction`` outside of a transaction,
    ///   on another database, or within one of the store's own;
    ///   ``StoreError/savepointRolledBack`` when the app has rolled a savepoint back that some of
    ///   the earlier calls in the same transaction were part of.
    @discardableResult
    public func write<Result>(
        in database: Database,
        _ body: (borrowing WriteTransaction) throws -> Result
    ) throws -> Result {
        do {
            return try writer.join(database, body)
        } catch {
            throw context.translated(error)
        }
    }

    /// Waits until everything that was asked for is committed and on the disk, relaxed writes
    /// included.
    ///
    /// - Throws: The first error since the last flush of a ``writeLater(durability:_:)`` whose ticket no
    ///   task awaited when it failed; ``StoreError``.
    public func flush() async throws {
        try await write { $0.draft.isFlush = true }
        if let error = writer.takeUnheard() { throw error }
    }

    /// Runs `body` on the newest commit; what others commit meanwhile stays out of sight.
    ///
    /// A task that is cancelled interrupts what SQLite does for `body`.
    ///
    /// - Throws: What `body` throws, ``StoreError``, or `CancellationError`.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Result
    ) async throws -> Result {
        let context = context
        do {
            return try await lanes.read { database in
                try context.catchUp(in: database)
                return try body(ReadTransaction(database, context))
            }
        } catch {
            throw context.translated(error)
        }
    }

    /// Runs `body` on the connection that writes, between two commits: all observers know of the last
    /// one, and the next one waits.
    package func betweenCommits<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        let context = context
        return try await lanes.write { database in
            do {
                return try body(database)
            } catch {
                throw context.translated(error)
            }
        }
    }

    /// Stops writing when the open group is committed; what is asked for meanwhile waits.
    ///
    /// For the time before a system suspends the app: no lock is held afterwards. Calls nest.
    public func suspend() async { await writer.suspend() }

    /// Undoes one ``suspend()``.
    public func resume() { writer.resume() }

    /// Lets `hook` take part in every commit from the next transaction on, after those that were
    /// added before it.
    ///
    /// - Throws: ``StoreError/hookExists(name:)`` when the store has a hook of this name: two of
    ///   one kind would do the same work twice.
    public func addHook(_ hook: some TransactionHook, named name: String) throws(StoreError) {
        try context.addHook(hook, named: name)
    }

    public func removeHook(named name: String) { context.removeHook(named: name) }

    /// Whether the store has a hook of a name.
    public func hasHook(named name: String) -> Bool { context.hasHook(named: name) }
}
