internal import GodwitStore
internal import HeapModule

// Which operations may start, and in what order.
//
// A schedule is a pure value: no clock, no database, no network, no tasks. It is told what
// happened and asked what to start, so that tests can try every order of events.
//
// Each operation has a slot in one array, and counts what it waits for (its *gates*): unfinished
// operations that it needs, the closed commit that it belongs to, a hold. At zero it is ready and
// lies in the heap of its stream, which is one lane's operations for one host. To finish an
// operation decrements the counts of those that need it (A. B. Kahn, "Topological sorting of
// large networks", 1962, as events come in). Every event costs O(log n) and the edges it touches.
//
// Invariants, checked by `checkInvariants`:
//
//   (1) An operation waits, runs or is parked. A finished one is forgotten.
//   (2) In a lane in commit order only operations of the open commits have no closed gate: those
//       of commit n are finished or parked before one of n + 1 is let through.
//   (3) An operation's gates are its unfinished needs, and one each for being closed and held.
//   (4) A waiting operation with no gate lies in its stream's heap. What the heap holds besides
//       is stale, and recognised when it comes up.
//   (5) No more operations of a lane run than its limit allows. A held one does not count.
//   (6) A lane offers the first entry of each stream, but of hosts that rest: to start an operation
//       takes O(log n), however many hosts there are.

struct Schedule {
    /// What the schedule has to know about an operation.
    struct Item: Hashable {
        let number: OperationNumber
        let commit: CommitNumber
        var lane = 0
        /// Whose rate limit it falls under.
        var host = 0
        var priority: Int32 = 0
        /// Whether it keeps commit order in a lane that is flat now.
        var isOrdered = false
        var needs: [OperationNumber] = []
    }

    enum State: UInt8, Hashable {
        case waiting, running
        /// Out of the line until the app decides: what needs it still waits, its commit does not.
        case parked
        case free
    }

    var lanes: [Lane] = []
    var slots: [Slot] = []
    var places: [OperationNumber: Int32] = [:]
    var edges = Edges()
    private var freeSlots: [Int32] = []

    /// How many operations are unfinished, parked ones included.
    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }

    /// Makes room, so that many operations need not be moved while they come.
    mutating func reserveCapacity(_ count: Int) {
        slots.reserveCapacity(count)
        places.reserveCapacity(count)
    }
}

extension Schedule {
    struct Slot {
        let number: OperationNumber
        let commit: CommitNumber
        var priority: Int32
        let host: UInt32
        var gates: Int32 = 0
        var needs = Edges.none
        var dependents = Edges.none
        let lane: UInt16
        var state = State.waiting
        private var flags: Flags

        init(_ item: Item, isOrdered: Bool) {
            number = item.number
            commit = item.commit
            priority = item.priority
            lane = UInt16(item.lane)
            host = UInt32(item.host)
            flags = isOrdered ? .ordered : []
        }

        var isOrdered: Bool { flags.contains(.ordered) }

        var isClosed: Bool {
            get { flags.contains(.closed) }
            set { flags.set(.closed, newValue) }
        }

        var isHeld: Bool {
            get { flags.contains(.held) }
            set { flags.set(.held, newValue) }
        }

        var isInHeap: Bool {
            get { flags.contains(.inHeap) }
            set { flags.set(.inHeap, newValue) }
        }
    }

    /// One byte: a million operations may wait.
    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let ordered = Flags(rawValue: 1)
        static let closed = Flags(rawValue: 2)
        static let held = Flags(rawValue: 4)
        static let inHeap = Flags(rawValue: 8)

        mutating func set(_ flag: Flags, _ isSet: Bool) {
            if isSet { insert(flag) } else { remove(flag) }
        }
    }
}

// MARK: - What happened

extension Schedule {
    /// Adds operations; what they need and the schedule does not hold is finished.
    mutating func insert(_ items: [Item]) {
        for item in items { add(item) }
        for item in items { for need in item.needs { add(need, to: item.number) } }
        for item in items { if let place = places[item.number] { enter(place) } }
        for lane in lanes.indices { openCommits(of: lane) }
    }

    /// Adds an operation that takes no part until ``admitAll()``: to load many, and then what
    /// they need.
    mutating func add(_ item: Item) {
        precondition(places[item.number] == nil, "An operation is enqueued once")
        let slot = Slot(item, isOrdered: item.isOrdered || lanes[item.lane].isOrdered)
        let place: Int32
        if let free = freeSlots.popLast() {
            place = free
            slots[Int(place)] = slot
        } else {
            place = Int32(slots.count)
            slots.append(slot)
        }
        places[item.number] = place
    }

