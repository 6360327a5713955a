internal import GodwitStore

// What a queue does next.
//
// A pure value around the schedule that knows the rest of the reasons for which an operation
// waits: holds, suspensions, what the device lacks, a host's rate. Events go in, what to start
// and when to look again come out; the shell writes both down. The simulator drives the same
// value, with a database that is a dictionary.
//
// Invariants, checked by `checkInvariants`:
//
//   (1) An operation is held in the schedule exactly if it has a hold that is not over.
//   (2) Each hold that ends by itself lies in `looks` with a time at which it is looked at.
//   (3) `nextLook` is not later than the first moment at which something can start that could
//       not start before, unless an event comes.
//   (4) A lane is suspended in the schedule exactly if it has a reason.
//   (5) Each host that rests in a lane lies in `rests` with the time at which it wakes.

struct QueueMachine {
    /// Holds an operation until its conflict is resolved.
    static let conflictContext = "godwit.conflict"

    struct Hold: Hashable {
        let context: String
        let deadline: Deadline
    }

    struct LaneRules {
        let name: String
        var requirements: Requirements
        var suspensions: [String: Int] = [:]
    }

    /// One of the reasons for which an operation is held.
    struct HoldName: Comparable, Hashable {
        let number: OperationNumber
        let context: String

        static func < (left: HoldName, right: HoldName) -> Bool {
            (left.number, left.context) < (right.number, right.context)
        }
    }

    /// A host that may start nothing in a lane for some time.
    struct RestingHost: Comparable, Hashable {
        let host: Int
        let lane: Int

        static func < (left: RestingHost, right: RestingHost) -> Bool {
            (left.host, left.lane) < (right.host, right.lane)
        }
    }

    private(set) var schedule = Schedule()
    private(set) var lanes: [LaneRules] = []
    private(set) var suspensions: [String: Int] = [:]
    private(set) var conditions = Conditions()
    private(set) var holds: [OperationNumber: [String: Deadline]] = [:]
    private(set) var looks = Alarms<HoldName>()
    private(set) var rests = Alarms<RestingHost>()
    private var governors: [Governor] = []
    private var hosts = Hosts()
    private var startTimes: [OperationNumber: Duration] = [:]
    private let rateLimit: @Sendable (String) -> RateLimit

    init(rateLimit: @escaping @Sendable (String) -> RateLimit = { _ in RateLimit() }) {
        self.rateLimit = rateLimit
    }
}

// MARK: - Pipelines

extension QueueMachine {
    /// - Returns: The lane's index.
    mutating func addLane(
        _ name: String,
        isOrdered: Bool,
        limit: Int,
        requirements: Requirements = []
    ) -> Int {
        schedule.lanes.append(Schedule.Lane(isOrdered: isOrdered, limit: limit))
        lanes.append(LaneRules(name: name, requirements: requirements))
        judge(lanes.count - 1)
        return lanes.count - 1
    }

    mutating func setLimit(_ limit: Int, of lane: Int) {
        schedule.lanes[lane].limit = limit == 0 ? .max : limit
    }

    /// Suspends a lane once more for this reason; nil for all lanes, future ones included.
    mutating func suspend(_ lane: Int?, reason: String, count: Int = 1) {
        guard count > 0 else { return }
        if let lane {
            lanes[lane].suspensions[reason, default: 0].add(count)
            judge(lane)
        } else {
            suspensions[reason, default: 0].add(count)
            for lane in lanes.indices { judge(lane) }
        }
    }

    /// Takes one suspension back; there may be none.
    mutating func resume(_ lane: Int?, reason: String) {
        if let lane {
            lanes[lane].suspensions.decrement(reason)
            judge(lane)
        } else {
            suspensions.decrement(reason)
            for lane in lanes.indices { judge(lane) }
        }
    }

    mutating func setConditions(_ conditions: Conditions) {
        self.conditions = conditions
        for lane in lanes.indices { judge(lane) }
    }

    /// Invariant (4).
    private mutating func judge(_ lane: Int) {
        schedule.lanes[lane].isSuspended =
            !suspensions.isEmpty || !lanes[lane].suspensions.isEmpty
            || !lanes[lane].requirements.missing(in: conditions).isEmpty
    }
}

// MARK: - Operations

