internal import GodwitStore
internal import HeapModule

// Which operations may start, and in what order.
//
// A schedule is a pure value: no clock, no database, no network, no tasks. The pipeline tells it
// what happened and asks it what to do, so that tests can try every order of events.
//
// Invariants, checked by `checkInvariants`:
//
//   (1) An unfinished operation is later, blocked, ready, running or held. A finished one is
//       forgotten.
//   (2) Only operations of the first unfinished commit are anything but later: the operations of
//       commit n are finished before one of n + 1 starts.
//   (3) A blocked operation knows whom it waits for, and each of those knows it in turn.
//   (4) `ready` holds the ready operations and no others.
//   (5) No more than `limit` operations are running. A held one does not count.
//
// A dependency that the schedule has never heard of counts as finished, because finishing is how
// operations leave it. Dependencies on earlier commits are kept by the order of commits.

struct Schedule {
    /// What the schedule has to know about an operation.
    struct Item: Hashable {
        let id: OperationID
        let commit: CommitNumber
        let sequence: Int64
        let priority: Int32
        let dependencies: Set<OperationID>
    }

    private enum State {
        case blocked(Item, by: Set<OperationID>)
        case ready(Item)
        case running(Item)
        case held(Item)
    }

    private let limit: Int
    private var states: [OperationID: State] = [:]
    private var dependents: [OperationID: [OperationID]] = [:]
    private var ready: Heap<ReadyItem> = []
    private var runningCount = 0
    private var later: [(commit: CommitNumber, items: [Item])] = []
    private var current: CommitNumber = .none

    /// - Parameter limit: How many operations may run at once; 0 for any number.
    init(limit: Int) {
        precondition(limit >= 0, "A schedule cannot run fewer than no operations")
        self.limit = limit == 0 ? .max : limit
    }
}

// MARK: - What happened

extension Schedule {
    /// Adds operations of one or more commits, each later than all that were added before.
    mutating func insert(_ items: [Item]) {
        for item in items {
            precondition(item.commit >= (later.last?.commit ?? current), "Commits come in order")
            if later.last?.commit == item.commit {
                later[later.count - 1].items.append(item)
            } else {
                later.append((item.commit, [item]))
            }
        }
        openNextCommit()
    }

    /// Forgets a running operation, and lets go what waited for it.
    mutating func finish(_ id: OperationID) {
        guard case .running = states[id] else {
            preconditionFailure("Only a running operation finishes")
        }
        runningCount -= 1
        states[id] = nil
        for dependent in dependents.removeValue(forKey: id) ?? [] { unblock(dependent, from: id) }
        openNextCommit()
    }

    /// Puts a running operation aside, until it is released.
    mutating func hold(_ id: OperationID) {
        guard case .running(let item) = states[id] else {
            preconditionFailure("Only a running operation is held")
        }
        runningCount -= 1
        states[id] = .held(item)
    }

    /// Lets a held operation start again.
    mutating func release(_ id: OperationID) {
        guard case .held(let item) = states[id] else {
            preconditionFailure("Only a held operation is released")
        }
        makeReady(item)
    }

    /// The operation to start now, or nil; of several, the one with the highest priority, then the
    /// one enqueued first.
    ///
    /// It is running from here on.
    mutating func startNext() -> OperationID? {
        guard runningCount < limit, let next = ready.popMax() else { return nil }
        states[next.item.id] = .running(next.item)
        runningCount += 1
        return next.item.id
    }
}

// MARK: - Queries

extension Schedule {
    var isEmpty: Bool { states.isEmpty && later.isEmpty }

    /// The first commit that has unfinished operations.
    var firstUnfinished: CommitNumber? {
        states.isEmpty ? later.first?.commit : current
    }
}

// MARK: - Transitions

extension Schedule {
    /// Opens the next commit when the current one is finished: invariant (2).
    private mutating func openNextCommit() {
        while let next = later.first, states.isEmpty || next.commit == current {
            later.removeFirst()
            current = next.commit
            open(next.items)
        }
    }

    private mutating func open(_ items: [Item]) {
        let opened = Set(items.map(\.id))
        for item in items {
            let blockers = item.dependencies.filter {
                $0 != item.id && (opened.contains($0) || states[$0] != nil)
            }
            for blocker in blockers { dependents[blocker, default: []].append(item.id) }
            if blockers.isEmpty {
                makeReady(item)
            } else {
                states[item.id] = .blocked(item, by: blockers)
            }
        }
    }

    private mutating func unblock(_ id: OperationID, from blocker: OperationID) {
        guard case .blocked(let item, var blockers) = states[id] else {
            preconditionFailure("A dependent is blocked: invariant (3)")
        }
        blockers.remove(blocker)
        if blockers.isEmpty { makeReady(item) } else { states[id] = .blocked(item, by: blockers) }
    }

    private mutating func makeReady(_ item: Item) {
        states[item.id] = .ready(item)
        ready.insert(ReadyItem(item: item))
    }
}

// MARK: - Invariants

extension Schedule {
    /// Stops the program when an invariant is broken; for tests.
    func checkInvariants() {
        var readyIDs: Set<OperationID> = []
        var running = 0
        for (id, state) in states {
            switch state {
            case .blocked(_, let blockers):
                precondition(!blockers.isEmpty, "(3) a blocked operation waits for something")
                for blocker in blockers {
                    precondition(states[blocker] != nil, "(3) what blocks is unfinished")
                    precondition(dependents[blocker]?.contains(id) == true, "(3) and knows it")
                }
            case .ready: readyIDs.insert(id)
            case .running: running += 1
            case .held: break
            }
        }
        precondition(readyIDs == Set(ready.unordered.map(\.item.id)), "(4)")
        precondition(running == runningCount && running <= limit, "(5)")
        precondition(!states.isEmpty || later.isEmpty, "(2) a commit is open while one is left")
    }
}

/// Orders the ready operations: higher priority first, then the order of enqueuing.
private struct ReadyItem: Comparable {
    let item: Schedule.Item

    static func < (left: ReadyItem, right: ReadyItem) -> Bool {
        (left.item.priority, -left.item.sequence) < (right.item.priority, -right.item.sequence)
    }
}
