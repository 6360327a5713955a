#if PostgreSQL
internal import CLibpq

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
/// Statements travel together: ``send(_:_:)`` keeps one until an answer is needed, and then one message has
/// all that were kept (libpq's pipeline mode). The server runs them in their order, and none after one that
/// fails. Calls that need an answer wait: for it, for a deadline, or until the work is cancelled. A session is
/// not Sendable, and lives on its ``SessionThread``.
package final class PostgreSQLSession {
    private enum Sent {
        case statement(PostgreSQLAnswer)
        case preparation(sql: String)
        /// Where the server takes statements again after one that has failed.
        case end
    }

    private let connection: PostgreSQLConnection
    /// The names of prepared statements by their text.
    private var prepared: [String: String] = [:]
    private var preparedCount = 0
    /// What the server has still to answer, in its order.
    private var sent: [Sent] = []
    /// Why a statement of the transaction has failed first.
    private var failure: PostgreSQLError?
    /// How often the server was waited for, or will be.
    private(set) var batchCount = 0
    /// About how many bytes were sent since the last end of a batch.
    private var keptSizeInBytes = 0
    /// How many of the first answers belong to earlier work, which has not asked for them.
    private var inheritedCount = 0
    /// Whether nothing is left but the answer to a ROLLBACK.
    private var isLeaving = false

    /// After so many statements all are prepared anew: the texts are those of this module.
    private static let preparedMax = 256
    /// Statements of this size end their batch: libpq would write at 8 KiB by itself, and a server that has got
    /// a part of a batch waits for the rest without a timer.
    private static let keptSizeMax = 4 << 10
    /// About what a statement takes besides its arguments.
    private static let headSizeInBytes = 64

    /// Connects.
    ///
    /// - Throws: ``PostgreSQLError/unreachable(reason:)``.
    init(
        _ address: PostgreSQLAddress,
        _ options: PostgreSQLOptions,
        _ interrupt: SessionInterrupt
    ) throws(PostgreSQLError) {
        connection = try PostgreSQLConnection(address, options, interrupt)
        let milliseconds = options.statementMax.milliseconds
        try execute("SET statement_timeout = \(milliseconds)")
        // A node that is gone must not keep the lock of a line.
        try execute("SET idle_in_transaction_session_timeout = \(milliseconds)")
    }
}

// MARK: - Transactions

extension PostgreSQLSession {
    func begin(_ kind: PostgreSQLTransactionKind) throws(PostgreSQLError) {
        failure = nil
        try send(kind.sql)
    }

    /// Makes a transaction durable, also when its task is cancelled now: the statements that were kept travel
    /// with the COMMIT.
    ///
    /// - Throws: Why a statement has failed, or ``PostgreSQLError/unknownOutcome`` when the connection ends on
    ///   the way.
    func commit() throws(PostgreSQLError) {
        // The answer to COMMIT would be that it is rolled back, and no error.
        guard PQtransactionStatus(connection.pointer) != PQTRANS_INERROR else {
            throw failure
                ?? .refused(sqlState: "25P02", message: "a statement of the transaction has failed")
        }
        let rows: PostgreSQLRows
        do throws(PostgreSQLError) {
            rows = try connection.ending { () throws(PostgreSQLError) in try query("COMMIT") }
        } catch .connectionLost {
            throw .unknownOutcome
        } catch {
            // The body may have swallowed an earlier failure, which is why this one has failed.
            throw failure ?? error
        }
        guard rows.command == "COMMIT" else {
            throw .refused(sqlState: "25P02", message: "the transaction was rolled back")
        }
    }

    /// Ends a transaction that has only read, and leaves the answer to the next work.
    func leave() throws(PostgreSQLError) {
        // If a statement fails, the server leaves out what is behind it.
        if !sent.isEmpty { try endBatch() }
        try send("ROLLBACK")
        try endBatch()
        (isLeaving, inheritedCount) = (true, sent.count)
    }

    /// Gives a transaction up, if there is one.
    func rollBack() {
        guard !connection.isBroken, !isLeaving else { return }
        // A connection that cannot even do this is not used again.
        // What is under way for a cancelled task is ended; the ROLLBACK is not.
        settle()
        do throws(PostgreSQLError) {
            try connection.ending { () throws(PostgreSQLError) in
                if isInTransaction { try query("ROLLBACK") }
            }
        } catch {
            connection.giveUp()
        }
    }

