internal import GodwitStore

/// The attempts that this process answers for: what its executors run, and the transfers that it was
/// told of.
struct Attempts {
    private enum Run {
        /// The operation is being marked as running, and its executor is called in a moment.
        case claimed
        case begun(CancellableRun)
    }

    private enum Transfer {
        case active(CancellableRun)
        /// The outcome is being recorded: there is nothing to cancel any more.
        case ending
    }

    private var runs: [OperationNumber: Run] = [:]
    private var transfers: [OperationNumber: Transfer] = [:]
    /// How much of an attempt is done, from 0 to 1.
    private(set) var progress: [OperationNumber: Double] = [:]

    /// Whether this process answers for an operation that runs.
    func isUnderWay(_ number: OperationNumber) -> Bool {
        runs[number] != nil || transfers[number] != nil
    }

    /// Whether an executor of this process has been called and has not answered.
    func hasBegun(_ number: OperationNumber) -> Bool {
        if case .begun = runs[number] { true } else { false }
    }

    /// The operations that run here: claimed, begun or marked active.
    var running: Set<OperationNumber> { marked.active.union(runs.keys) }

    /// The transfers that go on, and those of which the end is being recorded.
    var marked: MarkedTransfers {
        var marked = MarkedTransfers()
        for (number, transfer) in transfers {
            switch transfer {
            case .active: marked.active.insert(number)
            case .ending: marked.ending.insert(number)
            }
        }
        return marked
    }
}

// MARK: - Executors

extension Attempts {
    mutating func claim(_ numbers: [OperationNumber]) {
        for number in numbers { runs[number] = .claimed }
    }

    mutating func begin(_ number: OperationNumber, _ run: CancellableRun) {
        runs[number] = .begun(run)
    }

    /// The operation is not run after all, or its attempt left no trace.
    mutating func giveUp(_ number: OperationNumber) {
        (runs[number], progress[number]) = (nil, nil)
    }

    /// - Returns: The attempt, if an executor has begun it: to be cancelled, where it still goes on.
    @discardableResult
    mutating func endRun(_ number: OperationNumber) -> CancellableRun? {
        progress[number] = nil
        guard case .begun(let run) = runs[number] else { return nil }
        runs[number] = nil
        return run
    }

    /// The queue runs no more; transfers go on.
    mutating func endRuns() { (runs, progress) = ([:], [:]) }

    mutating func report(_ fraction: Double, of number: OperationNumber) {
        guard hasBegun(number) || transfers[number] != nil else { return }
        progress[number] = fraction
    }
}

// MARK: - Transfers

extension Attempts {
    /// How to cancel a transfer that was marked active; one that has ended has nothing to cancel.
    func transfer(_ number: OperationNumber) -> CancellableRun? {
        switch transfers[number] {
        case .active(let run): run
        case .ending: CancellableRun {}
        case nil: nil
        }
    }

    mutating func markActive(_ number: OperationNumber, _ run: CancellableRun) {
        transfers[number] = .active(run)
    }

    mutating func markEnding(_ number: OperationNumber) { transfers[number] = .ending }

    /// - Returns: The transfer, to be cancelled where no caller wants it any more.
    mutating func endTransfer(_ number: OperationNumber) -> CancellableRun? {
        defer { transfers[number] = nil }
        return transfer(number)
    }
}

/// An attempt under way, to be cancelled when no caller wants its result any more.
struct CancellableRun: Sendable {
    let cancel: @Sendable () -> Void
}