extension QueueMachine {
    /// The number under which the schedule knows a host; nil is a host of its own, unlimited.
    mutating func host(named name: String?, at now: Moment) -> Int {
        if governors.isEmpty { governors.append(Governor(RateLimit(), now: now.elapsed)) }
        guard let name else { return 0 }
        if let host = hosts.number(of: name) { return host }
        let governor = Governor(rateLimit(name), now: now.elapsed)
        let host = hosts.add(name) { governors[$0].isAtRest(at: now.elapsed) }
        if host < governors.count {
            governors[host] = governor
        } else {
            governors.append(governor)
        }
        return host
    }

    /// How many hosts are remembered; for tests.
    var hostCount: Int { hosts.count }

    mutating func reserveCapacity(_ count: Int) { schedule.reserveCapacity(count) }

    mutating func insert(_ items: [Schedule.Item]) {
        for item in items { hosts.use(item.host) }
        schedule.insert(items)
    }

    /// Loading: operations first, then what they need, then all take part.
    mutating func add(_ item: Schedule.Item) {
        hosts.use(item.host)
        schedule.add(item)
    }

    mutating func add(
        _ need: OperationNumber,
        to operation: OperationNumber,
        item: (OperationNumber) -> Schedule.Item
    ) {
        guard schedule.contains(operation) else { return }
        if !schedule.contains(need) { add(item(need)) }
        schedule.add(need, to: operation)
    }

    mutating func admitAll() { schedule.admitAll() }

    mutating func finish(_ number: OperationNumber) {
        holds[number] = nil
        startTimes[number] = nil
        if let host = schedule.position(of: number)?.host { hosts.release(host) }
        schedule.finish(number)
    }

    /// Forgets all operations; what is known of lanes and hosts stays.
    mutating func removeAll() {
        for number in schedule.numbers {
            if let host = schedule.position(of: number)?.host { hosts.release(host) }
        }
        (holds, startTimes) = ([:], [:])
        looks.removeAll()
        rests.removeAll()
        schedule.removeAll()
    }

    /// The operation went to the dead letters; its holds are gone.
    mutating func park(_ number: OperationNumber) {
        releaseAll(number)
        startTimes[number] = nil
        schedule.park(number)
    }

    mutating func unpark(_ number: OperationNumber) { schedule.unpark(number) }

    mutating func modify(
        _ number: OperationNumber,
        priority: Int32?,
        needs: [OperationNumber]?
    ) {
        if let priority { schedule.setPriority(priority, of: number) }
        if let needs { schedule.setNeeds(needs, of: number) }
    }

    /// An attempt is over, and another one will follow.
    mutating func requeue(_ number: OperationNumber) {
        startTimes[number] = nil
        schedule.requeue(number)
    }

    mutating func adoptRunning(_ number: OperationNumber) { schedule.adoptRunning(number) }

    mutating func hold(_ number: OperationNumber, _ hold: Hold, at now: Moment) {
        guard schedule.contains(number) else { return }
        guard !hold.deadline.isPast(at: now) else { return release(number, hold.context) }
        let old = holds[number, default: [:]].updateValue(hold.deadline, forKey: hold.context)
        schedule.hold(number)
        guard old != hold.deadline, let time = hold.deadline.nextLook(at: now) else { return }
        looks.set(time, for: HoldName(number: number, context: hold.context))
        if looks.isFull, looks.count > 2 * holds.count { looks.sweep(keeping: heldBack(at: now)) }
    }

    private func heldBack(at now: Moment) -> [Alarms<HoldName>.Alarm] {
        holds.flatMap { number, holds in
            holds.compactMap { context, deadline in
                deadline.nextLook(at: now).map { time in
                    .init(time: time, subject: HoldName(number: number, context: context))
                }
            }
        }
    }

    mutating func release(_ number: OperationNumber, _ context: String) {
        holds[number]?[context] = nil
        if holds[number]?.isEmpty ?? true {
            holds[number] = nil
            schedule.release(number)
        }
    }

    /// Takes all holds back that are not of these contexts, nor the queue's own for a conflict.
    mutating func releaseAll(_ number: OperationNumber, except contexts: Set<String>) {
        for context in (holds[number] ?? [:]).keys
        where !contexts.contains(context) && context != Self.conflictContext {
            release(number, context)
        }
    }

    private mutating func releaseAll(_ number: OperationNumber) {
        guard holds.removeValue(forKey: number) != nil else { return }
        schedule.release(number)
    }
}

// MARK: - Hosts

extension QueueMachine {
    /// A host has answered as it should: it may have its next operation sooner.
    mutating func succeeded(_ host: Int) {
        governors[host].succeeded()
        for lane in lanes.indices { schedule.wake(host, in: lane) }
        if rests.isFull { rests.sweep(keeping: resting) }
    }

