internal import GodwitStore

/// The tasks that wait until the operations of some commits are gone.
struct Waiters {
    typealias ID = Int
    typealias Wake = @Sendable (Result<Void, any Error>) -> Void
    typealias Effect = @Sendable () -> Void

    private struct Waiter {
        let commit: CommitNumber
        var left: Set<OperationNumber>
        let wake: Wake
    }

    private enum Entry {
        /// The task is about to wait.
        case announced
        /// The task was cancelled before it began to wait.
        case cancelled
        case waiting(Waiter)
    }

    private var entries: [ID: Entry] = [:]
    /// Whether all that some task waits for seems to be gone: it is counted once more then.
    private(set) var isDue = false
    private var lastID = 0

    /// Whether a task waits.
    var isWaitedFor: Bool {
        entries.values.contains { if case .waiting = $0 { true } else { false } }
    }

    mutating func announce() -> ID {
        lastID += 1
        entries[lastID] = .announced
        return lastID
    }

    /// - Returns: How to wake those that need not wait any longer.
    mutating func add(
        _ id: ID,
        _ commit: CommitNumber,
        _ left: Set<OperationNumber>,
        _ wake: @escaping Wake
    ) -> [Effect] {
        if case .cancelled = entries[id] {
            entries[id] = nil
            return [{ wake(.failure(CancellationError())) }]
        }
        entries[id] = .waiting(Waiter(commit: commit, left: left, wake: wake))
        return []
    }

    mutating func cancel(_ id: ID) -> [Effect] {
        switch entries[id] {
        case .announced: entries[id] = .cancelled
        case .waiting(let waiter):
            entries[id] = nil
            return [{ waiter.wake(.failure(CancellationError())) }]
        case .cancelled, nil: break
        }
        return []
    }

    mutating func gone(_ number: OperationNumber) {
        for (id, entry) in entries {
            guard case .waiting(var waiter) = entry, waiter.left.remove(number) != nil else {
                continue
            }
            entries[id] = .waiting(waiter)
            if waiter.left.isEmpty { isDue = true }
        }
    }

    /// Counts anew what is left for those that seem to have waited long enough: the same change may
    /// have enqueued more.
    ///
    /// - Returns: How to wake those that need not wait any longer.
    mutating func recountDue(_ left: (CommitNumber) -> Set<OperationNumber>) -> [Effect] {
        isDue = false
        return takeReady { if $0.left.isEmpty { $0.left = left($0.commit) } }
    }

    /// Counts anew what is left, when the queue was read.
    mutating func recount(_ left: (CommitNumber) -> Set<OperationNumber>) -> [Effect] {
        isDue = false
        return takeReady { $0.left = left($0.commit) }
    }

    /// The queue runs no more.
    mutating func stop() -> [Effect] {
        var effects: [Effect] = []
        for (id, entry) in entries {
            guard case .waiting(let waiter) = entry else { continue }
            entries[id] = nil
            effects.append { waiter.wake(.failure(QueueError.stopped)) }
        }
        return effects
    }

    private mutating func takeReady(_ change: (inout Waiter) -> Void) -> [Effect] {
        var effects: [Effect] = []
        for (id, entry) in entries {
            guard case .waiting(var waiter) = entry else { continue }
            change(&waiter)
            entries[id] = waiter.left.isEmpty ? nil : .waiting(waiter)
            if waiter.left.isEmpty { effects.append { [wake = waiter.wake] in wake(.success(())) } }
        }
        return effects
    }
}
