internal import GodwitStore
internal import Logging
internal import Synchronization

extension PushQueue {
    /// Runs operations until the surrounding task is cancelled, or the store is closed.
    ///
    /// Where several processes share the store, one of them runs the queue; the others wait until
    /// it ends or does not answer any more, and know meanwhile what it does.
    ///
    /// - Precondition: One at a time.
    /// - Throws: `CancellationError`; what the store throws when the operations cannot be read.
    public func run() async throws {
        try await follow { group in group.addTask { try await self.serve() } }
    }

    /// Follows a queue that another process runs, until the surrounding task is cancelled.
    ///
    /// For an app extension that only enqueues: statuses, summaries and events are those of the
    /// process that runs the queue. Nothing is started.
    public func follow() async throws {
        try await follow { group in group.addTask { try await self.loadIfNeeded() } }
    }

    private func follow(
        _ body: (inout ThrowingDiscardingTaskGroup<any Error>) -> Void
    ) async throws {
        // Asked for before anything is read, so that nothing falls between the two.
        let changes = store.changes()
        state.withLock { $0.known.followerCount += 1 }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                // The tasks beside this one may wait for news, which nothing brings any more.
                defer {
                    self.change { state, _ in
                        state.stopWaiting()
                        state.endFollowing()
                    }
                }
                for await change in changes {
                    if change.isFromElsewhere {
                        if change.isReset { self.readAgain() } else { await self.catchUp() }
                    } else if change.isReset {
                        // The app has rolled a savepoint back, and the journal has told that already.
                        await self.loadIfUnknown()
                    }
                }
                throw CancellationError()
            }
            if isShared { group.addTask { try await self.lookAtOthers() } }
            body(&group)
        }
    }

    /// Runs operations whenever this process is the one that may.
    private func serve() async throws {
        var hasServed = false
        while true {
            do {
                let epoch = try await acquireLease()
                defer { giveLeaseBack(epoch) }
                try await load()
                hasServed = true
                try await serve(epoch)
            } catch is LeaseLost {
                logger.warning("the queue has lost its lease")
            } catch let error where hasServed && Self.mayPass(error) {
                // A disk that is full, say, costs the lease, and it can be taken again later.
                logger.warning("the queue cannot take its lease", metadata: ["error": "\(error)"])
                try await options.clock.sleep(for: Self.storeRetryDelay)
            }
        }
    }

    private static func mayPass(_ error: any Error) -> Bool {
        !Task.isCancelled && error as? StoreError != .closed
    }

    private func serve(_ epoch: Int64) async throws {
        let work = AsyncStream.makeStream(of: QueueWork.self)
        defer { change { state, _ in state.ended() } }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                await self.followConditions { $0.began(epoch: epoch, work.continuation) }
            }
            if isShared {
                group.addTask {
                    // The loop below is no child, which a child that fails would cancel.
                    defer { work.continuation.finish() }
                    try await self.keepLease(epoch)
                }
            }
            for await work in work.stream {
                switch work {
                case .start(let numbers): group.addTask { await self.perform(numbers) }
                case .wake(let delay): group.addTask { await self.wake(after: delay) }
                case .load: group.addTask { await self.reload() }
                case .stop: throw LeaseLost()
                }
            }
            try Task.checkCancellation()
        }
    }

    /// Follows what the device has.
    ///
    /// - Parameter begin: Called when the first conditions are known: without a network the first
    ///   operations would be started in vain.
    private func followConditions(_ begin: @Sendable (inout QueueState) -> Void) async {
        var hasBegun = false
        for await conditions in options.monitor.conditions() {
            change { state, _ in
                state.control { machine, _ in machine.setConditions(conditions) }
                if !hasBegun { begin(&state) }
            }
            hasBegun = true
        }
        if !hasBegun, !Task.isCancelled { change { state, _ in begin(&state) } }
    }

    private func wake(after delay: Duration) async {
        guard (try? await options.clock.sleep(for: delay)) != nil else { return }
        change { _, _ in }
    }
}

// MARK: - Other processes

extension PushQueue {
    var isShared: Bool { store.options.processes == .several }

    /// Looks again and again what other processes have committed.
    private func lookAtOthers() async throws {
        while true {
            // What cannot be read now can be read later; a store that is closed ends the run.
            try? await store.read { _ in }
            try await options.clock.sleep(for: options.lookInterval)
            // News of a commit come once; after a reading, or one that has failed, some may be left.
            await catchUp()
            await loadIfUnknown()
        }
    }

    /// Takes in what other processes have done to the queue.
    private func catchUp() async {
        var next: (loading: Int, commits: ClosedRange<CommitNumber>)?
        change { state, _ in next = state.beginCatchingUp() }
        guard let (loading, commits) = next else { return }
        let count = commits.upperBound.rawValue - commits.lowerBound.rawValue
        // The log keeps no older commits.
        guard count < QueueLog.commitMax else { return readAgain() }
        do {
            let news = try await store.read { try QueueNews(of: commits, in: $0.connection) }
            change { state, now in
                state.endCatchingUp(loading, news, of: commits, at: now)
            }
        } catch {
            readAgain()
        }
    }

    /// Has the queue be read again: by the process that runs it, or at a follower's next look.
    private func readAgain() { change { state, _ in state.lostTrack() } }

    /// Reads the queue once if nothing is known of it; a queue that runs is being read anyway.
    ///
    /// It does not wait for news, which its caller brings.
    private func loadIfUnknown() async {
        if state.withLock({ $0.isUnloaded && !$0.isRunning }) { try? await load() }
    }
}
