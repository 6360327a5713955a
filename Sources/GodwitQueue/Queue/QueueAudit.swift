internal import GRDB
internal import GodwitStore
internal import Logging
internal import Synchronization

/// What an audit of a queue has found.
public struct QueueAudit: Hashable, Sendable {
    public struct Problem: Hashable, Sendable {
        /// nil for the queue as a whole.
        public let operation: OperationNumber?
        /// A sentence about it.
        public let text: String
    }

    public internal(set) var problems: [Problem] = []
    /// How many operations were looked at.
    public internal(set) var operationCount = 0

    /// Whether every unfinished operation has a reason to wait, or a wake-up.
    public var isSound: Bool { problems.isEmpty }
}

extension PushQueue {
    /// Compares what is known with what is stored, and proves that no operation waits without a
    /// reason or a wake-up; what is wrong is repaired, with a line in the log.
    ///
    /// There should be nothing to find: it is for tests, and for the day on which something is
    /// stuck. Nothing is written meanwhile. What another process has committed a moment ago, and
    /// this process has not seen yet, is reported too.
    ///
    /// - Complexity: O(*n* log *n*) in the unfinished operations.
    /// - Throws: ``QueueError/notTheRunner`` where several processes share the store and this one
    ///   does not run the queue: it has nothing to repair; what the store throws.
    public func audit() async throws -> QueueAudit {
        let epoch = state.withLock { $0.epoch }
        var looked: (QueueAudit, stuck: [OperationNumber])?
        while looked == nil {
            try await loadIfNeeded()
            looked = try await look()
        }
        guard let (audit, stuck) = looked else { preconditionFailure("It was looked at") }
        for problem in audit.problems {
            let place = problem.operation.map { "operation \($0) " } ?? "the queue "
            logger.warning("repaired: \(place)\(problem.text)")
        }
        if !stuck.isEmpty {
            try await store.write { transaction in
                for number in stuck { try transaction.putBack(number, of: epoch) }
            }
        }
        if !audit.isSound { change { state, _ in state.startAnew() } }
        return audit
    }

    /// - Returns: nil while the operations are being read.
    private func look() async throws -> (QueueAudit, stuck: [OperationNumber])? {
        let now = now
        return try await store.betweenCommits { [self] database in
            // A copy, so that no writer has to wait for the reading.
            let state = state.withLock { $0 }
            guard !state.isShared || state.isRunning else { throw QueueError.notTheRunner }
            guard state.isLoaded else { return nil }
            var auditor = Auditor(state, at: now)
            try LoadedQueue.read(database) { auditor.look(at: $0) }
            return auditor.finish()
        }
    }
}

/// Compares a queue in memory, piece by piece, with the one that is stored.
private struct Auditor {
    private var state: QueueState
    private let now: Moment
    private var audit = QueueAudit()
    private var stuck: [OperationNumber] = []
    private var seen: Set<OperationNumber> = []
    private var needs: [OperationNumber: Set<OperationNumber>] = [:]

    init(_ state: QueueState, at now: Moment) {
        self.state = state
        self.now = now
    }

    mutating func look(at piece: LoadedQueue.Piece) {
        switch piece {
        case .count(let count): audit.operationCount = count
        case .operations(let outlines): for outline in outlines { look(at: outline) }
        case .needs(let edges):
            for (operation, need) in edges { needs[operation, default: []].insert(need) }
        case .rest(let holds, _):
            for hold in holds where state.machine.holds[hold.operation]?[hold.context] == nil {
                let isOver = hold.until.map { $0 <= now.calendar } ?? false
                if seen.contains(hold.operation), !isOver {
                    report(hold.operation, "is held by '\(hold.context)', which memory has lost")
                }
            }
        }
    }

    private mutating func look(at outline: OperationTable.Outline) {
        let number = outline.number
        guard state.lane(of: outline.pipeline) != nil else { return }
        seen.insert(number)
        guard let position = state.machine.schedule.position(of: number) else {
            return report(number, "is stored, and not in line")
        }
        switch (outline.state, position.state) {
        case (.running, .running):
            if state.isRunning, !state.attempts.isUnderWay(number), !state.isShared {
                stuck.append(number)
                report(number, "is marked as running, and no process runs it")
            }
        case (.running, _):
            // One that could not be written down is tried again, see `gaveUp`.
            if state.machine.holds[number] == nil {
                stuck.append(number)
                report(number, "is marked as running, and waits")
            }
        case (.waiting, .running):
            if !state.attempts.isUnderWay(number) {
                report(number, "waits, and is taken for running")
            }
        case (.waiting, .waiting):
            if state.stopped[number] != nil { report(number, "waits, and is taken for a conflict") }
        case (.conflict, .waiting):
            if state.stopped[number] != .conflict {
                report(number, "is in conflict, and waits in memory")
            }
        case (.deadLetter, .parked), (.unreadable, .parked): break
        default: report(number, "is \(outline.state.rawValue), and taken for another thing")
        }
    }

    mutating func finish() -> (QueueAudit, stuck: [OperationNumber]) {
        for number in state.machine.schedule.numbers {
            guard let position = state.machine.schedule.position(of: number),
                state.isOurs(position.lane)
            else { continue }
            guard seen.contains(number) else {
                report(number, "is in line, and not stored")
                continue
            }
            if Set(position.needs) != needs[number] ?? [] {
                report(number, "waits for others than it should")
            }
            if state.isRunning, state.machine.couldStart(number, position, at: now) {
                report(number, "could run, and does not")
            }
        }
        if state.isRunning, let look = state.machine.nextLook(at: now), !state.looks(by: look) {
            report(nil, "has set no timer")
        }
        return (audit, stuck)
    }

    private mutating func report(_ number: OperationNumber?, _ text: String) {
        audit.problems.append(QueueAudit.Problem(operation: number, text: text))
    }
}

extension QueueMachine {
    /// Whether a waiting operation has no reason to wait.
    fileprivate mutating func couldStart(
        _ number: OperationNumber,
        _ position: Schedule.Position,
        at now: Moment
    ) -> Bool {
        guard position.isReady, schedule.lanes[position.lane].hasRoom else { return false }
        return mayStart(position.host, at: now)
    }
}

extension QueueState {
    /// Reads everything again, and looks at the clock.
    mutating func startAnew() {
        service?.armed = nil
        lostTrack()
    }

    /// Whether a timer is set for this time, or before.
    func looks(by time: Duration) -> Bool { service?.armed.map { $0 <= time } ?? false }
}