    /// Lets the statements of a body take as long as they take, at the end of a transaction.
    ///
    /// A server that has gone without a word is noticed by the keepalives of the connection.
    package func withoutStatementMax<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("SET LOCAL statement_timeout = 0")
        return try connection.withoutStatementMax(body)
    }

    private var isInTransaction: Bool {
        PQtransactionStatus(connection.pointer) != PQTRANS_IDLE
    }
}

// MARK: - Statements

extension PostgreSQLSession {
    /// Sends a statement, which is prepared at its first use, and does not wait for its answer.
    ///
    /// If it fails and nothing asks for the answer, ``commit()`` says so.
    @discardableResult
    package func send(
        _ sql: String,
        _ parameters: [PostgreSQLParameter] = []
    ) throws(PostgreSQLError) -> PostgreSQLAnswer {
        let pointer = connection.pointer
        if PQpipelineStatus(pointer) == PQ_PIPELINE_OFF {
            try connection.send { PQenterPipelineMode(pointer) }
        }
        let arguments = StatementArguments(parameters)
        if keptSizeInBytes > 0, keptSizeInBytes + arguments.sizeInBytes >= Self.keptSizeMax {
            try endBatch()
        }
        let name = try name(of: sql, parameters)
        try connection.send { arguments.send(to: name, on: pointer) }
        isLeaving = false
        let answer = PostgreSQLAnswer(session: self)
        sent.append(.statement(answer))
        keptSizeInBytes += arguments.sizeInBytes + Self.headSizeInBytes
        if keptSizeInBytes >= Self.keptSizeMax { try endBatch() }
        return answer
    }

    /// Runs a statement, which is prepared at its first use, and waits for its answer.
    @discardableResult
    package func query(
        _ sql: String,
        _ parameters: [PostgreSQLParameter] = []
    ) throws(PostgreSQLError) -> PostgreSQLRows {
        try send(sql, parameters).rows()
    }

    private func name(
        of sql: String,
        _ parameters: [PostgreSQLParameter]
    ) throws(PostgreSQLError) -> String {
        if let name = prepared[sql] { return name }
        if prepared.count >= Self.preparedMax {
            try execute("DEALLOCATE ALL")
            prepared = [:]
            let pointer = connection.pointer
            try connection.send { PQenterPipelineMode(pointer) }
        }
        // One that has failed may be there all the same: no name is used twice.
        preparedCount += 1
        let name = "godwit_\(preparedCount)"
        let types = parameters.map(\.type)
        try connection.send {
            PQsendPrepare(connection.pointer, name, sql, Int32(types.count), types)
        }
        sent.append(.preparation(sql: sql))
        keptSizeInBytes += sql.utf8.count + Self.headSizeInBytes
        prepared[sql] = name
        return name
    }

    /// Runs commands without arguments, outside of what travels together.
    ///
    /// - Throws: Why they have failed, or a statement that was kept before.
    func execute(_ sql: String) throws(PostgreSQLError) {
        if let failure = settle() { throw failure }
        let pointer = connection.pointer
        if PQpipelineStatus(pointer) != PQ_PIPELINE_OFF {
            try connection.sendAnyway { PQexitPipelineMode(pointer) }
        }
        try connection.send { PQsendQuery(pointer, sql) }
        batchCount += 1
        try connection.flush()
        _ = try outcome(after: nil).get()
    }
}

// MARK: - Answers

extension PostgreSQLSession {
    private func endBatch() throws(PostgreSQLError) {
        // What was kept cannot be taken back: the work that is cancelled is ended where it runs.
        try connection.sendAnyway { PQpipelineSync(connection.pointer) }
        sent.append(.end)
        batchCount += 1
        keptSizeInBytes = 0
        try connection.flush()
    }

    /// Reads the answers to all that was sent.
    ///
    /// - Returns: The first failure among them.
    @discardableResult
    fileprivate func settle() -> PostgreSQLError? {
        guard !sent.isEmpty else { return nil }
        let before = failure
        failure = nil
        defer {
            (sent, isLeaving, inheritedCount) = ([], false, 0)
            failure = before ?? failure
        }
        do throws(PostgreSQLError) {
            if case .end = sent[sent.count - 1] {} else { try endBatch() }
            try readAnswers()
        } catch {
            // No answer comes any more.
            for case .statement(let answer) in sent {
                answer.result = answer.result ?? .failure(error)
            }
            failure = failure ?? error
        }
        return failure
    }

