internal import GodwitStore

/// All that a queue keeps in memory: the machine, and who waits for what.
///
/// A value behind one lock. What happens goes in, effects come out, and nothing is done while the
/// lock is held.
struct QueueState {
    enum Phase {
        /// Nothing is known; the database has everything.
        case unloaded
        /// The operations of some commit are being read; what is committed meanwhile is kept.
        case loading([QueueJournal.Entry])
        /// In line with every commit up to this one.
        case loaded(CommitNumber)
    }

    struct Effects {
        var starts: [OperationNumber] = []
        var delay: Duration?
        var work: AsyncStream<PushQueue.Work>.Continuation?
        var cancelled: [CancellableRun] = []
        var wakes: [@Sendable () -> Void] = []
    }

    var machine: QueueMachine
    private(set) var phase = Phase.unloaded
    /// The lane of operations that another queue runs, and some of ours need.
    private let foreignLane: Int
    private var lanes: [String: Int] = [:]
    private(set) var isRunning = false
    private var work: AsyncStream<PushQueue.Work>.Continuation?
    /// The launch that runs; what an older one has left does not count.
    private(set) var epoch: Int64 = 0
    private(set) var runs: [OperationNumber: CancellableRun] = [:]
    private(set) var progress: [OperationNumber: Double] = [:]
    /// Why an operation is parked.
    private(set) var stopped: [OperationNumber: QueuedOperation.State] = [:]
    private var waiters = Waiters()
    private var loadCount = 0
    /// Operations that were loaded and neither wait nor are in line yet.
    private var unusual: [OperationNumber: QueuedOperation.State] = [:]
    private var loadWaiters: [Waiters.Wake] = []
    var events = EventFeed()
    private var armed: Duration?
    private var touched: Set<OperationNumber> = []
    private var effects = Effects()

    static let notRunning = "the queue does not run"

    init(_ pipelines: [Pipeline], rateLimit: @escaping @Sendable (String) -> RateLimit) {
        machine = QueueMachine(rateLimit: rateLimit)
        _ = machine.host(named: nil, at: .zero)
        for pipeline in pipelines {
            lanes[pipeline.name] = machine.addLane(
                pipeline.name,
                isOrdered: pipeline.order == .commit,
                limit: pipeline.maxConcurrent,
                requirements: pipeline.requirements
            )
        }
        foreignLane = machine.addLane("", isOrdered: false, limit: 0)
        machine.suspend(foreignLane, reason: "another queue runs it")
        machine.suspend(nil, reason: Self.notRunning)
    }

    func lane(of pipeline: String) -> Int? { lanes[pipeline] }
    func isOurs(_ lane: Int) -> Bool { lane != foreignLane }
    var isLoaded: Bool { if case .loaded = phase { true } else { false } }
}

// MARK: - Loading

extension QueueState {
    /// Forgets what is known; the database has it.
    ///
    /// - Returns: Which loading this is; a later one makes it void.
    mutating func beginLoading() -> Int {
        phase = .loading([])
        loadCount += 1
        for number in machine.schedule.numbers { machine.finish(number) }
        (stopped, unusual) = ([:], [:])
        return loadCount
    }

    /// The database could not be read.
    mutating func failLoading(_ loading: Int) {
        guard loading == loadCount else { return }
        phase = .unloaded
        effects.wakes += loadWaiters
        loadWaiters = []
    }

    /// Calls `wake` when the loading that goes on has ended, one way or the other.
    ///
    /// - Returns: Whether one goes on.
    mutating func waitForLoading(_ wake: @escaping Waiters.Wake) -> Bool {
        guard case .loading = phase else { return false }
        loadWaiters.append(wake)
        return true
    }

    mutating func load(_ piece: LoadedQueue.Piece, _ loading: Int, at now: Moment) {
        guard loading == loadCount, case .loading = phase else { return }
        switch piece {
        case .count(let count): machine.reserveCapacity(count)
        case .operations(let outlines):
            for outline in outlines {
                guard let item = item(outline, needs: [], at: now) else { continue }
                machine.add(item)
                if let state = outline.state, state != .waiting { unusual[item.number] = state }
            }
        case .needs(let edges):
            for (operation, need) in edges { machine.add(need, to: operation, item: foreign) }
        case .rest(let holds, let suspensions):
            machine.admitAll()
            for (number, state) in unusual { admit(number, state) }
            unusual = [:]
            for hold in holds { self.hold(hold, isLoaded: true, at: now) }
            for (pipeline, reason) in suspensions { suspend(pipeline, reason) }
        }
    }

