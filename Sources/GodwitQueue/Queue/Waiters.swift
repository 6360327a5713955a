internal import GodwitStore

/// Who waits until the operations of some commits are gone.
struct Waiters {
    typealias Wake = @Sendable () -> Void

    private struct Waiter {
        let commit: CommitNumber
        var left: Set<OperationNumber>
        let wake: Wake
    }

    private var waiters: [Waiter] = []

    mutating func add(_ commit: CommitNumber, _ left: Set<OperationNumber>, _ wake: @escaping Wake)
    {
        waiters.append(Waiter(commit: commit, left: left, wake: wake))
    }

    /// - Returns: Those who need not wait any longer.
    mutating func gone(_ number: OperationNumber) -> [Wake] {
        guard !waiters.isEmpty else { return [] }
        for index in waiters.indices { waiters[index].left.remove(number) }
        return takeReady()
    }

    /// Counts anew what is left, when the queue was read.
    mutating func recount(_ left: (CommitNumber) -> Set<OperationNumber>) -> [Wake] {
        for index in waiters.indices { waiters[index].left = left(waiters[index].commit) }
        return takeReady()
    }

    mutating func removeAll() -> [Wake] {
        defer { waiters = [] }
        return waiters.map(\.wake)
    }

    private mutating func takeReady() -> [Wake] {
        let ready = waiters.filter(\.left.isEmpty).map(\.wake)
        waiters.removeAll(where: \.left.isEmpty)
        return ready
    }
}

/// An attempt under way, to be cancelled when nobody wants its result any more.
struct CancellableRun: Sendable {
    let cancel: @Sendable () -> Void
}
