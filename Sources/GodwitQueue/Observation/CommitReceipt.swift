internal import GRDB
public import GodwitStore

/// What has become of the operations that one commit enqueued.
public struct CommitReceipt: Hashable, Sendable {
    public let commit: CommitNumber
    /// Those that will run, in the order of enqueuing.
    public internal(set) var waiting: [OperationID] = []
    public internal(set) var running: [OperationID] = []
    public internal(set) var conflicts: [OperationID] = []
    /// Dead letters.
    public internal(set) var deadLetters: [OperationID] = []
    /// Those that have left the queue.
    public internal(set) var finished: [OperationID: OperationResult] = [:]

    /// Whether nothing is left to do, by the queue or by the app.
    public var isFinished: Bool {
        waiting.isEmpty && running.isEmpty && conflicts.isEmpty && deadLetters.isEmpty
    }

    init(commit: CommitNumber) { self.commit = commit }
}

extension StoreTransaction where Self: ~Copyable {
    /// What has become of the operations that a commit enqueued; what was too long ago to be
    /// remembered is left out.
    ///
    /// One that was merged into another one is where that one is.
    public borrowing func receipt(of commit: CommitNumber) throws -> CommitReceipt {
        var receipt = CommitReceipt(commit: commit)
        guard try hasQueue() else { return receipt }
        for operation in try OperationTable.operations(of: commit, in: database) {
            receipt.add(operation.id, as: operation.state)
        }
        for (id, fate) in try ResultTable.results(of: commit, in: database) {
            if case .merged(let doer) = fate, let doing = try operation(doer) {
                receipt.add(id, as: doing.state)
            } else {
                receipt.finished[id] = fate
            }
        }
        return receipt
    }
}

extension CommitReceipt {
    fileprivate mutating func add(_ id: OperationID, as state: QueuedOperation.State) {
        switch state {
        case .waiting: waiting.append(id)
        case .running: running.append(id)
        case .conflict: conflicts.append(id)
        case .deadLetter, .unreadable: deadLetters.append(id)
        }
    }
}

/// What becomes of a commit's operations: now, and whenever that changes, until all have left the
/// queue.
public struct CommitReceipts: AsyncSequence, Sendable {
    let queue: PushQueue
    let commit: CommitNumber

    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue, commit: commit) }

    public struct Iterator: AsyncIteratorProtocol {
        private let queue: PushQueue
        private let commit: CommitNumber
        private var ticks: AsyncStream<Void>.Iterator
        private var last: CommitReceipt?

        init(queue: PushQueue, commit: CommitNumber) {
            self.queue = queue
            self.commit = commit
            // Asked for before the first look: what happens from here on is another look.
            ticks = queue.ticks().makeAsyncIterator()
        }

        /// - Throws: What the store throws.
        public mutating func next() async throws -> CommitReceipt? {
            if last?.isFinished ?? false { return nil }
            while true {
                let commit = commit
                let receipt = try await queue.store.read { try $0.receipt(of: commit) }
                if receipt != last {
                    last = receipt
                    return receipt
                }
                guard await ticks.next(isolation: nil) != nil else { return nil }
            }
        }
    }
}

extension PushQueue {
    /// What becomes of the operations of a commit: now, and whenever that changes.
    ///
    /// ```swift
    /// let ticket = try store.writeLater { try edit($0) }
    /// if let commit = try await ticket.finish().commit {
    ///     for try await receipt in queue.receipts(of: commit) { badge.show(receipt) }
    /// }
    /// ```
    ///
    /// It ends when all have left the queue, in this launch or an earlier one. Dead letters and
    /// conflicts are waited for.
    public func receipts(of commit: CommitNumber) -> CommitReceipts {
        CommitReceipts(queue: self, commit: commit)
    }
}