    private func readAnswers() throws(PostgreSQLError) {
        var (batchStart, batchFailure) = (0, PostgreSQLError?.none)
        for (place, item) in sent.enumerated() {
            if case .end = item {
                try readEnd(of: sent[batchStart..<place])
                (batchStart, batchFailure) = (place + 1, nil)
                continue
            }
            let outcome = try outcome(after: batchFailure)
            if case .failure(let error) = outcome {
                batchFailure = batchFailure ?? error
                if place >= inheritedCount { failure = failure ?? error }
            }
            switch (item, outcome) {
            case (.statement(let answer), _): answer.result = outcome
            case (.preparation(let sql), .failure): prepared[sql] = nil
            default: break
            }
        }
    }

    /// Reads where a batch ends: outside of a transaction the batch is one, and is committed there.
    private func readEnd(of batch: ArraySlice<Sent>) throws(PostgreSQLError) {
        var wasEmpty = false
        while true {
            guard let result = try connection.next(until: connection.deadline) else {
                // A failure of the whole batch has an end of its own.
                guard !wasEmpty else { throw connection.lost() }
                wasEmpty = true
                continue
            }
            defer { PQclear(result) }
            guard PQresultStatus(result) != PGRES_PIPELINE_SYNC else { return }
            wasEmpty = false
            let error = connection.error(of: result)
            if connection.isBroken { throw error }
            failure = failure ?? error
            for case .statement(let answer) in batch { answer.result = .failure(error) }
        }
    }

    /// The answer to one statement.
    ///
    /// - Parameter failure: Why an earlier one has failed, if the server has left this one out.
    /// - Throws: Why no more answers come.
    private func outcome(
        after failure: PostgreSQLError?
    ) throws(PostgreSQLError) -> Result<PostgreSQLRows, PostgreSQLError> {
        var outcome: Result<PostgreSQLRows, PostgreSQLError>?
        let deadline = connection.deadline
        while let result = try connection.next(until: deadline) {
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                let rows = PostgreSQLRows(result)
                if case .failure = outcome { continue }
                outcome = .success(rows)
            case PGRES_PIPELINE_ABORTED:
                PQclear(result)
                outcome = .failure(failure ?? connection.lost())
            default:
                let error = connection.error(of: result)
                PQclear(result)
                if connection.isBroken { throw error }
                if case .failure = outcome { continue }
                outcome = .failure(error)
            }
        }
        guard let outcome else { throw connection.lost() }
        return outcome
    }
}

/// The answer to a statement: its rows, or why it has failed.
package final class PostgreSQLAnswer {
    /// Unowned, because the session keeps the answers that it waits for, and these stay on its thread.
    private unowned let session: PostgreSQLSession
    fileprivate var result: Result<PostgreSQLRows, PostgreSQLError>?

    fileprivate init(session: PostgreSQLSession) { self.session = session }

    /// Waits for the answer, and for those to all that was sent with the statement.
    package func rows() throws(PostgreSQLError) -> PostgreSQLRows {
        if result == nil { session.settle() }
        guard let result else { throw .connectionLost(reason: "the answer is missing") }
        return try result.get()
    }
}

// MARK: - Standing

extension PostgreSQLSession {
    var isBroken: Bool { connection.isBroken }

    /// Whether the next work can begin, as far as is known without asking the server.
    var isAlive: Bool { connection.isAlive && (isLeaving || !isInTransaction) }

    /// The channels and payloads of notifications that have arrived.
    func notifications() throws(PostgreSQLError) -> [(channel: String, payload: String)] {
        try connection.notifications()
    }

    /// Waits until something arrives, or the thread is woken, or a while is over.
    ///
    /// A call that came before, while the thread did something else, wakes it, too.
    ///
    /// - Returns: Whether nothing came all the while.
    func waitForNotifications(atMost duration: Duration) -> Bool {
        connection.waitForNotifications(atMost: duration)
    }
}
#endif
