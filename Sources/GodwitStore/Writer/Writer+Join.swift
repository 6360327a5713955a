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
            guard try Ledger.last(in: database) == group.last else {
                throw StoreError.savepointRolledBack
            }
            return group
        case .none: break
        }
        try context.catchUp(in: database)
        let group = try WriteGroup(database, context, durability: .durable)
        // The app commits when it likes, and this is the last the store hears of it before.
        context.beginCommit()
        current.withLock { $0 = .joined(group) }
        database.afterNextTransaction(
            onCommit: { [self] database in committed(group, in: database) },
            onRollback: { [self] _ in
                current.withLock { $0 = .none }
                context.endCommit()
                context.cache.withVersions { $0.unkeep() }
                for participant in group.participants { participant.rolledBack() }
            }
        )
        return group
    }

    private func isWriting(_ database: Database) -> Bool {
        lanes.database.unsafeReentrantWrite { $0 === database }
    }

    private func committed(_ group: WriteGroup, in database: Database) {
        current.withLock { $0 = .none }
        guard (try? Ledger.last(in: database)) == group.last else {
            return lose(group, in: database)
        }
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