    var resting: [Alarms<RestingHost>.Alarm] {
        lanes.indices.flatMap { lane in
            schedule.lanes[lane].resting.map { host, time in
                .init(time: time, subject: RestingHost(host: host, lane: lane))
            }
        }
    }

    /// A host asked for a slower pace, or for none until a time, when an operation was sent to it:
    /// one that may be gone meanwhile, or read again from the database.
    mutating func throttled(
        _ host: Int,
        by number: OperationNumber,
        until pause: Duration?,
        at now: Moment
    ) {
        // It may have no operation any more.
        hosts.use(host)
        hosts.release(host)
        let start = startTimes[number] ?? now.elapsed
        governors[host].throttled(startedAt: start, until: pause, at: now.elapsed)
    }

    mutating func mayStart(_ host: Int, at now: Moment) -> Bool {
        governors[host].mayStart(at: now.elapsed)
    }

    func hostName(_ host: Int) -> String { hosts.name(of: host) ?? "its host" }

    func perSecond(ofHost name: String) -> Double? {
        hosts.number(of: name).map { governors[$0].perSecond }
    }
}

// MARK: - What to do

extension QueueMachine {
    /// The operations to start now, in order; they are running from here on.
    mutating func start(at now: Moment, max: Int = .max) -> [OperationNumber] {
        endHolds(at: now)
        endRests(at: now)
        var started: [OperationNumber] = []
        for lane in lanes.indices {
            while started.count < max, let number = startNext(in: lane, at: now) {
                started.append(number)
            }
        }
        return started
    }

    private mutating func startNext(in lane: Int, at now: Moment) -> OperationNumber? {
        let number = withRests(in: lane, at: now) { $0.startNext(in: lane, unless: $1) }
        guard let number, let host = schedule.position(of: number)?.host else { return nil }
        governors[host].started(at: now.elapsed)
        startTimes[number] = now.elapsed
        return number
    }

    /// Lends the schedule, and what it has to know of hosts; notes which of them rest then.
    private mutating func withRests<Result>(
        in lane: Int,
        at now: Moment,
        _ body: (inout Schedule, _ rest: (Int) -> Duration?) -> Result
    ) -> Result {
        // Taken out for the time of the call: the schedule is changed while it asks.
        var (governors, rests) = (governors, rests)
        self.governors = []
        self.rests.removeAll()
        defer { (self.governors, self.rests) = (governors, rests) }
        return body(&schedule) { host in
            if governors[host].mayStart(at: now.elapsed) { return nil }
            let time = governors[host].nextStart(after: now.elapsed)
            rests.set(time, for: RestingHost(host: host, lane: lane))
            return time
        }
    }

    /// When to look again although nothing happens: invariant (3).
    mutating func nextLook(at now: Moment) -> Duration? {
        endRests(at: now)
        for lane in lanes.indices {
            let first = withRests(in: lane, at: now) { $0.first(in: lane, unless: $1) }
            if first != nil { return now.elapsed }
        }
        return [looks.first?.time, rests.first?.time].compactMap { $0 }.min()
    }

    private mutating func endRests(at now: Moment) {
        while let rest = rests.first {
            let (host, lane) = (rest.subject.host, rest.subject.lane)
            // A host that was woken may rest again, until another time.
            let isCurrent = schedule.lanes[lane].resting[host] == rest.time
            if isCurrent, rest.time > now.elapsed { return }
            rests.removeFirst()
            if isCurrent { schedule.wake(host, in: lane) }
        }
    }

    private mutating func endHolds(at now: Moment) {
        while let look = looks.first, look.time <= now.elapsed {
            looks.removeFirst()
            let (number, context) = (look.subject.number, look.subject.context)
            guard let deadline = holds[number]?[context] else { continue }
            if deadline.isPast(at: now) {
                release(number, context)
            } else if case .calendar = deadline, let time = deadline.nextLook(at: now) {
                looks.set(time, for: look.subject)
            }
        }
    }
}

extension [String: Int] {
    /// Takes one away, and the entry with the last one.
    fileprivate mutating func decrement(_ key: String) {
        guard let count = self[key] else { return }
        self[key] = count > 1 ? count - 1 : nil
    }
}

extension Int {
    /// Adds, and stays at the largest number there is.
    fileprivate mutating func add(_ other: Int) {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        self = isTooLarge ? .max : sum
    }
}