    /// Has an operation wait for another one, if that is unfinished.
    mutating func add(_ need: OperationNumber, to operation: OperationNumber) {
        if let place = places[operation] { connect(place, to: need) }
    }

    /// Forgets all operations, and which commits are open; lanes stay.
    mutating func removeAll() {
        for index in lanes.indices {
            let old = lanes[index]
            lanes[index] = Lane(isOrdered: old.isOrdered, limit: old.limit)
            lanes[index].isSuspended = old.isSuspended
        }
        (slots, places, edges, freeSlots) = ([], [:], Edges(), [])
    }

    mutating func admitAll() {
        for place in slots.indices where slots[place].state == .waiting { enter(Int32(place)) }
        for lane in lanes.indices { openCommits(of: lane) }
    }

    /// Forgets an operation that was completed or skipped, and lets go what waited for it.
    mutating func finish(_ number: OperationNumber) {
        guard let place = places[number] else { return }
        leave(place)
        release(dependentsOf: place)
        edges.removeNeeds(startingAt: slots[Int(place)].needs)
        places[number] = nil
        slots[Int(place)].state = .free
        freeSlots.append(place)
        openCommits(of: Int(slots[Int(place)].lane))
    }

    /// Takes an operation out of the line; what needs it waits on.
    mutating func park(_ number: OperationNumber) {
        guard let place = places[number], slots[Int(place)].state != .parked else { return }
        leave(place)
        slots[Int(place)].state = .parked
        openCommits(of: Int(slots[Int(place)].lane))
    }

    /// Puts a parked operation back in its line.
    mutating func unpark(_ number: OperationNumber) {
        guard let place = places[number], slots[Int(place)].state == .parked else { return }
        slots[Int(place)].state = .waiting
        enter(place)
        openCommits(of: Int(slots[Int(place)].lane))
    }

    /// Puts a running operation back among the waiting.
    mutating func requeue(_ number: OperationNumber) {
        guard let place = places[number], slots[Int(place)].state == .running else { return }
        slots[Int(place)].state = .waiting
        lanes[Int(slots[Int(place)].lane)].runningCount -= 1
        pushIfReady(place)
    }

    /// Marks an operation as running that this process has not started: a transfer that goes on
    /// outside of this process.
    mutating func adoptRunning(_ number: OperationNumber) {
        guard let place = places[number], slots[Int(place)].state == .waiting else { return }
        slots[Int(place)].state = .running
        lanes[Int(slots[Int(place)].lane)].runningCount += 1
    }

    /// Keeps an operation from starting; one that runs goes on.
    mutating func hold(_ number: OperationNumber) {
        guard let place = places[number], !slots[Int(place)].isHeld else { return }
        slots[Int(place)].isHeld = true
        slots[Int(place)].gates += 1
    }

    mutating func release(_ number: OperationNumber) {
        guard let place = places[number], slots[Int(place)].isHeld else { return }
        slots[Int(place)].isHeld = false
        removeGate(of: place)
    }

    mutating func setPriority(_ priority: Int32, of number: OperationNumber) {
        guard let place = places[number], slots[Int(place)].priority != priority else { return }
        slots[Int(place)].priority = priority
        slots[Int(place)].isInHeap = false
        pushIfReady(place)
    }

    /// Gives an operation other needs than it had.
    mutating func setNeeds(_ needs: [OperationNumber], of number: OperationNumber) {
        guard let place = places[number] else { return }
        let unmet = edges.removeNeeds(startingAt: slots[Int(place)].needs)
        slots[Int(place)].gates -= unmet
        slots[Int(place)].needs = Edges.none
        for need in needs { connect(place, to: need) }
        pushIfReady(place)
    }
}

// MARK: - What to start

extension Schedule {
    /// The operation to start now, or nil; of several of one lane, the one with the highest
    /// priority, then the one of the earliest commit, then the one enqueued first.
    ///
    /// It is running from here on.
    ///
    /// - Parameter rest: Until when a host may have no other operation; nil if it may have one now.
    ///   A host that rests is asked again after ``wake(_:in:)``.
    mutating func startNext(
        in lane: Int,
        unless rest: (_ host: Int) -> Duration? = { _ in nil }
    ) -> OperationNumber? {
        guard let best = first(in: lane, unless: rest) else { return nil }
        lanes[lane].pop(host: best.host)
        slots[Int(best.entry.place)].isInHeap = false
        slots[Int(best.entry.place)].state = .running
        lanes[lane].runningCount += 1
        return best.entry.number
    }

