internal import GodwitStore
internal import Synchronization

/// Another process runs the queue now.
struct LeaseLost: Error {}

extension PushQueue {
    private enum Lease {
        case taken(epoch: Int64)
        /// Another process has it, for so long at least.
        case isElsewhere(Duration)
    }

    /// The time by the clock of leases, and when a lease ends that is taken now, in milliseconds.
    var lease: (now: Int64, end: Int64) {
        let now = options.leaseClock.milliseconds()
        return (now, now + Int64(options.lease / .milliseconds(1)))
    }

    /// Waits until this process may run the queue.
    ///
    /// - Returns: The epoch that its answers count for.
    func acquireLease() async throws -> Int64 {
        while true {
            switch try await takeLease() {
            case .taken(let epoch):
                journal.stored(pipelines)
                journal.tookLease()
                return epoch
            case .isElsewhere(let rest):
                try await loadIfNeeded()
                // It may end in good order before that.
                try await options.clock.sleep(for: min(rest, options.lease / 5))
            }
        }
    }

    /// Becomes the one launch whose answers count, unless another one is, and takes back what the
    /// last one has left running.
    private func takeLease() async throws -> Lease {
        let (journal, isShared) = (journal, isShared)
        let (boot, calendar) = (options.leaseClock.boot, now.calendar)
        let setup = (pipelines, isKnown: journal.isRegistered)
        return try await store.write { [self] transaction in
            let database = transaction.connection
            let last = try RunnerTable.row(in: database)
            let owner = String(journal.launch, radix: 16)
            let isSame = last?.owner == owner
            let (time, end) = lease
            if let last, isShared, !isSame, last.boot == boot, last.until > time {
                return .isElsewhere(.milliseconds(last.until - time))
            }
            let epoch = (last?.epoch ?? 0) + (isSame ? 0 : 1)
            let row = RunnerTable.Row(owner: owner, epoch: epoch, boot: boot, until: end)
            try RunnerTable.set(row, in: database)
            // A store that was salvaged has lost any row, in this launch or in an earlier one.
            try DependencyTable.removeLostNeeds(in: database)
            // Another process may have pipelines that this one has not.
            let reordered = try PipelineSetup.apply(
                setup.0,
                isKnown: { isShared || setup.isKnown($0) },
                in: database
            )
            if let reordered {
                for operation in reordered.sorted() { try transaction.noteNeeds(of: operation) }
                try transaction.note(.reordered)
                transaction.footprints().forget()
            }
            // Asked for here, because the end of one may be recorded just before this.
            let marked = journal.transfers
            try transaction.adopt(marked.active, epoch: epoch)
            let names = isSame ? Set(setup.0.map(\.name)) : nil
            try transaction.recoverInterrupted(
                setup.0,
                in: names,
                except: marked.active.union(marked.ending),
                at: calendar
            )
            try transaction.reviveReadable(setup.0)
            try transaction.journal().update(in: transaction) { _ in }
            return .taken(epoch: epoch)
        }
    }

    /// Says from time to time that this process is still there.
    ///
    /// - Throws: ``LeaseLost`` when another one has taken its place, or may do so by now.
    func keepLease(_ epoch: Int64) async throws {
        var end = lease.end
        while true {
            try await options.clock.sleep(for: options.lease / 3)
            do {
                // It may have had to wait for the writer.
                let renewed = try await store.write { [self] transaction in
                    let next = lease.end
                    let isOurs = try RunnerTable.setEnd(
                        next,
                        ofEpoch: epoch,
                        in: transaction.connection
                    )
                    return isOurs ? next : nil
                }
                guard let renewed else { throw LeaseLost() }
                end = renewed
            } catch let error as LeaseLost {
                throw error
            } catch {
                if lease.now >= end { throw LeaseLost() }
            }
        }
    }

    /// Lets another process go on at once.
    func giveLeaseBack(_ epoch: Int64) {
        guard journal.gaveLeaseBack(), isShared else { return }
        // A process that cannot say so is replaced when its lease is over.
        _ = try? store.writeLater { transaction in
            _ = try RunnerTable.setEnd(0, ofEpoch: epoch, in: transaction.connection)
        }
    }
}
