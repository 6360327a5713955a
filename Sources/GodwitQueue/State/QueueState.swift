internal import GodwitStore

/// All that a queue keeps in memory: the machine, and who waits for what.
///
/// A value behind one lock. What happens goes in, effects come out, and nothing is done while the
/// lock is held.
struct QueueState {
    /// What is under way while the queue runs.
    struct Service {
        let work: AsyncStream<QueueWork>.Continuation
        /// When the next sleeper looks again.
        var armed: Duration?
    }

    struct Effects {
        var starts: [OperationNumber] = []
        var delay: Duration?
        var needsLoading = false
        var mustStop = false
        var work: AsyncStream<QueueWork>.Continuation?
        var cancelled: [CancellableRun] = []
        var wakes: [@Sendable () -> Void] = []
    }

    var machine: QueueMachine
    var known = KnownCommits()
    /// Nil while the queue does not run.
    var service: Service?
    /// The launch that runs, or ran last; what an older one has left does not count.
    private(set) var epoch: Int64 = 0
    /// The lane of operations that another queue runs, and some of ours need.
    let foreignLane: Int
    var lanes: [String: Int] = [:]
    var suspensions = Suspensions()
    var attempts = Attempts()
    /// Why an operation is parked.
    var stopped = Stopped()
    var waiters = Waiters()
    var events = EventFeed()
    private var touched: Set<OperationNumber> = []
    var effects = Effects()

    /// Whether other processes may run operations.
    let isShared: Bool

    static let notRunning = "the queue does not run"

    init(
        _ pipelines: [Pipeline],
        isShared: Bool = false,
        rateLimit: @escaping @Sendable (String) -> RateLimit
    ) {
        self.isShared = isShared
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
    var isUnloaded: Bool { if case .unloaded = known.phase { true } else { false } }
    var isLoaded: Bool { if case .loaded = known.phase { true } else { false } }
    var isRunning: Bool { service != nil }
}

// MARK: - What was committed

extension QueueState {
    mutating func take(_ entry: QueueJournal.Entry, at now: Moment) {
        for change in entry.changes { effects.wakes += events.announce(change) }
        if known.keep(entry) { return endRuns(in: entry) }
        guard entry.commit > known.through else { return requeueEnded(in: entry) }
        known.phase = .loaded(entry.commit)
        for change in entry.changes { take(change, at: now) }
    }

    mutating func take(_ change: QueueChange, at now: Moment) {
        switch change {
        case .enqueued(let new):
            guard !machine.schedule.contains(new.outline.number) else { return }
            for need in new.needs where !machine.schedule.contains(need) {
                if lanes[new.outline.pipeline] != nil { machine.insert([foreign(need)]) }
            }
            guard let item = item(new.outline, needs: new.needs, at: now) else { return }
            machine.insert([item])
            touch(item.number)
        case .started(let number):
            machine.adoptRunning(number)
            touch(number)
        case .finished(let number, _, _):
            finish(number)
        case .requeued(let number):
            attempts.endRun(number)
            machine.requeue(number)
            touch(number)
        case .stopped(let number, let state):
            stop(number, state)
        case .resumed(let number):
            stopped[number] = nil
            machine.unpark(number)
            machine.release(number, QueueMachine.conflictContext)
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
        case .reordered: break  // Each pipeline knows its own.
        case .suspended(let pipeline, let reason):
            suspend(StoredSuspension(pipeline: pipeline ?? PipelineTable.all, reason: reason))
        case .unsuspended(let pipeline, let reason):
            let suspension = StoredSuspension(
                pipeline: pipeline ?? PipelineTable.all,
                reason: reason
            )
            note(resumed: suspension, at: now)
        }
    }

    /// A pipeline goes on; requests that were sent before say nothing about it any more.
    mutating func note(resumed suspension: StoredSuspension, at now: Moment) {
        suspensions.note(resumed: suspension.pipeline, at: now.elapsed)
        resume(suspension)
    }

    /// Cancels what an executor does for an operation.
    mutating func cancelRun(_ number: OperationNumber) {
        if let run = attempts.endRun(number) { effects.cancelled.append(run) }
    }

    /// Cancels what is done for an operation in this process and outside of it.
    private mutating func cancelAttempt(_ number: OperationNumber) {
        cancelRun(number)
        if let transfer = attempts.endTransfer(number) { effects.cancelled.append(transfer) }
    }

    mutating func finish(_ number: OperationNumber) {
        cancelAttempt(number)
        stopped[number] = nil
        machine.finish(number)
        touch(number)
        waiters.gone(number)
    }

    /// A conflict keeps its place in the line, and its commit open; a dead letter does not.
    mutating func stop(_ number: OperationNumber, _ state: QueuedOperation.State) {
        cancelAttempt(number)
        guard machine.schedule.contains(number) else { return }
        stopped[number] = state
        touch(number)
        if state.isDeadLetter {
            machine.park(number)
            waiters.gone(number)
        } else {
            machine.requeue(number)
            machine.hold(
                number,
                .init(context: QueueMachine.conflictContext, deadline: .never),
                at: .zero
            )
        }
    }

