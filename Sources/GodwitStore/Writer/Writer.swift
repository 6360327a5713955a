internal import Foundation
internal import GRDB
internal import Synchronization

/// Carries out the requests of the queue on the one connection that writes.
///
/// Groups run outside of the requesters' tasks: a task that is cancelled takes its own request
/// out of the queue, and interrupts no other one.
final class Writer: Sendable {
    let lanes: DatabaseLanes
    let context: StoreContext
    private let queue = Mutex(WriteQueue())
    private let done = Mutex((requests: 0, groups: 0))
    /// The first failure of a request that no task awaits, for the next flush.
    private let unheard = Mutex<(any Error)?>(nil)
    /// How one task's writes follow each other.
    private let pace = Mutex(WritePace())
    let checkpointer: Checkpointer
    private let lock: ProcessLock?
    /// Which transaction the connection is in, as far as the store has to do with it.
    let current = Mutex(CurrentTransaction.none)

    init(
        _ lanes: DatabaseLanes,
        _ context: StoreContext,
        checkpointer: Checkpointer,
        lock: ProcessLock?
    ) {
        self.lanes = lanes
        self.context = context
        self.checkpointer = checkpointer
        self.lock = lock
    }

    /// How many requests wait, and what was done so far.
    var counts: (waiting: Int, requests: Int, groups: Int) {
        let done = done.withLock { $0 }
        return (queue.withLock { $0.count }, done.requests, done.groups)
    }

    func submit(_ request: any WriteRequest) throws(StoreError) {
        let queueMax = context.options.limits.queueMax
        let (result, count) = queue.withLock { queue -> (Result<Bool, StoreError>, Int) in
            let result = Result { () throws(StoreError) in
                try queue.append(request, max: queueMax)
            }
            return (result, queue.count)
        }
        context.metrics.waiting(count)
        if try result.get() { startDrain() }
    }

    /// Runs what was submitted before this returns.
    func drainNow() { lanes.database.writeWithoutTransaction { drain($0) } }

    /// Takes out a request whose task was cancelled before its turn.
    func cancel(_ request: any WriteRequest) {
        if queue.withLock({ $0.remove(request) }) { fail(request, CancellationError()) }
    }

    /// Stops taking requests, and returns when the open group is committed.
    func suspend() async {
        queue.withLock { $0.suspend() }
        await withCheckedContinuation { continuation in
            lanes.enqueue { _ in continuation.resume() }
        }
    }

    func resume() {
        if queue.withLock({ $0.resume() }) { startDrain() }
    }

    /// Refuses further requests; those that wait fail.
    func close() {
        for request in queue.withLock({ $0.close(.closed) }) { fail(request, StoreError.closed) }
    }

    /// The first failure since the last call of a request that no task awaited when it failed.
    func takeUnheard() -> (any Error)? { unheard.withLock { $0.take() } }

    private func fail(_ request: any WriteRequest, _ error: any Error) {
        if !request.fail(error) { unheard.withLock { $0 = $0 ?? error } }
    }

    private func startDrain() {
        lanes.enqueue { [self] in drain($0) }
    }
}

extension Writer {
    /// Runs one group, and gets in line again for the next one: views and the app's own
    /// transactions use the same connection.
    private func drain(_ database: Database) {
        guard let first = queue.withLock({ $0.takeFirst() }) else { return }
        lock?.acquire()
        let start = ContinuousClock.now
        let requestCount = runGroup(startingWith: first, in: database)
        let lingerTime = pace.withLock { $0.noteGroup(of: requestCount, from: start, to: .now) }
        checkpoint {
            if queue.withLock({ $0.isEmpty }) {
                try checkpointer.whenIdle(after: requestCount, in: database)
            } else {
                try checkpointer.afterGroup(in: database)
            }
        }
        lock?.release()
        let counts = context.cache.withVersions { $0.counts }
        context.metrics.stands(walPageCount: checkpointer.walPages, cache: counts)
        linger(lingerTime)
        checkpoint { try checkpointer.leaveDurable(database) }
        startDrain()
    }

    /// Runs `body` between two groups; no other process writes or checkpoints meanwhile.
    func betweenGroups(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        try await lanes.write { [self] database in
            lock?.acquire()
            defer { lock?.release() }
            do {
                try body(database)
            } catch {
                let error = context.translated(error)
                if let reason = error.lostSync { poison(reason) }
                throw error
            }
        }
    }

    /// Stays a moment for the next write of a task that has just got its answer.
    ///
    /// The thread does not yield: Linux would count each yield as a whole time slice, and a busy machine would
    /// then make the next writes wait for seconds.
    private func linger(_ time: Duration) {
        // A simulation decides itself which piece of work comes next.
        guard lanes.scheduler == nil else { return }
        let end = ContinuousClock.now + time
        while queue.withLock({ $0.isEmpty }), ContinuousClock.now < end {}
    }

