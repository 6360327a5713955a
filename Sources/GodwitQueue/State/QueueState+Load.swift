internal import GodwitStore

extension QueueState {
    /// Forgets what is known; the database has it.
    ///
    /// - Returns: Which loading this is; a later one makes it void.
    mutating func beginLoading() -> Int {
        // What others have done meanwhile is read, but not told.
        if case .behind = known.phase { events.miss() }
        machine.removeAll()
        (stopped, known.unusual) = (Stopped(), [:])
        return known.begin([])
    }

    /// What is known is not what is stored.
    mutating func lostTrack() {
        events.miss()
        guard !isUnloaded else { return }
        failLoading(known.reading)
        effects.needsLoading = isRunning
    }

    /// The database could not be read.
    mutating func failLoading(_ loading: Int) {
        guard loading == known.reading else { return }
        known.fail()
        wakeLoadWaiters()
    }

    private mutating func wakeLoadWaiters() {
        effects.wakes += known.waiters
        known.waiters = []
    }

    /// Calls `wake` when the loading that goes on has ended, one way or the other.
    ///
    /// - Returns: Whether one goes on.
    mutating func waitForLoading(_ wake: @escaping Waiters.Effect) -> Bool {
        switch known.phase {
        case .loading: break
        case .behind where known.followerCount > 0: break
        case .unloaded, .behind, .loaded: return false
        }
        known.waiters.append(wake)
        return true
    }

    mutating func load(_ piece: LoadedQueue.Piece, _ loading: Int, at now: Moment) {
        guard known.entries(of: loading) != nil else { return }
        switch piece {
        case .count(let count): machine.reserveCapacity(count)
        case .operations(let outlines):
            for outline in outlines {
                guard let item = item(outline, needs: [], at: now) else { continue }
                machine.add(item)
                if outline.state != .waiting { known.unusual[item.number] = outline.state }
            }
        case .needs(let edges):
            for (operation, need) in edges { machine.add(need, to: operation, item: foreign) }
        case .rest(let holds, let suspensions):
            machine.admitAll()
            for (number, state) in known.unusual { admit(number, state) }
            known.unusual = [:]
            for hold in holds { self.hold(hold, isLoaded: true, at: now) }
            let stored = suspensions.map { StoredSuspension(pipeline: $0, reason: $1) }
            setSuspensions(Set(stored), at: now)
        }
    }

    /// Everything up to a commit was read; what came meanwhile follows.
    mutating func endLoading(_ loading: Int, through commit: CommitNumber, at now: Moment) {
        guard let entries = known.entries(of: loading) else { return }
        wakeLoadWaiters()
        (known.phase, known.through) = (.loaded(commit), commit)
        for entry in entries where entry.commit <= commit { endRuns(in: entry) }
        adoptOwnRuns()
        let later = entries.filter { $0.commit > commit }
        if known.lastElsewhere > commit {
            guard known.followerCount > 0 else { return lostTrack() }
            known.phase = .behind(later, from: commit.next)
        } else {
            take(later, at: now)
        }
        effects.wakes += events.endGone { [self] in machine.schedule.contains($0) }
        if isLoaded { effects.wakes += waiters.recount { [self] in left(through: $0) } }
    }

    /// The reading has seen a commit before the writer told of it, and has taken for running what had
    /// just ended.
    mutating func requeueEnded(in entry: QueueJournal.Entry) {
        for case .requeued(let number) in entry.changes where attempts.hasBegun(number) {
            machine.requeue(number)
            touch(number)
        }
        endRuns(in: entry)
    }

    /// Ends the runs of operations that are done with, whatever is known of them.
    mutating func endRuns(in entry: QueueJournal.Entry) {
        for change in entry.changes {
            switch change {
            case .finished(let number, _, _), .stopped(let number, _), .requeued(let number):
                cancelRun(number)
            default: continue
            }
        }
    }

    /// Takes for running what this process has begun to start, runs or has marked active: the reading
    /// may have seen it before that.
    mutating func adoptOwnRuns() {
        for number in attempts.running
        where machine.schedule.position(of: number)?.state == .waiting && stopped[number] == nil {
            machine.adoptRunning(number)
        }
    }

    mutating func admit(_ number: OperationNumber, _ state: QueuedOperation.State) {
        if state == .running { machine.adoptRunning(number) } else { stop(number, state) }
    }

    func foreign(_ number: OperationNumber) -> Schedule.Item {
        Schedule.Item(number: number, commit: number.commit, lane: foreignLane)
    }

