internal import GodwitStore

/// The tasks that wait until the operations of some commits are gone.
struct Waiters {
    typealias ID = Int
    typealias Wake = @Sendable (Result<Void, any Error>) -> Void
    typealias Effect = @Sendable () -> Void

    private struct Waiter {
        let id: ID
        let commit: CommitNumber
        var left: Set<OperationNumber>
        let wake: Wake
    }

    private enum Arrival { case announced, cancelled }

    /// The tasks that are about to wait.
    private var arrivals: [ID: Arrival] = [:]
    /// An array changes in place; the values of a dictionary were copied, with all that is left.
    private var waiters: [Waiter] = []
    /// Whether all that some task waits for seems to be gone: it is counted once more then.
    private(set) var isDue = false
    private var lastID = 0

    /// Whether a task waits.
    var isWaitedFor: Bool { !waiters.isEmpty }

    mutating func announce() -> ID {
        lastID += 1
        arrivals[lastID] = .announced
        return lastID
    }

    /// - Returns: How to wake those that need not wait any longer.
    mutating func add(
        _ id: ID,
        _ commit: CommitNumber,
        _ left: Set<OperationNumber>,
        _ wake: @escaping Wake
    ) -> [Effect] {
        if arrivals.removeValue(forKey: id) == .cancelled {
            return [{ wake(.failure(CancellationError())) }]
        }
        waiters.append(Waiter(id: id, commit: commit, left: left, wake: wake))
        return []
    }

    mutating func cancel(_ id: ID) -> [Effect] {
        if arrivals[id] != nil { arrivals[id] = .cancelled }
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return [] }
        let wake = waiters.remove(at: index).wake
        return [{ wake(.failure(CancellationError())) }]
    }

    /// - Complexity: O(1) for each task that waits.
    mutating func gone(_ number: OperationNumber) {
        for index in waiters.indices where waiters[index].left.remove(number) != nil {
            if waiters[index].left.isEmpty { isDue = true }
        }
    }

    /// Counts anew what is left for those that seem to have waited long enough: the same change may
    /// have enqueued more.
    ///
    /// - Returns: How to wake those that need not wait any longer.
    mutating func recountDue(_ left: (CommitNumber) -> Set<OperationNumber>) -> [Effect] {
        for index in waiters.indices where waiters[index].left.isEmpty {
            waiters[index].left = left(waiters[index].commit)
        }
        return takeReady()
    }

    /// Counts anew what is left, when the queue was read.
    mutating func recount(_ left: (CommitNumber) -> Set<OperationNumber>) -> [Effect] {
        for index in waiters.indices { waiters[index].left = left(waiters[index].commit) }
        return takeReady()
    }

    /// The queue runs no more.
    mutating func stop() -> [Effect] {
        defer { waiters = [] }
        return waiters.map(\.wake).map { wake in { wake(.failure(QueueError.stopped)) } }
    }

    private mutating func takeReady() -> [Effect] {
        isDue = false
        let ready = waiters.filter(\.left.isEmpty).map(\.wake)
        waiters.removeAll(where: \.left.isEmpty)
        return ready.map { wake in { wake(.success(())) } }
    }
}
