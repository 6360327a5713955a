import GodwitStore
import GodwitTestKit

@testable import GodwitQueue

/// A queue, its database and its cloud in one value, driven by one seed.
///
/// The database is a dictionary, the shell is a few lines, the machine is the real one. Crashes
/// come between any two steps of an attempt; the machine is lost then, and read anew. At every
/// start the world asks itself, without the machine, whether that may be.
struct QueueSimulation {
    /// What the database has of an operation.
    struct Row {
        var item: Schedule.Item
        /// The launch that runs it.
        var epoch: Int?
        var isRefused = false
        /// Whether it was a dead letter: later commits may have overtaken it.
        var wasRefused = false
        var isPoison: Bool
        /// The app's holds, by context.
        var holds: [String: Deadline] = [:]
        /// When the next attempt may come.
        var retry: Duration?
    }

    /// How far an attempt has come.
    private enum Step { case claimed, sent, answered }

    var random: Seeded
    var machine = QueueMachine()
    var rows: [OperationNumber: Row] = [:]
    private var attempts: [OperationNumber: Step] = [:]
    var now = Moment(elapsed: .seconds(1), calendar: 1_000_000)
    private var epoch = 0
    let lanes: [(isOrdered: Bool, limit: Int, requirements: Requirements)]
    private var nextCommit: Int64 = 1
    private var left: Int
    var isHealed = false
    /// The world's own books, to hold against the machine's.
    var suspensions: [Int: [String: Int]] = [:]
    var conditions = Conditions()
    var pauses: [Int: Duration] = [:]
    /// The operations in the order in which the cloud did them, each once.
    var applied: [OperationNumber] = []
    var enqueued: [OperationNumber: Schedule.Item] = [:]
    var fault: String?

    private static let contexts = ["login", "merge"]
    private static let hosts = [nil, "a.example", "b.example"]

    init(seed: UInt64) {
        var random = Seeded(seed: seed)
        lanes = (0..<Int.random(in: 1...2, using: &random)).map { _ in
            (
                random.happens(0.6), random.happens(0.2) ? 0 : .random(in: 1...3, using: &random),
                random.happens(0.3) ? .network : []
            )
        }
        left = Int.random(in: 1...12, using: &random)
        self.random = random
        launch()
    }

    mutating func run() {
        var steps = 0
        while fault == nil, !(isHealed && rows.values.allSatisfy(\.isRefused)) {
            steps += 1
            if steps > 250, !isHealed { heal() }
            if steps > 3_000 { fault = "stalled with \(rows.keys.sorted())" }
            isHealed ? advance() : stumble()
            forgetPastHolds()
            machine.checkInvariants()
        }
        checkEnd()
    }

    // MARK: - Steps

    /// Anything may happen.
    private mutating func stumble() {
        switch Int.random(in: 0..<30, using: &random) {
        case 0...3 where left > 0: enqueue()
        case 4: crash()
        case 5: now.calendar += Int64.random(in: -10_000_000...10_000_000, using: &random)
        case 6: suspendOrResume()
        case 7: changeConditions()
        case 8: hold()
        case 9: releaseOne()
        case 10: skip()
        case 11: reprioritize()
        case 12: changeNeeds()
        case 13: retryDeadLetter()
        case 14: now.elapsed += .milliseconds(Int.random(in: 0...5_000, using: &random))
        default: advance()
        }
    }

    private mutating func heal() {
        while left > 0 { enqueue() }
        for (lane, reasons) in suspensions {
            for (reason, count) in reasons {
                for _ in 0..<count { resume(lane, reason) }
            }
        }
        conditions = Conditions()
        machine.setConditions(conditions)
        for number in rows.keys.sorted() {
            for context in Self.contexts where rows[number]?.holds[context] == .never {
                release(number, context)
            }
        }
        isHealed = true
    }

    /// The shell does what there is to do: starts, goes on with an attempt, or sleeps.
    private mutating func advance() {
        for number in machine.start(at: now) { claim(number) }
        if let number = attempts.keys.sorted().randomElement(using: &random) {
            return proceed(number)
        }
        guard isHealed else { return }
        guard let look = machine.nextLook(at: now) else {
            if !rows.values.allSatisfy(\.isRefused) { fault = "nobody will ever look again" }
            return
        }
        let slept = max(look - now.elapsed, .zero)
        now.elapsed += slept
        now.calendar += Int64(slept / .milliseconds(1)) + 1
    }

