#if PostgreSQL
internal import GodwitStore
internal import Synchronization

/// A bounded number of connections, which tasks use one after the other, in the order they came.
final class PostgreSQLPool: Sendable {
    private typealias Waiter = CheckedContinuation<SessionThread?, any Error>

    private struct State {
        /// Connections that no task uses, the one that was used last at the end.
        var idle: [SessionThread] = []
        /// The connections that are open, or that a task has leave to open.
        var openCount = 0
        var waiting: [(ticket: Int, waiter: Waiter)] = []
        /// Tasks that were cancelled before they began to wait.
        var cancelled: Set<Int> = []
        var ticket = 0
        var isClosed = false
        var hasAnswered = false
    }

    private enum Outcome<Result: Sendable>: Sendable {
        /// The connection had ended before; the body did not run.
        case dead
        case done(Swift.Result<Result, any Error>, isSound: Bool)
    }

    private let state = Mutex(State())
    private let address: PostgreSQLAddress
    private let options: PostgreSQLOptions

    init(_ address: PostgreSQLAddress, _ options: PostgreSQLOptions) {
        (self.address, self.options) = (address, options)
    }

    deinit { close() }

    /// Whether a body has run on a connection.
    var hasAnswered: Bool { state.withLock(\.hasAnswered) }

    /// How many connections are open, and how many of them no task uses.
    var counts: (open: Int, idle: Int, waiting: Int) {
        state.withLock { ($0.openCount, $0.idle.count, $0.waiting.count) }
    }

    /// Runs a body on the thread of a connection that no other task uses.
    ///
    /// A transaction that the body leaves open is rolled back.
    ///
    /// - Throws: ``PostgreSQLError``, `CancellationError`, and what the body throws.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Result
    ) async throws -> Result {
        while true {
            let lane = try await take()
            let asks = options.clock.elapsed() - lane.lastUse > options.idleMax
            let outcome = await lane.run { Self.outcome(of: body, on: $0, asking: asks) }
            switch outcome {
            case .dead: giveBack(lane, isSound: false)
            case .done(let result, let isSound):
                giveBack(lane, isSound: isSound)
                if Task.isCancelled, case .failure(PostgreSQLError.timedOut) = result {
                    throw CancellationError()
                }
                return try result.get()
            }
        }
    }

    private static func outcome<Result: Sendable>(
        of body: (PostgreSQLSession) throws -> Result,
        on session: PostgreSQLSession,
        asking: Bool
    ) -> Outcome<Result> {
        guard session.isAlive else { return .dead }
        if asking {
            do throws(PostgreSQLError) { try session.execute("SELECT 1") } catch {
                if session.isBroken { return .dead }
            }
        }
        let result = Swift.Result { try body(session) }
        session.rollBack()
        return .done(result, isSound: session.isAlive)
    }

    /// Ends the connections that no task uses, and the others when their tasks are done.
    func close() {
        let (idle, waiting) = state.withLock { state in
            defer { (state.idle, state.waiting, state.isClosed) = ([], [], true) }
            state.openCount -= state.idle.count
            return (state.idle, state.waiting)
        }
        for lane in idle { lane.end() }
        for (_, waiter) in waiting { waiter.resume(throwing: PostgreSQLError.closed) }
    }

    // MARK: Taking turns

    private func take() async throws -> SessionThread {
        if let lane = try await place() {
            return lane
        }
        do {
            let lane = try await SessionThread.connect(to: address, options)
            lane.lastUse = options.clock.elapsed()
            return lane
        } catch {
            giveBack(nil, isSound: false)
            throw error
        }
    }

    /// A connection, or nil with the leave to open one.
    private func place() async throws -> SessionThread? {
        let ticket = state.withLock { state in
            state.ticket += 1
            return state.ticket
        }
        defer { state.withLock { _ = $0.cancelled.remove(ticket) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let answer: Swift.Result<SessionThread?, any Error>? = state.withLock { state in
                    if state.isClosed { return .failure(PostgreSQLError.closed) }
                    if state.cancelled.remove(ticket) != nil {
                        return .failure(CancellationError())
                    }
                    if let lane = state.idle.popLast() { return .success(lane) }
                    if state.openCount < options.connectionMax {
                        state.openCount += 1
                        return .success(nil)
                    }
                    guard state.waiting.count < options.waitingMax else {
                        return .failure(PostgreSQLError.busy(waitingMax: options.waitingMax))
                    }
                    state.waiting.append((ticket, waiter))
                    return nil
                }
                if let answer { waiter.resume(with: answer) }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    private func cancel(_ ticket: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                // It has not begun to wait, or is done with it.
                state.cancelled.insert(ticket)
                return nil
            }
            return state.waiting.remove(at: place).waiter
        }
        waiter?.resume(throwing: CancellationError())
    }

    /// Hands a connection to the task that waits longest, or leave to open one instead of it.
    private func giveBack(_ lane: SessionThread?, isSound: Bool) {
        let lane = isSound ? lane : ended(lane)
        lane?.lastUse = options.clock.elapsed()
        let (waiter, isClosed) = state.withLock { state -> (Waiter?, Bool) in
            if isSound { state.hasAnswered = true }
            if state.isClosed {
                state.openCount -= 1
                return (nil, true)
            }
            if !state.waiting.isEmpty { return (state.waiting.removeFirst().waiter, false) }
            if let lane { state.idle.append(lane) } else { state.openCount -= 1 }
            return (nil, false)
        }
        if isClosed { lane?.end() }
        waiter?.resume(returning: lane)
    }

    private func ended(_ lane: SessionThread?) -> SessionThread? {
        lane?.end()
        return nil
    }
}
#endif
