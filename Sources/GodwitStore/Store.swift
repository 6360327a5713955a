public import GRDB
internal import GodwitTree
internal import Synchronization

/// Objects in collections, on disk or in memory, changed by transactions.
///
/// ```swift
/// let store = try Store(.file("/tmp/shop.godwit"))
/// let items = Store.Collection<Item>("items")
///
/// try await store.write { transaction in
///     try transaction.set(Item(name: "Bread"), for: "bread", in: items)
/// }
/// let bread = try await store.read { try $0.get("bread", in: items) }
/// ```
///
/// What `write` has returned from survives a crash of the process and of the machine. A store on
/// disk is open in one place at a time, unless all openers allow several.
public final class Store: Sendable {
    public typealias Location = StoreLocation
    public typealias Options = StoreOptions
    public typealias Collection = StoreCollection
    public typealias Migration = StoreMigration
    public typealias Index = StoreIndex
    public typealias Query = StoreQuery

    public let location: Location
    /// What was done about a damaged file when the store was opened; nil when there was none.
    public let recovery: RecoveryReport?
    let context: StoreContext
    let writer: Writer
    let checkpointer: Checkpointer
    let connections: StoreConnections
    let lanes: DatabaseLanes

    /// Opens a store, and makes one where there is none.
    ///
    /// - Throws: ``StoreError``; the file is untouched then.
    public convenience init(_ location: Location, options: Options = Options()) throws {
        try self.init(StoreConnections.open(location, options), location, options)
    }

    /// Opens a store in the app's own database: the app's tables, its objects and its operations
    /// commit together.
    ///
    /// ```swift
    /// let store = try Store(adopting: pool)
    /// try await store.write { transaction in
    ///     try transaction.set(order, for: "12", in: orders)
    ///     try invoice.insert(transaction.database)
    /// }
    /// ```
    ///
    /// A pool or a queue, encrypted or not. The app keeps it, closes it, and may write to its own
    /// tables through it; checkpoints stay as the app has them. `synchronous` becomes `FULL` on
    /// the connection that writes.
    public convenience init(
        adopting writer: any DatabaseWriter,
        options: Options = Options()
    ) throws {
        let location = Location(of: writer)
        try self.init(StoreConnections.adopt(writer, location, options), location, options)
    }

    private init(
        _ connections: StoreConnections,
        _ location: Location,
        _ options: Options
    ) throws {
        self.connections = connections
        self.location = location
        recovery = connections.recovery
        context = StoreContext(location, options)
        checkpointer = Checkpointer(limits: options.limits, isOwner: connections.isOwner)
        lanes = DatabaseLanes(database: connections.database, scheduler: options.laneScheduler)
        writer = Writer(
            lanes,
            context,
            checkpointer: checkpointer,
            lock: connections.processLock
        )
        do {
            try begin()
        } catch {
            try? close()
            throw context.translated(error)
        }
    }

    /// Closes the store: what waits fails, change sequences end, later transactions throw.
    ///
    /// To close it again does nothing.
    public func close() throws {
        writer.close()
        context.feed.finish()
        connections.alone { checkpointer.finish(in: $0) }
        try connections.close()
    }
}

extension Store {
    var database: any DatabaseWriter { connections.database }

    private func begin() throws {
        let options = context.options
        let migrations = StoreMigrations(options.migrations)
        if options.access == .readOnly {
            try database.read {
                try StoreSchema.schema.check($0)
                try migrations.check($0)
                try context.indexes.load(from: $0)
            }
        } else {
            try connections.alone {
                try checkpointer.begin(in: $0)
                try checkpointer.watch($0)
            }
            try prepare(StoreSchema.schema)
            try connections.alone { database in
                try migrations.run(outsideOfTransactionsOf: database)
                try database.inTransaction(.immediate) {
                    try context.indexes.match(options.collections, in: database)
                    return .commit
                }
            }
        }
        let ledger = try database.read { try Ledger.state(in: $0) }
        context.ledger.withLock { $0 = ledger }
        context.cache.withVersions { $0.reset(to: ledger.last) }
        guard options.access == .readWrite else { return }
        connections.markAsStore()
        try tidyUp(options.collections)
    }

    /// Brings the tables of a part of Godwit up to date.
    package func prepare(_ schema: TableSchema) throws {
        do {
            if try database.read({ try schema.isPrepared(in: $0) }) { return }
            try connections.alone { database in
                try database.inTransaction(.immediate) {
                    try schema.prepare(database)
                    return .commit
                }
            }
        } catch {
            throw context.translated(error)
        }
    }

    /// Empties ephemeral collections and removes what is due, in an ordinary commit.
    private func tidyUp(_ rules: [CollectionRules]) throws {
        let ephemeral = rules.filter(\.isEphemeral).map(\.name)
        let retention = RetentionHook(rules, clock: context.options.clock)
        let kept = retention.collections ?? []
        if !kept.isEmpty { try context.addHook(retention, named: "godwit retention") }
        // Of several processes, another one may have a retention.
        let unlimited = options.processes == .several ? [] : rules.filter { $0.retention == nil }
        let noted = try database.read { database in
            try unlimited.map(\.name).filter { try RetentionTable.hasNotes(of: $0, in: database) }
        }
        guard !ephemeral.isEmpty || !kept.isEmpty || !noted.isEmpty else { return }
        let ticket = try submit(.durable, isAwaited: true) { transaction in
            for collection in noted {
                try RetentionTable.forget(collection, in: transaction.connection)
            }
            for collection in ephemeral {
                try transaction.removeAll(in: Store.Collection<Value>(collection))
            }
            try retention.adopt(in: transaction)
            try retention.expireAll(in: transaction)
        }
        writer.drainNow()
        _ = try ticket.result?.get()
    }

    /// Asks for a transaction; its ticket has the result, and no cancelled task takes it back.
    ///
    /// - Parameter isAwaited: Whether a caller waits for it: then it is not refused however many wait.
    package func submit<Result: Sendable>(
        _ durability: Durability,
        isAwaited: Bool,
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
    ) throws(StoreError) -> WriteTicket<Result> {
        let ticket = WriteTicket(durability: durability, isAwaited: isAwaited, body)
        try writer.submit(ticket)
        return ticket
    }
}