    mutating func hold(_ row: HoldTable.Row, isLoaded: Bool, at now: Moment) {
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

    mutating func suspend(_ suspension: StoredSuspension) {
        guard suspensions.stored.insert(suspension).inserted else { return }
        if suspension.isOfAll {
            machine.suspend(nil, reason: suspension.reason)
        } else if let lane = lanes[suspension.pipeline] {
            machine.suspend(lane, reason: suspension.reason)
        }
    }

    mutating func resume(_ suspension: StoredSuspension) {
        guard suspensions.stored.remove(suspension) != nil else { return }
        if suspension.isOfAll {
            machine.resume(nil, reason: suspension.reason)
        } else if let lane = lanes[suspension.pipeline] {
            machine.resume(lane, reason: suspension.reason)
        }
    }
}

// MARK: - What happens here

extension QueueState {
    mutating func began(epoch: Int64, _ work: AsyncStream<QueueWork>.Continuation) {
        self.epoch = epoch
        service = Service(work: work)
        // Another process may have made void what was read for this.
        effects.needsLoading = isUnloaded
        // A transfer may have been marked active since the queue was read.
        adoptOwnRuns()
        machine.resume(nil, reason: Self.notRunning)
    }

    /// Another process runs the queue.
    mutating func loseLease() { effects.mustStop = true }

    mutating func ended() {
        guard isRunning else { return }
        service = nil
        attempts.endRuns()
        machine.suspend(nil, reason: Self.notRunning)
    }

    /// Changes what only memory knows: limits, suspensions, conditions.
    mutating func control(_ body: (inout QueueMachine, (String) -> Int?) -> Void) {
        let lanes = lanes
        body(&machine) { lanes[$0] }
    }

    mutating func started(_ number: OperationNumber, _ run: CancellableRun) {
        // It may have been taken away between the claim and now.
        guard machine.schedule.position(of: number)?.state == .running else {
            attempts.giveUp(number)
            return effects.cancelled.append(run)
        }
        if isRunning { attempts.begin(number, run) }
        events.yield(.started(number))
        touch(number)
    }

    mutating func succeeded(_ host: String?, at now: Moment) {
        machine.succeeded(machine.host(named: host, at: now))
    }

    mutating func throttled(_ operation: QueuedOperation, for delay: Duration?, at now: Moment) {
        let host = machine.host(named: operation.host, at: now)
        let end = delay.map { now.elapsed + $0 }
        machine.throttled(host, by: operation.number, until: end, at: now)
    }

    mutating func progressed(_ number: OperationNumber, to fraction: Double) {
        attempts.report(fraction, of: number)
        touch(number)
    }

    /// An attempt ended without a trace in the database: it waits, and is tried again.
    mutating func gaveUp(_ number: OperationNumber, retryAfter delay: Duration, at now: Moment) {
        attempts.giveUp(number)
        machine.hold(
            number,
            .init(context: HoldTable.retryContext, deadline: .elapsed(now.elapsed + delay)),
            at: now
        )
        machine.requeue(number)
        touch(number)
    }

    /// An attempt was none, and was not cancelled: the next one does not come at once, unless
    /// something else keeps it back.
    mutating func postpone(_ number: OperationNumber, for delay: Duration, at now: Moment) {
        guard attempts.hasBegun(number), let lane = machine.schedule.position(of: number)?.lane,
            !machine.schedule.lanes[lane].isSuspended
        else { return }
        machine.hold(
            number,
            .init(context: HoldTable.retryContext, deadline: .elapsed(now.elapsed + delay)),
            at: now
        )
    }

    /// Calls `wake` when no operation of this commit, or of an earlier one, is left in line.
    mutating func wait(
        _ id: Waiters.ID,
        through commit: CommitNumber,
        _ wake: @escaping Waiters.Wake
    ) {
        let left = left(through: commit)
        effects.wakes += waiters.add(id, commit, left, wake)
        // Nothing is known before the queue is read: then it is counted.
        if isLoaded, left.isEmpty { effects.wakes += waiters.recount(self.left) }
    }

    mutating func cancelWait(_ id: Waiters.ID) { effects.wakes += waiters.cancel(id) }

    func left(through commit: CommitNumber) -> Set<OperationNumber> {
        Set(
            machine.schedule.numbers.filter { number in
                guard let position = machine.schedule.position(of: number) else { return false }
                return position.commit <= commit && isOurs(position.lane)
                    && position.state != .parked
            }
        )
    }

    mutating func stopWaiting() { effects.wakes += waiters.stop() }

    mutating func touch(_ number: OperationNumber) {
        if events.isWatched(number) { touched.insert(number) }
    }

    private mutating func tellWatchers(at now: Moment) {
        for number in touched where machine.schedule.contains(number) {
            events.tell(number, status(of: number, at: now))
        }
        touched = []
        if events.wantsSummary { events.tell(summary) }
        events.tickAll()
    }

    mutating func takeEffects(at now: Moment) -> Effects {
        if waiters.isDue, isLoaded {
            effects.wakes += waiters.recountDue { [self] in left(through: $0) }
        }
        effects.work = service?.work
        if let service, isLoaded {
            effects.starts = machine.start(at: now)
            attempts.claim(effects.starts)
            let next = machine.nextLook(at: now)
            if let next, service.armed.map({ next < $0 || $0 <= now.elapsed }) ?? true {
                self.service?.armed = next
                effects.delay = max(next - now.elapsed, .zero)
            }
        }
        tellWatchers(at: now)
        defer { effects = Effects() }
        return effects
    }
}
