#if PostgreSQL
internal import CLibpq
internal import Dispatch
internal import Foundation

/// A connection of libpq, which waits up to a deadline, or until the work is cancelled.
///
/// It is not Sendable: the one thread that has its ``PostgreSQLSession`` uses it.
final class PostgreSQLConnection {
    let pointer: OpaquePointer
    private let interrupt: SessionInterrupt
    private let options: PostgreSQLOptions
    private(set) var isBroken = false
    /// Whether the work goes on although it is cancelled, because it is at its end.
    private var isEnding = false
    /// For how long the server may work on a statement; nil for as long as it takes.
    private var statementMax: Duration?

    /// - Throws: ``PostgreSQLError/unreachable(reason:)``.
    init(
        _ address: PostgreSQLAddress,
        _ options: PostgreSQLOptions,
        _ interrupt: SessionInterrupt
    ) throws(PostgreSQLError) {
        (self.interrupt, self.options) = (interrupt, options)
        statementMax = options.statementMax
        pointer = try address.open(options)
    }

    deinit { PQfinish(pointer) }

    /// Runs a body that no cancellation ends.
    func ending<Result>(
        _ body: () throws(PostgreSQLError) -> Result
    ) throws(PostgreSQLError) -> Result {
        isEnding = true
        defer { isEnding = false }
        return try body()
    }

    /// Runs a body whose statements take as long as they take.
    func withoutStatementMax<Result>(_ body: () throws -> Result) rethrows -> Result {
        statementMax = nil
        defer { statementMax = options.statementMax }
        return try body()
    }

    func giveUp() { isBroken = true }
}

// MARK: - Sending

extension PostgreSQLConnection {
    /// Hands something to libpq, which keeps it until ``flush()``.
    ///
    /// - Throws: ``PostgreSQLError/timedOut`` if the work is cancelled.
    func send(_ body: () -> Int32) throws(PostgreSQLError) {
        guard isEnding || !interrupt.isCancelled else { throw .timedOut }
        try sendAnyway(body)
    }

    /// Hands something to libpq, also if the work is cancelled.
    func sendAnyway(_ body: () -> Int32) throws(PostgreSQLError) {
        guard !isBroken else { throw .connectionLost(reason: "it was lost before") }
        guard body() == 1 else { throw lost() }
    }

    /// Waits until the server has taken what was sent: libpq keeps what the socket has no room for.
    func flush() throws(PostgreSQLError) {
        let deadline = deadline
        while true {
            switch PQflush(pointer) {
            case 0: return
            case 1: break
            default: throw lost()
            }
            guard isEnding || !interrupt.isCancelled else {
                // The server has a part of the statement, and waits for the rest for ever; it may also be at an
                // earlier one.
                _ = cancel()
                isBroken = true
                throw .timedOut
            }
            try wait(for: POLLIN | POLLOUT, until: deadline)
        }
    }
}

// MARK: - Receiving

extension PostgreSQLConnection {
    /// The next result, which the caller frees; nil when a statement has no more.
    ///
    /// - Parameter deadline: When the server must have answered.
    func next(
        until deadline: ContinuousClock.Instant?
    ) throws(PostgreSQLError) -> OpaquePointer? {
        var nextCancel = ContinuousClock.now
        try wait(until: deadline, &nextCancel)
        return PQgetResult(pointer)
    }

    /// Waits until the next result can be taken without waiting.
    ///
    /// - Parameter nextCancel: When to ask for the end of the statement, if the work is cancelled.
    private func wait(
        until deadline: ContinuousClock.Instant?,
        _ nextCancel: inout ContinuousClock.Instant
    ) throws(PostgreSQLError) {
        while PQisBusy(pointer) != 0 {
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
    var deadline: ContinuousClock.Instant? {
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
        guard PQconsumeInput(pointer) == 1 else { throw lost() }
    }

    /// Waits for events of the connection, for an interrupt, or for a while.
    ///
    /// - Returns: Whether it was one of the first two.
    @discardableResult
    private func poll(for events: Int32, atMost duration: Duration) -> Bool {
        var descriptors = [
            pollfd(fd: PQsocket(pointer), events: Int16(events), revents: 0),
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
        guard let request = PQgetCancel(pointer) else { return true }
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
}

// MARK: - Failures

extension PostgreSQLConnection {
    func lost() -> PostgreSQLError {
        isBroken = true
        let reason = String(cString: PQerrorMessage(pointer))
        return .connectionLost(reason: reason.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// States after which another connection is needed: to a primary that is none any more and keeps its
    /// connections, and where a transaction was idle or open for too long.
    private static let endingStates: Set<String> = ["25006", "25P03", "25P04"]

    func error(of result: OpaquePointer) -> PostgreSQLError {
        let message = String(cString: PQresultErrorMessage(result))
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let field: UnsafePointer<CChar>? = PQresultErrorField(result, Int32(UInt8(ascii: "C")))
            .flatMap { UnsafePointer($0) }
        let state = field.map { String(cString: $0) }
        guard PQstatus(pointer) == CONNECTION_OK, let state, !state.hasPrefix("57P"),
            !state.hasPrefix("08")
        else {
            isBroken = true
            return .connectionLost(reason: message)
        }
        if Self.endingStates.contains(state) {
            isBroken = true
            return .connectionLost(reason: message)
        }
        // The server's own timer, or this program's request, has ended the statement.
        return state == "57014" ? .timedOut : .refused(sqlState: state, message: message)
    }
}

// MARK: - Standing

extension PostgreSQLConnection {
    /// Whether the connection is not known to have ended, without asking the server.
    var isAlive: Bool {
        !isBroken && PQconsumeInput(pointer) == 1 && PQstatus(pointer) == CONNECTION_OK
    }

    /// The channels and payloads of notifications that have arrived.
    func notifications() throws(PostgreSQLError) -> [(channel: String, payload: String)] {
        guard PQconsumeInput(pointer) == 1 else { throw lost() }
        var found: [(channel: String, payload: String)] = []
        while let notification = PQnotifies(pointer) {
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