    /// What the schedule has to know; nil when another queue runs the operation.
    mutating func item(
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

// MARK: - Other processes

extension QueueState {
    /// Other processes have committed something: what this one commits later is kept until that
    /// is read.
    mutating func fellBehind(_ commits: ClosedRange<CommitNumber>) {
        known.lastElsewhere = commits.upperBound
        switch known.phase {
        case .unloaded, .loading, .behind: break
        case .loaded where known.followerCount == 0: lostTrack()
        case .loaded: known.phase = .behind([], from: commits.lowerBound)
        }
    }

    /// A task does not take in any more what other processes commit.
    mutating func endFollowing() {
        known.followerCount -= 1
        if known.followerCount == 0, case .behind = known.phase { lostTrack() }
    }

    /// - Returns: Which loading this is, and the commits whose news it has to read; nil when there
    ///   is nothing to bring up to date.
    mutating func beginCatchingUp() -> (Int, ClosedRange<CommitNumber>)? {
        guard case .behind(let entries, let first) = known.phase else { return nil }
        return (known.begin(entries), first...known.lastElsewhere)
    }

    /// Takes in what was done up to a commit of another process, and what this process has done
    /// since.
    mutating func endCatchingUp(
        _ loading: Int,
        _ news: QueueNews,
        of commits: ClosedRange<CommitNumber>,
        at now: Moment
    ) {
        guard let entries = known.entries(of: loading) else { return }
        wakeLoadWaiters()
        let commit = commits.upperBound
        (known.phase, known.through) = (.loaded(commit), commit)
        let earlier = entries.filter { $0.commit <= commit }.flatMap(\.changes)
        insert(news, of: commits, except: Set(earlier.map(\.number)), at: now)
        for change in earlier { take(change, at: now) }
        let ended = Set(entries.flatMap(\.changes).compactMap(\.ended))
        for item in news.items { take(item, except: ended, at: now) }
        if let suspensions = news.suspensions { setSuspensions(suspensions, at: now) }
        let later = entries.filter { $0.commit > commit }
        if known.lastElsewhere > commit {
            known.phase = .behind(later, from: commit.next)
        } else {
            take(later, at: now)
        }
        if isLoaded { effects.wakes += waiters.recount { [self] in left(through: $0) } }
    }

    private mutating func take(_ entries: [QueueJournal.Entry], at now: Moment) {
        for entry in entries {
            known.phase = .loaded(entry.commit)
            for change in entry.changes { take(change, at: now) }
        }
    }

    /// Puts all new operations in line at once: an earlier commit must not come after a later one.
    ///
    /// - Parameters:
    ///   - commits: The commits that the news are of.
    ///   - announced: What this process has told its observers already.
    private mutating func insert(
        _ news: QueueNews,
        of commits: ClosedRange<CommitNumber>,
        except announced: Set<OperationNumber>,
        at now: Moment
    ) {
        let new = news.items.compactMap { item -> QueueChange.Enqueued? in
            guard case .unfinished(let new, _, _) = item,
                !machine.schedule.contains(new.outline.number)
            else { return nil }
            return new
        }
        let numbers = Set(new.map(\.outline.number))
        for need in Set(new.flatMap(\.needs)).subtracting(numbers).sorted()
        where !machine.schedule.contains(need) {
            machine.insert([foreign(need)])
        }
        machine.insert(new.compactMap { item($0.outline, needs: $0.needs, at: now) })
        // One that this process does not run is never in line, and was enqueued once all the same.
        for new in new.filter({ $0.outline.number.commit >= commits.lowerBound })
        where !announced.contains(new.outline.number) {
            effects.wakes += events.announce(.enqueued(new))
        }
    }

    mutating func setSuspensions(_ stored: Set<StoredSuspension>, at now: Moment) {
        for suspension in suspensions.stored.subtracting(stored) {
            note(resumed: suspension, at: now)
        }
        for suspension in stored { suspend(suspension) }
    }

    /// - Parameter told: Operations of which this process has told the end already.
    private mutating func take(
        _ item: QueueNews.Item,
        except told: Set<OperationNumber>,
        at now: Moment
    ) {
        switch item {
        case .gone(let number, let id, let fate):
            if let id, let fate, !told.contains(number) {
                effects.wakes += events.announce(.finished(number, id, fate))
            }
            if machine.schedule.contains(number) { finish(number) }
        case .unfinished(let new, let epoch, let holds):
            machine.modify(
                new.outline.number,
                priority: new.outline.priority,
                needs: present(new.needs)
            )
            setState(new.outline, epoch, at: now)
            machine.releaseAll(new.outline.number, except: Set(holds.map(\.context)))
            for row in holds { hold(row, isLoaded: true, at: now) }
        }
    }

    /// Has an operation be where the database says, unless it is just being started here.
    private mutating func setState(
        _ outline: OperationTable.Outline,
        _ epoch: Int64?,
        at now: Moment
    ) {
        let number = outline.number
        guard machine.schedule.contains(number) else { return }
        let state = outline.state
        switch state {
        case .running: if !isRunning || epoch != self.epoch { machine.adoptRunning(number) }
        case .waiting:
            if stopped[number] != nil {
                take(.resumed(number), at: now)
            } else if !attempts.isUnderWay(number) {
                machine.requeue(number)
                touch(number)
            }
        case .conflict, .deadLetter, .unreadable:
            guard stopped[number] != state else { return }
            effects.wakes += events.announce(.stopped(number, state))
            stop(number, state)
        }
    }

    /// The needs, each of which is in line.
    private mutating func present(_ needs: [OperationNumber]) -> [OperationNumber] {
        for need in needs where !machine.schedule.contains(need) { machine.insert([foreign(need)]) }
        return needs
    }
}
