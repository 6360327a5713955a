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
        // What stands in the address counts more than what stands before it.
        let keywords = [
            ("connect_timeout", "\(options.connectSecondsMax)"),
            ("tcp_user_timeout", "\(1_000 * options.connectSecondsMax)"),
            ("keepalives_idle", "\(options.connectSecondsMax)"),
            ("keepalives_interval", "\(options.connectSecondsMax)"),
            ("fallback_application_name", "godwit"),
            ("dbname", address.text),
            ("client_encoding", "UTF8"),
        ]
        let opened = Self.withPointers(keywords) { PQconnectdbParams($0, $1, 1) }
        guard let opened else { throw .unreachable(reason: "there is no memory") }
        guard PQstatus(opened) == CONNECTION_OK else {
            let reason = String(cString: PQerrorMessage(opened))
            PQfinish(opened)
            throw .unreachable(reason: reason.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        connection = opened
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        let milliseconds = options.statementMax.milliseconds
        try execute("SET statement_timeout = \(milliseconds)")
        // A node that is gone must not keep the lock of a line.
        try execute("SET idle_in_transaction_session_timeout = \(milliseconds)")
    }

    deinit { PQfinish(connection) }

    private static func withPointers<Result>(
        _ keywords: [(String, String)],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) ->
            Result
    ) -> Result {
        let texts = keywords.map { (strdup($0.0), strdup($0.1)) }
        defer {
            for (name, value) in texts {
                free(name)
                free(value)
            }
        }
        let names = texts.map { UnsafePointer<CChar>($0.0) } + [nil]
        let values = texts.map { UnsafePointer<CChar>($0.1) } + [nil]
        return body(names, values)
    }

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
    }

    /// The result of what was sent last.
    private func result() throws(PostgreSQLError) -> PostgreSQLRows {
        var rows: PostgreSQLRows?
        var failure: PostgreSQLError?
        let deadline = ContinuousClock.now + options.statementMax + options.cancelMax
        var cancelled = false
        while true {
            try wait(until: deadline, &cancelled)
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
    private func wait(
        until deadline: ContinuousClock.Instant,
        _ cancelled: inout Bool
    ) throws(PostgreSQLError) {
        while PQisBusy(connection) != 0 {
            if interrupt.isCancelled, !isEnding, !cancelled {
                cancelled = true
                guard cancel() else {
                    // A request that arrives later may not end a statement of another task.
                    isBroken = true
                    throw .connectionLost(reason: "the database does not answer")
                }
            }
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else {
                // The server does not end its statement by itself: it does not answer.
                isBroken = true
                throw .connectionLost(reason: "the database does not answer")
            }
            poll(for: left)
            guard PQconsumeInput(connection) == 1 else { throw lost() }
        }
    }

    /// Waits for the connection, for an interrupt, or for a while.
    ///
    /// - Returns: Whether it was one of the first two.
    @discardableResult
    private func poll(for duration: Duration) -> Bool {
        var descriptors = [
            pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0),
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
    /// - Returns: Whether nothing came all the while.
    func waitForNotifications(atMost duration: Duration) -> Bool { !poll(for: duration) }
}

extension Duration {
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
#endif
