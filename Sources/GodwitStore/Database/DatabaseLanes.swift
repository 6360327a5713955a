internal import GRDB
internal import Synchronization

#if canImport(GRDBSQLite)
internal import GRDBSQLite
#elseif canImport(SQLCipher)
internal import SQLCipher
#else
internal import SQLite3
#endif

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

    /// Runs `body` in a transaction that reads; a task that is cancelled interrupts it.
    ///
    /// The connection goes back on its own thread. GRDB's asynchronous `read` gives it back in the
    /// task: ``Store/close()`` would wait for that task, and may well have the only thread for it.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        guard let scheduler else {
            let reading = CancellableReading()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    database.asyncRead { connection in
                        continuation.resume(
                            with: Swift.Result { try reading.run(body, on: connection.get()) }
                        )
                    }
                }
            } onCancel: {
                reading.cancel()
            }
        }
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

/// A read that another thread may end.
private final class CancellableReading: Sendable {
    private enum State {
        case idle, cancelled
        case reading(Connection)
    }

    /// Unchecked, because SQLite lets any thread interrupt a connection that is open, and it is while
    /// it reads.
    private struct Connection: @unchecked Sendable {
        let pointer: OpaquePointer?
    }

    private let state = Mutex(State.idle)

    func run<Result>(
        _ body: (Database) throws -> Result,
        on database: Database
    ) throws -> Result {
        let connection = Connection(pointer: database.sqliteConnection)
        try state.withLock { state in
            if case .cancelled = state { throw CancellationError() }
            state = .reading(connection)
        }
        defer { end() }
        do {
            return try body(database)
        } catch let error as DatabaseError {
            throw error.resultCode == .SQLITE_INTERRUPT && isCancelled ? CancellationError() : error
        }
    }

    func cancel() {
        state.withLock { state in
            if case .reading(let connection) = state { sqlite3_interrupt(connection.pointer) }
            state = .cancelled
        }
    }

    private var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    private func end() {
        state.withLock { state in
            if case .reading = state { state = .idle }
        }
    }
}
