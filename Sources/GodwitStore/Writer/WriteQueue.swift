internal import DequeModule

/// The requests that wait for the writer, first come, first served.
///
/// Invariants:
/// 1. Requests leave in the order in which they came.
/// 2. At most one drain is under way; there is one whenever a request waits and no caller has
///    suspended the queue.
/// 3. A request joins a group only if the group's durability is enough for it.
struct WriteQueue {
    private var requests: Deque<any WriteRequest> = []
    private var isDraining = false
    private var suspendCount = 0
    private(set) var state = State.open

    enum State {
        case open
        case closed
        /// The disk could not promise what it had been given; only reopening helps.
        case poisoned(reason: String)
    }

    var count: Int { requests.count }
    var isEmpty: Bool { requests.isEmpty }
    var isSuspended: Bool { suspendCount > 0 }

    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Why it takes nothing any more; nil while it does.
    var refusal: StoreError? {
        switch state {
        case .open: nil
        case .closed: .closed
        case .poisoned(let reason): .mustReopen(reason: reason)
        }
    }
}

extension WriteQueue {
    /// Takes in a request.
    ///
    /// - Returns: Whether the caller has to start a drain.
    mutating func append(_ request: any WriteRequest, max: Int) throws(StoreError) -> Bool {
        if let refusal { throw refusal }
        // A request that a task awaits is bounded by the tasks.
        guard request.isAwaited || requests.count < max else { throw .overloaded(limit: max) }
        requests.append(request)
        return startDrain()
    }

    /// The next request for a new group; nil ends the drain.
    mutating func takeFirst() -> (any WriteRequest)? {
        guard !isSuspended, let first = requests.popFirst() else {
            isDraining = false
            return nil
        }
        return first
    }

    /// The next request for an open group, if it may join.
    mutating func takeNext(joining durability: Durability) -> (any WriteRequest)? {
        guard !isSuspended, let next = requests.first else { return nil }
        guard durability == .durable || next.durability == .relaxed else { return nil }
        return requests.popFirst()
    }

    /// Takes a request out that was cancelled; false when it is no longer here.
    mutating func remove(_ request: any WriteRequest) -> Bool {
        guard let index = requests.firstIndex(where: { $0 === request }) else { return false }
        requests.remove(at: index)
        return true
    }

    mutating func suspend() { suspendCount += 1 }

    /// - Returns: Whether the caller has to start a drain.
    mutating func resume() -> Bool {
        precondition(suspendCount > 0, "A store is resumed as often as it was suspended")
        suspendCount -= 1
        return startDrain()
    }

    /// Refuses everything from now on, and gives back what waited.
    mutating func close(_ state: State) -> [any WriteRequest] {
        if case .open = self.state { self.state = state }
        defer { requests.removeAll() }
        return Array(requests)
    }

    private mutating func startDrain() -> Bool {
        guard !isDraining, !isSuspended, !requests.isEmpty else { return false }
        isDraining = true
        return true
    }
}