    /// Everything up to a commit was read; what came meanwhile follows.
    mutating func endLoading(_ loading: Int, through commit: CommitNumber, at now: Moment) {
        guard loading == loadCount, case .loading(let entries) = phase else { return }
        effects.wakes += loadWaiters
        loadWaiters = []
        phase = .loaded(commit)
        for entry in entries where entry.commit > commit {
            phase = .loaded(entry.commit)
            for change in entry.changes { take(change, at: now) }
        }
        effects.wakes += waiters.recount { [self] in left(through: $0) }
    }

    private mutating func admit(_ number: OperationNumber, _ state: QueuedOperation.State) {
        if state == .running { machine.adoptRunning(number) } else { stop(number, state) }
    }

    private func foreign(_ number: OperationNumber) -> Schedule.Item {
        Schedule.Item(number: number, commit: number.commit, lane: foreignLane)
    }

    /// What the schedule has to know; nil when another queue runs the operation.
    private mutating func item(
        _ outline: OperationTable.Outline,
        needs: [OperationNumber],
        at now: Moment
    ) -> Schedule.Item? {
        guard let lane = lanes[outline.pipeline] else { return nil }
        return Schedule.Item(
            number: outline.number,
            commit: outline.commit,
            lane: lane,
            host: machine.host(named: outline.host, at: now),
            priority: outline.priority,
            isOrdered: outline.keepsOrder,
            needs: needs
        )
    }
}

// MARK: - What was committed

extension QueueState {
    mutating func take(_ entry: QueueJournal.Entry, at now: Moment) {
        for change in entry.changes { effects.wakes += events.announce(change) }
        switch phase {
        case .unloaded: break
        case .loading(let entries): phase = .loading(entries + [entry])
        case .loaded:
            phase = .loaded(entry.commit)
            for change in entry.changes { take(change, at: now) }
        }
    }

    private mutating func take(_ change: QueueChange, at now: Moment) {
        switch change {
        case .enqueued(let new):
            for need in new.needs where !machine.schedule.contains(need) {
                if lanes[new.outline.pipeline] != nil { machine.insert([foreign(need)]) }
            }
            guard let item = item(new.outline, needs: new.needs, at: now) else { return }
            machine.insert([item])
            touch(item.number)
        case .finished(let number, _, _):
            finish(number)
        case .requeued(let number):
            runs[number] = nil
            progress[number] = nil
            machine.requeue(number)
            touch(number)
        case .stopped(let number, let state):
            stop(number, state)
        case .resumed(let number):
            stopped[number] = nil
            machine.unpark(number)
            machine.release(number, Self.conflictContext)
            touch(number)
        case .reprioritized(let number, let priority):
            machine.modify(number, priority: priority, needs: nil)
        case .needsChanged(let number, let needs):
            guard machine.schedule.contains(number) else { return }
            for need in needs where !machine.schedule.contains(need) {
                machine.insert([foreign(need)])
            }
            machine.modify(number, priority: nil, needs: needs)
            touch(number)
        case .held(let row): hold(row, isLoaded: false, at: now)
        case .released(let number, let context):
            machine.release(number, context)
            touch(number)
        case .suspended(let pipeline, let reason): suspend(pipeline ?? PipelineTable.all, reason)
        case .unsuspended(let pipeline, let reason): resume(pipeline ?? PipelineTable.all, reason)
        }
    }

    private mutating func finish(_ number: OperationNumber) {
        if let run = runs.removeValue(forKey: number) { effects.cancelled.append(run) }
        progress[number] = nil
        stopped[number] = nil
        machine.finish(number)
        touch(number)
        effects.wakes += waiters.gone(number)
    }

    /// A conflict keeps its place in the line, and its commit open; a dead letter does not.
    private mutating func stop(_ number: OperationNumber, _ state: QueuedOperation.State) {
        if let run = runs.removeValue(forKey: number) { effects.cancelled.append(run) }
        progress[number] = nil
        stopped[number] = state
        touch(number)
        if state.isDeadLetter {
            machine.park(number)
            effects.wakes += waiters.gone(number)
        } else {
            machine.requeue(number)
            machine.hold(
                number,
                .init(context: Self.conflictContext, deadline: .never),
                at: .zero
            )
        }
    }

    static let conflictContext = "godwit.conflict"