    /// What is over is over, also when the calendar jumps back later.
    private mutating func forgetPastHolds() {
        for number in rows.keys {
            let left = rows[number]?.holds.filter { !$0.value.isPast(at: now) }
            rows[number]?.holds = left ?? [:]
        }
    }

    // MARK: - The life of an operation

    private mutating func enqueue() {
        let commit = CommitNumber(rawValue: nextCommit)
        nextCommit += 1
        let count = min(left, Int.random(in: 1...3, using: &random))
        left -= count
        var items: [Schedule.Item] = []
        for index in 0..<count {
            let lane = Int.random(in: lanes.indices, using: &random)
            // What is left of a commit that later ones have overtaken keeps nobody back.
            let earlier = rows.values
                .filter { $0.item.lane == lane && !$0.isRefused && !$0.wasRefused }
                .map(\.item.commit).sorted()
            let joined = random.happens(0.1) ? earlier.randomElement(using: &random) : nil
            var item = Schedule.Item(
                number: OperationNumber(commit: commit, index: index),
                commit: joined ?? commit,
                lane: lane,
                host: .random(in: Self.hosts.indices, using: &random),
                priority: .random(in: 0...2, using: &random)
            )
            item.needs = someNeeds(of: item)
            items.append(item)
            rows[item.number] = Row(item: item, isPoison: random.happens(0.05))
            enqueued[item.number] = item
        }
        machine.insert(items)
    }

    /// Some of what comes before an operation, so that no circle is closed.
    ///
    /// What needs a dead letter would wait for somebody's decision.
    private mutating func someNeeds(of item: Schedule.Item) -> [OperationNumber] {
        let before = rows.values.filter { row in
            !row.isRefused && (row.item.commit, row.item.number) < (item.commit, item.number)
        }.map(\.item.number).sorted()
        return before.filter { _ in random.happens(0.2) }
    }

    private mutating func claim(_ number: OperationNumber) {
        if let reason = reasonNotToStart(number) {
            fault = "\(number) was started although \(reason)"
            return
        }
        rows[number]?.epoch = epoch
        attempts[number] = .claimed
    }

    private mutating func proceed(_ number: OperationNumber) {
        guard let step = attempts[number], let row = rows[number] else { return }
        switch step {
        case .claimed:
            if random.happens(0.2) { return fail(number) }
            // The cloud knows the idempotency key: the second time changes nothing.
            if !row.isPoison, !applied.contains(number) { applied.append(number) }
            attempts[number] = .sent
        case .sent:
            if random.happens(0.1) { return fail(number) }
            attempts[number] = .answered
        case .answered:
            attempts[number] = nil
            if row.isPoison {
                refuse(number)
            } else {
                machine.succeeded(row.item.host)
                rows[number] = nil
                machine.finish(number)
            }
        }
    }

    private mutating func refuse(_ number: OperationNumber) {
        rows[number]?.isRefused = true
        rows[number]?.epoch = nil
        rows[number]?.holds = [:]
        rows[number]?.retry = nil
        machine.park(number)
        for dependent in rows.keys.sorted() where needs(dependent).contains(number) {
            drop(dependent)
        }
    }

    private mutating func fail(_ number: OperationNumber) {
        attempts[number] = nil
        guard let host = rows[number]?.item.host else { return }
        if random.happens(0.1) {
            // It was cancelled, which is no failure: it may start again at once.
            rows[number]?.epoch = nil
            return machine.requeue(number)
        }
        if random.happens(0.3) {
            let pause = now.elapsed + .milliseconds(Int.random(in: 0...30_000, using: &random))
            machine.throttled(host, by: number, until: pause, at: now)
            pauses[host] = max(pauses[host] ?? .zero, pause)
        }
        let delay = Duration.milliseconds(Int.random(in: 1...60_000, using: &random))
        rows[number]?.epoch = nil
        rows[number]?.retry = now.elapsed + delay
        let deadline = Deadline.elapsed(now.elapsed + delay)
        machine.hold(number, .init(context: "retry", deadline: deadline), at: now)
        machine.requeue(number)
    }

    func needs(_ number: OperationNumber) -> [OperationNumber] { rows[number]?.item.needs ?? [] }

    private mutating func drop(_ number: OperationNumber) {
        rows[number] = nil
        attempts[number] = nil
        enqueued[number] = nil
        applied.removeAll { $0 == number }
        machine.finish(number)
    }
}

// MARK: - What people do

