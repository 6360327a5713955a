#if PostgreSQL
internal import CLibpq
internal import Foundation

/// What a transaction may do, and what it sees.
enum PostgreSQLTransactionKind {
    /// One snapshot.
    case read
    /// What is committed, statement by statement: what was locked before is as it is now.
    case write

    var sql: String {
        switch self {
        case .read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .write: "BEGIN ISOLATION LEVEL READ COMMITTED"
        }
    }
}

/// A connection to a database, as the one thread that may use it sees it.
///
/// Its calls wait: for the answer, for a deadline, or until the work is cancelled. It is not
/// Sendable, and lives on its ``SessionThread``.
package final class PostgreSQLSession {
    private let connection: OpaquePointer
    private let interrupt: SessionInterrupt
    private let options: PostgreSQLOptions
    /// The names of prepared statements by their text.
    private var prepared: [String: String] = [:]
    private(set) var isBroken = false
    /// Whether the work goes on although it is cancelled, because it is at its end.
    private var isEnding = false
    /// For how long the server may work on a statement; nil for as long as it takes.
    private var statementMax: Duration?

    /// After so many statements all are prepared anew: the texts are those of this module.
    private static let preparedMax = 256

    /// Connects.
    ///
    /// - Throws: ``PostgreSQLError/unreachable(reason:)``.
    init(
        _ address: PostgreSQLAddress,
        _ options: PostgreSQLOptions,
        _ interrupt: SessionInterrupt
    ) throws(PostgreSQLError) {
        (self.interrupt, self.options) = (interrupt, options)
        statementMax = options.statementMax
        connection = try address.open(options)
        let milliseconds = options.statementMax.milliseconds
        try execute("SET statement_timeout = \(milliseconds)")
        // A node that is gone must not keep the lock of a line.
        try execute("SET idle_in_transaction_session_timeout = \(milliseconds)")
    }

    deinit { PQfinish(connection) }

    // MARK: Transactions

    func begin(_ kind: PostgreSQLTransactionKind) throws(PostgreSQLError) {
        try execute(kind.sql)
    }

    /// Makes a transaction durable, also when its task is cancelled now.
    ///
    /// - Throws: ``PostgreSQLError/unknownOutcome`` when the connection ends on the way.
    func commit() throws(PostgreSQLError) {
        isEnding = true
        defer { isEnding = false }
        // The answer to COMMIT would be that it is rolled back, and no error.
        guard PQtransactionStatus(connection) != PQTRANS_INERROR else {
            throw .refused(sqlState: "25P02", message: "a statement of the transaction has failed")
        }
        do throws(PostgreSQLError) {
            try execute("COMMIT")
        } catch .connectionLost {
            throw .unknownOutcome
        }
    }

    /// Lets the statements of a body take as long as they take, at the end of a transaction.
    ///
    /// A server that has gone without a word is noticed by the keepalives of the connection.
    package func withoutStatementMax<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("SET LOCAL statement_timeout = 0")
        statementMax = nil
        defer { statementMax = options.statementMax }
        return try body()
    }

    /// Gives a transaction up, if there is one.
    func rollBack() {
        guard !isBroken, isInTransaction else { return }
        isEnding = true
        defer { isEnding = false }
        // A connection that cannot even do this is not used again.
        do throws(PostgreSQLError) { try execute("ROLLBACK") } catch { isBroken = true }
    }

    // MARK: Statements

    /// Runs a command without arguments.
    func execute(_ sql: String) throws(PostgreSQLError) {
        try send { PQsendQuery(connection, sql) }
        _ = try result()
    }

    /// Runs a statement, which is prepared at its first use.
    @discardableResult
    package func query(
        _ sql: String,
        _ parameters: [PostgreSQLParameter] = []
    ) throws(PostgreSQLError) -> PostgreSQLRows {
        let name = try name(of: sql, parameters)
        try send { send(name, parameters) }
        return try result()
    }

    private func name(
        of sql: String,
        _ parameters: [PostgreSQLParameter]
    ) throws(PostgreSQLError) -> String {
        if let name = prepared[sql] { return name }
        if prepared.count >= Self.preparedMax {
            try execute("DEALLOCATE ALL")
            prepared = [:]
        }
        let name = "godwit_\(prepared.count)"
        let types = parameters.map(\.type)
        try send { PQsendPrepare(connection, name, sql, Int32(types.count), types) }
        _ = try result()
        prepared[sql] = name
        return name
    }

    private func send(_ name: String, _ parameters: [PostgreSQLParameter]) -> Int32 {
        let values = parameters.map(\.encoded)
        let all = values.flatMap { $0 ?? [] }
        let lengths = values.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: parameters.count)
        return all.withUnsafeBufferPointer { bytes in
            // An empty value is one, and not NULL: it needs an address, too.
            let empty = UnsafeRawPointer(bytes.baseAddress ?? Self.noBytes)
            var offset = 0
            let pointers = values.map { value -> UnsafePointer<CChar>? in
                guard let value else { return nil }
                defer { offset += value.count }
                return (empty + offset).assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryPrepared(
                connection,
                name,
                Int32(parameters.count),
                pointers,
                lengths,
                formats,
                1
            )
        }
    }

    /// An address of no bytes.
    ///
    /// Unsafe, because it is global; nothing is ever read from it.
    nonisolated(unsafe) private static let noBytes = UnsafePointer(
        UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    )

    // MARK: Waiting

    private func send(_ body: () -> Int32) throws(PostgreSQLError) {
        guard !isBroken else { throw .connectionLost(reason: "it was lost before") }
        guard isEnding || !interrupt.isCancelled else { throw .timedOut }
        guard body() == 1 else { throw lost() }
        try flush()
    }

    /// Waits until the server has taken what was sent: libpq keeps what the socket has no room for.
    private func flush() throws(PostgreSQLError) {
        let deadline = deadline
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1: break
            default: throw lost()
            }
            guard isEnding || !interrupt.isCancelled else {
                // The server has a part of the statement, and waits for the rest for ever.
                isBroken = true
                throw .timedOut
            }
            try wait(for: POLLIN | POLLOUT, until: deadline)
        }
    }

    /// The result of what was sent last.
    private func result() throws(PostgreSQLError) -> PostgreSQLRows {
        var rows: PostgreSQLRows?
        var failure: PostgreSQLError?
        let deadline = deadline
        var nextCancel = ContinuousClock.now
        while true {
            try wait(until: deadline, &nextCancel)
            guard let result = PQgetResult(connection) else { break }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: rows = PostgreSQLRows(result)
            default:
                failure = failure ?? error(of: result)
                PQclear(result)
            }
        }
        if let failure { throw failure }
        guard let rows else { throw lost() }
        return rows
    }

    /// Waits until the next result can be taken without waiting.
    ///
    /// - Parameter nextCancel: When to ask for the end of the statement, if the work is cancelled.
    private func wait(
        until deadline: ContinuousClock.Instant?,
        _ nextCancel: inout ContinuousClock.Instant
    ) throws(PostgreSQLError) {
        while PQisBusy(connection) != 0 {
            guard interrupt.isCancelled, !isEnding else {
                try wait(for: POLLIN, until: deadline)
                continue
            }
            if ContinuousClock.now >= nextCancel {
                guard cancel() else {
                    // A request that arrives later may not end a statement of another task.
                    isBroken = true
                    throw .connectionLost(reason: "the database does not answer")
                }
                // The server forgets a request that comes before the statement that it is for.
                nextCancel = ContinuousClock.now + Self.cancelInterval
            }
            try wait(for: POLLIN, until: deadline, atMost: Self.cancelInterval)
        }
    }

    /// How long after a request to end a statement another one is made.
    private static let cancelInterval = Duration.milliseconds(200)

    /// When the server must have taken a statement, or answered it: nil for never.
    private var deadline: ContinuousClock.Instant? {
        statementMax.map { ContinuousClock.now + $0 + options.cancelMax }
    }

    /// Waits for events of the connection, or for an interrupt, and takes in what has arrived.
    private func wait(
        for events: Int32,
        until deadline: ContinuousClock.Instant?,
        atMost durationMax: Duration = .seconds(60)
    ) throws(PostgreSQLError) {
        let left = deadline.map { ContinuousClock.now.duration(to: $0) } ?? durationMax
        guard left > .zero else {
            // The server does not end its statement by itself: it does not answer.
            isBroken = true
            throw .connectionLost(reason: "the database does not answer")
        }
        poll(for: events, atMost: min(left, durationMax))
        guard PQconsumeInput(connection) == 1 else { throw lost() }
    }

    /// Waits for events of the connection, for an interrupt, or for a while.
    ///
    /// - Returns: Whether it was one of the first two.
    @discardableResult
    private func poll(for events: Int32, atMost duration: Duration) -> Bool {
        var descriptors = [
            pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0),
            pollfd(fd: interrupt.wakeDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = Int32(clamping: duration.milliseconds + 1)
        let count = Foundation.poll(&descriptors, 2, milliseconds)
        if descriptors[1].revents != 0 { interrupt.drain() }
        return count != 0
    }

    /// Asks the server to end what it does for this connection.
    ///
    /// - Returns: Whether the server has got the request in time; libpq itself would wait for ever.
    private func cancel() -> Bool {
        guard let request = PQgetCancel(connection) else { return true }
        let isDone = DispatchSemaphore(value: 0)
        // Unsafe, because a pointer is not Sendable; the thread alone uses it.
        nonisolated(unsafe) let owned = request
        Thread {
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(owned, &message, Int32(message.count))
            PQfreeCancel(owned)
            isDone.signal()
        }.start()
        let seconds = options.cancelMax / .seconds(1)
        return isDone.wait(timeout: .now() + seconds) == .success
    }

    // MARK: Failures

    private func lost() -> PostgreSQLError {
        isBroken = true
        let reason = String(cString: PQerrorMessage(connection))
        return .connectionLost(reason: reason.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func error(of result: OpaquePointer) -> PostgreSQLError {
        let message = String(cString: PQresultErrorMessage(result))
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let field: UnsafePointer<CChar>? = PQresultErrorField(result, Int32(UInt8(ascii: "C")))
            .flatMap { UnsafePointer($0) }
        let state = field.map { String(cString: $0) }
        guard PQstatus(connection) == CONNECTION_OK, let state, !state.hasPrefix("57P"),
            !state.hasPrefix("08")
        else {
            isBroken = true
            return .connectionLost(reason: message)
        }
        if state == "25006" {
            // It was the primary before, and keeps its connections: another one is asked for.
            isBroken = true
            return .connectionLost(reason: message)
        }
        // The server's own timer, or this program's request, has ended the statement.
        return state == "57014" ? .timedOut : .refused(sqlState: state, message: message)
    }
}

// MARK: - Standing

extension PostgreSQLSession {
    /// Whether the connection is not known to have ended, without asking the server.
    var isAlive: Bool {
        guard !isBroken, PQconsumeInput(connection) == 1, PQstatus(connection) == CONNECTION_OK
        else { return false }
        return PQtransactionStatus(connection) == PQTRANS_IDLE
    }

    var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

    /// The channels and payloads of notifications that have arrived.
    func notifications() throws(PostgreSQLError) -> [(channel: String, payload: String)] {
        guard PQconsumeInput(connection) == 1 else { throw lost() }
        var found: [(channel: String, payload: String)] = []
        while let notification = PQnotifies(connection) {
            found.append(
                (
                    String(cString: notification.pointee.relname),
                    String(cString: notification.pointee.extra)
                )
            )
            PQfreemem(notification)
        }
        return found
    }

    /// Waits until something arrives, or the thread is woken, or a while is over.
    ///
    /// A call that came before, while the thread did something else, wakes it, too.
    ///
    /// - Returns: Whether nothing came all the while.
    func waitForNotifications(atMost duration: Duration) -> Bool {
        guard !interrupt.takeWake(), !interrupt.isCancelled else { return false }
        let isSilent = !poll(for: POLLIN, atMost: duration)
        return !interrupt.takeWake() && isSilent
    }
}

extension Duration {
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
#endif