    /// What ``startNext(in:unless:)`` would start.
    mutating func first(
        in lane: Int,
        unless rest: (_ host: Int) -> Duration?
    ) -> Top? {
        guard lanes[lane].hasRoom else { return nil }
        while let top = lanes[lane].first() {
            guard firstReady(in: lane, top.host) == top.entry else { continue }
            guard let time = rest(top.host) else { return top }
            lanes[lane].rest(top.host, until: time)
        }
        return nil
    }

    /// Lets a host have operations of a lane again.
    mutating func wake(_ host: Int, in lane: Int) { lanes[lane].wake(host) }

    /// The top of a stream's heap, without the stale entries above it: invariant (4).
    private mutating func firstReady(in lane: Int, _ host: Int) -> ReadyEntry? {
        while let entry = lanes[lane].streams[host]?.max {
            let slot = slots[Int(entry.place)]
            let isCurrent =
                slot.number == entry.number && slot.priority == entry.priority && slot.isInHeap
            if isCurrent, slot.state == .waiting, slot.gates == 0 { return entry }
            if isCurrent { slots[Int(entry.place)].isInHeap = false }
            lanes[lane].pop(host: host)
        }
        return nil
    }
}

// MARK: - Transitions

extension Schedule {
    private mutating func connect(_ place: Int32, to need: OperationNumber) {
        guard let needed = places[need], needed != place else { return }
        let edge = edges.add(
            needed: needed,
            dependent: place,
            nextDependent: slots[Int(needed)].dependents,
            nextNeed: slots[Int(place)].needs
        )
        slots[Int(needed)].dependents = edge
        slots[Int(place)].needs = edge
        slots[Int(place)].gates += 1
    }

    /// Puts a waiting operation in its lane's line, behind a closed gate if it keeps commit order.
    private mutating func enter(_ place: Int32) {
        let slot = slots[Int(place)]
        if slot.isOrdered {
            let entry = LineEntry(commit: slot.commit, number: slot.number, place: place)
            if !lanes[Int(slot.lane)].line.enter(entry) {
                slots[Int(place)].isClosed = true
                slots[Int(place)].gates += 1
            }
        }
        pushIfReady(place)
    }

    /// Takes an operation out of its lane's counts; its slot stays.
    private mutating func leave(_ place: Int32) {
        let slot = slots[Int(place)]
        guard slot.state != .parked else { return }
        if slot.state == .running { lanes[Int(slot.lane)].runningCount -= 1 }
        if slot.isClosed {
            slots[Int(place)].isClosed = false
            slots[Int(place)].gates -= 1
        } else if slot.isOrdered {
            lanes[Int(slot.lane)].line.leave()
        }
    }

    /// Opens the next commit when the open ones are finished: invariant (2).
    private mutating func openCommits(of lane: Int) {
        while let entry = lanes[lane].line.takeNext() {
            let slot = slots[Int(entry.place)]
            guard slot.number == entry.number, slot.isClosed, slot.state != .free else { continue }
            lanes[lane].line.open(entry)
            slots[Int(entry.place)].isClosed = false
            removeGate(of: entry.place)
        }
    }

    private mutating func release(dependentsOf place: Int32) {
        var next = slots[Int(place)].dependents
        while next != Edges.none {
            let (dependent, following) = edges.finishNeed(next)
            next = following
            if dependent != Edges.none { removeGate(of: dependent) }
        }
    }

    private mutating func removeGate(of place: Int32) {
        slots[Int(place)].gates -= 1
        pushIfReady(place)
    }

    private mutating func pushIfReady(_ place: Int32) {
        let slot = slots[Int(place)]
        guard slot.state == .waiting, slot.gates == 0, !slot.isInHeap else { return }
        slots[Int(place)].isInHeap = true
        lanes[Int(slot.lane)].push(
            ReadyEntry(
                priority: slot.priority,
                place: place,
                commit: slot.commit,
                number: slot.number
            ),
            host: Int(slot.host)
        )
    }
}