extension QueueSimulation {
    private mutating func anyWaiting() -> OperationNumber? {
        rows.filter { !$0.value.isRefused && $0.value.epoch == nil }.keys.sorted()
            .randomElement(using: &random)
    }

    private mutating func hold() {
        guard let number = anyWaiting(), let context = Self.contexts.randomElement(using: &random)
        else { return }
        let until = now.calendar + .random(in: 0...100_000, using: &random)
        let deadline = random.happens(0.5) ? Deadline.never : .calendar(until)
        rows[number]?.holds[context] = deadline
        machine.hold(number, .init(context: context, deadline: deadline), at: now)
    }

    private mutating func releaseOne() {
        guard let number = anyWaiting(), let context = Self.contexts.randomElement(using: &random)
        else { return }
        release(number, context)
    }

    private mutating func release(_ number: OperationNumber, _ context: String) {
        rows[number]?.holds[context] = nil
        machine.release(number, context)
    }

    private mutating func skip() {
        guard let number = anyWaiting(), random.happens(0.3) else { return }
        drop(number)
    }

    private mutating func reprioritize() {
        guard let number = anyWaiting() else { return }
        let priority = Int32.random(in: 0...2, using: &random)
        rows[number]?.item.priority = priority
        machine.modify(number, priority: priority, needs: nil)
    }

    private mutating func changeNeeds() {
        // What the cloud has seen already cannot come after anything else.
        guard let number = anyWaiting(), !applied.contains(number),
            let item = rows[number]?.item
        else { return }
        let needs = someNeeds(of: item)
        rows[number]?.item.needs = needs
        enqueued[number]?.needs = needs
        machine.modify(number, priority: nil, needs: needs)
    }

    private mutating func retryDeadLetter() {
        let dead = rows.filter(\.value.isRefused).keys.sorted()
        guard let number = dead.randomElement(using: &random) else { return }
        rows[number]?.isRefused = false
        rows[number]?.wasRefused = true
        rows[number]?.isPoison = false
        machine.unpark(number)
    }

    private mutating func suspendOrResume() {
        let lane = Int.random(in: -1..<lanes.count, using: &random)
        let reason = random.happens(0.5) ? "wifi" : "user"
        if random.happens(0.6) {
            suspensions[lane, default: [:]][reason, default: 0] += 1
            machine.suspend(lane < 0 ? nil : lane, reason: reason)
        } else {
            resume(lane, reason)
        }
    }

    private mutating func resume(_ lane: Int, _ reason: String) {
        let count = suspensions[lane]?[reason] ?? 0
        suspensions[lane]?[reason] = count > 1 ? count - 1 : nil
        machine.resume(lane < 0 ? nil : lane, reason: reason)
    }

    private mutating func changeConditions() {
        conditions.isOnline = random.happens(0.6)
        machine.setConditions(conditions)
    }
}

// MARK: - Crashes

extension QueueSimulation {
    private mutating func crash() {
        // Some transfers go on without the process.
        let transfers = attempts.filter { $0.value == .sent && random.happens(0.3) }
        attempts = transfers
        launch()
        for number in transfers.keys.sorted() {
            rows[number]?.epoch = epoch
            machine.adoptRunning(number)
        }
    }

    /// A launch: everything that was in memory is read from the database.
    private mutating func launch() {
        epoch += 1
        machine = QueueMachine()
        now.elapsed = .seconds(Int.random(in: 1...100, using: &random))
        (suspensions, pauses, conditions) = ([:], [:], Conditions())
        for host in Self.hosts { _ = machine.host(named: host, at: now) }
        for (index, lane) in lanes.enumerated() {
            _ = machine.addLane(
                "\(index)",
                isOrdered: lane.isOrdered,
                limit: lane.limit,
                requirements: lane.requirements
            )
        }
        let numbers = rows.keys.sorted()
        for number in numbers {
            if let row = rows[number] { machine.add(row.item) }
        }
        for number in numbers {
            for need in needs(number) where rows[need] != nil {
                machine.add(need, to: number) { _ in preconditionFailure("there is one queue") }
            }
        }
        machine.admitAll()
        for number in numbers {
            guard let row = rows[number] else { continue }
            rows[number]?.epoch = nil
            rows[number]?.retry = nil
            if row.isRefused { machine.park(number) }
            for (context, deadline) in row.holds.sorted(by: { $0.key < $1.key }) {
                machine.hold(number, .init(context: context, deadline: deadline), at: now)
            }
        }
    }
}
