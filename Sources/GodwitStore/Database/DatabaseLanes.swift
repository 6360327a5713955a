internal import GRDB

/// Takes the store's work on its connections, where GRDB's own threads shall not run it.
///
/// A simulation hands one in, and decides by a seed which piece of work runs next. Each piece runs
/// whole; pieces for the connection that writes run in the order in which they came.
package typealias LaneScheduler =
    @Sendable (_ lane: DatabaseLane, _ work: @escaping @Sendable () -> Void) -> Void

package enum DatabaseLane: Sendable {
    case writer, reader
}

/// The store's ways to its connections; all of its asynchronous work takes one of them.
struct DatabaseLanes: Sendable {
    let database: any DatabaseWriter
    /// nil for GRDB's own threads.
    let scheduler: LaneScheduler?

    /// Runs `body` on the connection that writes, outside of a transaction.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        guard let scheduler else { return try await database.writeWithoutTransaction(body) }
        return try await scheduled(.writer, scheduler) { database in
            try database.writeWithoutTransaction(body)
        }
    }

    /// Runs `body` on the connection that writes, and does not wait for it.
    func enqueue(_ body: @escaping @Sendable (Database) -> Void) {
        guard let scheduler else { return database.asyncWriteWithoutTransaction(body) }
        scheduler(.writer) { [database] in database.writeWithoutTransaction(body) }
    }

    /// Runs `body` in a transaction that reads.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        guard let scheduler else { return try await database.read(body) }
        return try await scheduled(.reader, scheduler) { database in try database.read(body) }
    }

    private func scheduled<Result: Sendable>(
        _ lane: DatabaseLane,
        _ scheduler: LaneScheduler,
        _ work: @escaping @Sendable (any DatabaseWriter) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            scheduler(lane) { [database] in
                continuation.resume(with: Swift.Result { try work(database) })
            }
        }
    }
}