    /// A checkpoint that fails has lost nothing, the WAL still has everything; but a sync that
    /// failed may take back what was committed without one.
    private func checkpoint(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            if let reason = context.translated(error).lostSync { poison(reason) }
        }
    }

    /// - Returns: How many requests the group has had.
    private func runGroup(startingWith first: any WriteRequest, in database: Database) -> Int {
        abandonJoined(in: database)
        current.withLock { $0 = .own }
        defer { current.withLock { $0 = .none } }
        let (start, limits) = (context.options.clock.elapsed(), context.limits)
        let group: WriteGroup
        do {
            try checkpointer.prepare(first.durability, in: database)
            // Through GRDB, so that the app's observers hear of it; cached, unlike GRDB's own.
            try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
            try context.catchUp(in: database)
            group = try WriteGroup(database, context, durability: first.durability)
        } catch {
            if database.isInsideTransaction { try? database.rollback() }
            fail(first, context.translated(error))
            return 1
        }
        var next: (any WriteRequest)? = first
        while let request = next {
            do {
                try group.add(request)
            } catch {
                let error = context.translated(error)
                fail(request, error)
                // A full disk, say, rolls the whole transaction back; so does SQLite itself.
                if !database.isInsideTransaction || group.members.isEmpty {
                    abandon(group, error)
                    return 1
                }
            }
            group.age(context.options.clock.elapsed() - start)
            let isFull = limits.isFull(group.size)
            next = isFull ? nil : queue.withLock { $0.takeNext(joining: group.durability) }
        }
        commit(group)
        context.metrics.finished(group, took: context.options.clock.elapsed() - start)
        return group.members.count
    }

    /// Whether commits may lie in the WAL that no sync has followed: other processes do not tell.
    private var hasUnsynced: Bool {
        checkpointer.hasUnsynced || context.options.processes == .several
    }

    private func commit(_ group: WriteGroup) {
        let (database, cache) = (group.database, context.cache)
        do {
            if !group.isEmpty {
                try group.record()
                let pasts = group.takePasts()
                cache.withVersions { $0.offer(pasts) }
                context.beginCommit()
            } else if group.isFlush, hasUnsynced {
                // A commit that writes a page syncs the whole WAL; a checkpoint syncs nothing while
                // a reader is in its way.
                try Ledger.rewrite(group.last, in: database)
            }
            try database.cachedStatement(sql: "COMMIT").execute()
        } catch {
            let failure = context.translated(error)
            abandon(group, failure)
            if let reason = failure.lostSync { poison(reason) }
            return
        }
        if !group.isEmpty || group.isFlush { checkpointer.committed(group.durability) }
        conclude(group)
    }

    /// Makes known what is committed now.
    func conclude(_ group: WriteGroup) {
        guard !group.isEmpty else {
            for participant in group.participants { participant.committed() }
            context.endCommit()
            return deliver(group)
        }
        let sets = group.members.compactMap(\.changes)
        context.publish {
            context.ledger.withLock { $0 = group.ledger }
            context.cache.withVersions { $0.publish(group.changes, as: sets, through: group.last) }
            for participant in group.participants { participant.committed() }
            for changes in sets { context.feed.publish(changes) }
        }
        let hooks = context.hooks
        for changes in sets {
            for hook in hooks { hook.didCommit(changes) }
        }
        deliver(group)
    }

    private func deliver(_ group: WriteGroup) {
        done.withLock { done in
            done.requests += group.members.count
            if !group.isEmpty { done.groups += 1 }
        }
        for member in group.members { member.request?.succeed(commit: member.changes?.last) }
    }

    /// Nothing of the group was committed: nothing is published, every member learns why.
    private func abandon(_ group: WriteGroup, _ error: any Error) {
        if group.database.isInsideTransaction { try? group.database.rollback() }
        context.endCommit()
        context.metrics.failed()
        context.cache.withVersions { $0.unkeep() }
        for participant in group.participants { participant.rolledBack() }
        for member in group.members { if let request = member.request { fail(request, error) } }
    }

    var isClosed: Bool { queue.withLock { $0.isClosed } }

    /// Why the store takes no writes any more; nil while it does.
    var refusal: StoreError? { queue.withLock { $0.refusal } }

    /// After a failed sync the contents of the disk are unknown, and a second one may wrongly succeed
    /// (Rebello et al., "Can Applications Recover from fsync Failures?", 2020).
    func poison(_ reason: String) {
        let error = StoreError.mustReopen(reason: reason)
        for request in queue.withLock({ $0.close(.poisoned(reason: reason)) }) {
            fail(request, error)
        }
    }
}