    private mutating func hold(_ row: HoldTable.Row, isLoaded: Bool, at now: Moment) {
        let deadline: Deadline
        switch (row.until, row.delay) {
        case (let until?, let delay?):
            // The calendar may have jumped since: a delay never takes longer than it was long.
            let left = isLoaded ? min(max(until &- now.calendar, 0), delay) : delay
            deadline = .elapsed(now.elapsed + .milliseconds(left))
        case (let until?, nil): deadline = .calendar(until)
        case (nil, _): deadline = .never
        }
        machine.hold(row.operation, .init(context: row.context, deadline: deadline), at: now)
        touch(row.operation)
    }

    private mutating func suspend(_ pipeline: String, _ reason: String) {
        if pipeline == PipelineTable.all {
            machine.suspend(nil, reason: reason)
        } else if let lane = lanes[pipeline] {
            machine.suspend(lane, reason: reason)
        }
    }

    private mutating func resume(_ pipeline: String, _ reason: String) {
        if pipeline == PipelineTable.all {
            machine.resume(nil, reason: reason)
        } else if let lane = lanes[pipeline] {
            machine.resume(lane, reason: reason)
        }
    }
}

// MARK: - What happens here

extension QueueState {
    mutating func began(epoch: Int64, _ work: AsyncStream<PushQueue.Work>.Continuation) {
        self.epoch = epoch
        self.work = work
        isRunning = true
        armed = nil
        machine.resume(nil, reason: Self.notRunning)
    }

    mutating func ended() {
        guard isRunning else { return }
        isRunning = false
        work = nil
        machine.suspend(nil, reason: Self.notRunning)
    }

    /// Changes what only memory knows: limits, suspensions, conditions.
    mutating func control(_ body: (inout QueueMachine, (String) -> Int?) -> Void) {
        let lanes = lanes
        body(&machine) { lanes[$0] }
    }

    mutating func started(_ number: OperationNumber, _ run: CancellableRun) {
        runs[number] = run
        events.yield(.started(number))
        touch(number)
    }

    mutating func succeeded(_ number: OperationNumber) { machine.succeeded(number) }

    mutating func throttled(_ number: OperationNumber, for delay: Duration?, at now: Moment) {
        machine.throttled(number, until: delay.map { now.elapsed + $0 }, at: now)
    }

    mutating func progressed(_ number: OperationNumber, to fraction: Double) {
        guard runs[number] != nil else { return }
        progress[number] = fraction
        touch(number)
    }

    /// An attempt ended without a trace in the database: it waits, and is tried again.
    mutating func gaveUp(_ number: OperationNumber, retryAfter delay: Duration, at now: Moment) {
        runs[number] = nil
        progress[number] = nil
        machine.hold(
            number,
            .init(context: HoldTable.retryContext, deadline: .elapsed(now.elapsed + delay)),
            at: now
        )
        machine.requeue(number)
        touch(number)
    }

    /// Calls `wake` when no operation of this commit, or of an earlier one, is left in line.
    mutating func wait(through commit: CommitNumber, _ wake: @escaping Waiters.Wake) {
        let left = left(through: commit)
        // Nothing is known yet: it is counted when the queue is read.
        if isLoaded, left.isEmpty { return effects.wakes.append(wake) }
        waiters.add(commit, left, wake)
    }

    private func left(through commit: CommitNumber) -> Set<OperationNumber> {
        Set(
            machine.schedule.numbers.filter { number in
                guard let position = machine.schedule.position(of: number) else { return false }
                return position.commit <= commit && isOurs(position.lane)
                    && position.state != .parked
            }
        )
    }

    mutating func stopWaiting() { effects.wakes += waiters.removeAll() }

    private mutating func touch(_ number: OperationNumber) {
        if events.isWatched(number) { touched.insert(number) }
    }

    private mutating func tellWatchers(at now: Moment) {
        for number in touched where machine.schedule.contains(number) {
            events.tell(number, status(of: number, at: now))
        }
        touched = []
        if events.wantsSummary { events.tell(summary) }
    }

    mutating func takeEffects(at now: Moment) -> Effects {
        if isRunning, isLoaded {
            effects.work = work
            effects.starts = machine.start(at: now)
            let next = machine.nextLook(at: now)
            if let next, armed.map({ next < $0 || $0 <= now.elapsed }) ?? true {
                armed = next
                effects.delay = max(next - now.elapsed, .zero)
            }
        }
        tellWatchers(at: now)
        defer { effects = Effects() }
        return effects
    }
}
