internal import GRDB
internal import Synchronization

/// Which transaction the connection that writes is in.
enum CurrentTransaction {
    case none
    /// One of the store's own.
    case own
    /// One that the app has begun, and in which the store takes part.
    case joined(WriteGroup)
}

extension Writer {
    /// Runs a request in a transaction that the app has begun on the connection that writes.
    func join<Result>(
        _ database: Database,
        _ body: (borrowing WriteTransaction) throws -> Result
    ) throws -> Result {
        let group = try joinedGroup(in: database)
        var result: Result?
        try group.join { result = try body($0) }
        let pasts = group.takePasts()
        context.cache.withVersions { $0.offer(pasts) }
        guard let result else { preconditionFailure("A request that ends well has a result") }
        return result
    }

    private func joinedGroup(in database: Database) throws -> WriteGroup {
        if let refusal { throw refusal }
        guard database.isInsideTransaction, isWriting(database) else {
            throw StoreError.foreignTransaction
        }
        switch current.withLock({ $0 }) {
        case .own: throw StoreError.foreignTransaction
        case .joined(let group):
            let head = try Ledger.head(in: database)
            if head.token == group.token {
                guard head.last == group.last else { throw StoreError.savepointRolledBack }
                return group
            }
            abandon(group)
        case .none: break
        }
        try context.catchUp(in: database)
        let token = UInt64.random(in: 1 ... .max)
        let group = try WriteGroup(database, context, durability: .durable, token: token)
        // The app commits when it likes, and this is the last the store hears of it before.
        context.beginCommit()
        current.withLock { $0 = .joined(group) }
        database.afterNextTransaction(
            onCommit: { [self] database in
                if isOpen(group) { committed(group, in: database) }
            },
            onRollback: { [self] _ in
                if isOpen(group) { abandon(group) }
            }
        )
        // GRDB says nothing of a transaction that SQLite rolls back because a statement fails.
        lanes.enqueue { [self] in abandonJoined(in: $0) }
        return group
    }

    /// Ends a transaction of the app's that SQLite has rolled back by itself, if there is one.
    func abandonJoined(in database: Database) {
        guard case .joined(let group) = current.withLock({ $0 }), !database.isInsideTransaction
        else { return }
        let code = database.lastErrorCode
        abandon(group)
        switch code {
        case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC: poison("\(code)")
        // A later call has succeeded, so SQLite no longer tells which error it was.
        case .SQLITE_OK, .SQLITE_ROW, .SQLITE_DONE:
            if checkpointer.hasUnsynced { poison("a transaction of the app's own has failed") }
        default: break
        }
    }

    private func isOpen(_ group: WriteGroup) -> Bool {
        current.withLock { if case .joined(let open) = $0 { open === group } else { false } }
    }

    /// Forgets what a transaction has changed: it is rolled back.
    private func abandon(_ group: WriteGroup) {
        current.withLock { $0 = .none }
        context.endCommit()
        context.cache.withVersions { $0.unkeep() }
        for participant in group.participants { participant.rolledBack() }
    }

    private func isWriting(_ database: Database) -> Bool {
        lanes.database.unsafeReentrantWrite { $0 === database }
    }

    private func committed(_ group: WriteGroup, in database: Database) {
        let head = try? Ledger.head(in: database)
        if let head, head.token != group.token { return abandon(group) }
        current.withLock { $0 = .none }
        guard head?.last == group.last else { return lose(group, in: database) }
        conclude(group)
    }

    /// The app has rolled a savepoint back around a part of the group, and committed the rest: what
    /// is known of the group is not what is stored, so all of it is read again.
    private func lose(_ group: WriteGroup, in database: Database) {
        do {
            let ledger = try Ledger.state(in: database)
            var canGoOn = true
            context.publish {
                context.ledger.withLock { $0 = ledger }
                context.cache.withVersions { versions in
                    versions.unkeep()
                    versions.reset(to: ledger.last)
                }
                canGoOn = group.participants.map { $0.lostTrack() }.allSatisfy(\.self)
                context.feed.publish(ChangeSet(commit: ledger.last, isReset: true))
            }
            if !canGoOn { poison("a savepoint was rolled back under a replica") }
        } catch {
            context.endCommit()
            poison("the store's books cannot be read: \(error)")
        }
    }
}
