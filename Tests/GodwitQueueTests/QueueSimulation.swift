import GodwitStore
import GodwitTestKit

@testable import GodwitQueue

/// A queue, its database and its cloud in one value, driven by one seed.
///
/// The database is a dictionary, the shell is a few lines, the machine is the real one. Crashes
/// come between any two steps of an attempt; the machine is lost then, and read anew.
struct QueueSimulation {
    /// What the database has of an operation.
    private struct Row {
        let item: Schedule.Item
        /// The launch that runs it.
        var epoch: Int?
        var attempts = 0
        var isRefused = false
        var heldUntil: Int64?
        var isPoison: Bool
    }

    /// How far an attempt has come.
    private enum Step: CaseIterable {
        case claimed, sent, answered
    }

    private var random: Seeded
    private var machine = QueueMachine()
    private var rows: [OperationNumber: Row] = [:]
    private var attempts: [OperationNumber: Step] = [:]
    private var now = Moment(elapsed: .seconds(1), calendar: 1_000_000)
    private var epoch = 0
    private let isOrdered: [Bool]
    private var nextCommit: Int64 = 1
    private var left: Int
    private var isHealed = false
    private var isSuspended = false
    /// The operations in the order in which the cloud did them, each once.
    private(set) var applied: [OperationNumber] = []
    private(set) var enqueued: [OperationNumber: Schedule.Item] = [:]
    private(set) var fault: String?

    init(seed: UInt64) {
        var random = Seeded(seed: seed)
        let laneCount = Int.random(in: 1...2, using: &random)
        isOrdered = (0..<laneCount).map { _ in random.happens(0.6) }
        left = Int.random(in: 1...12, using: &random)
        self.random = random
        launch()
    }

    mutating func run() {
        var steps = 0
        while fault == nil, !(isHealed && rows.values.allSatisfy(\.isRefused)) {
            steps += 1
            if steps > 300, !isHealed { heal() }
            if steps > 3_000 { fault = "stalled with \(rows.keys.sorted())" }
            isHealed ? advance() : stumble()
            machine.checkInvariants()
        }
        check()
    }

    // MARK: - Steps

    /// Anything may happen.
    private mutating func stumble() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...2 where left > 0: enqueue()
        case 3: crash()
        case 4: now.calendar += Int64.random(in: -10_000_000...10_000_000, using: &random)
        case 5: toggleSuspension()
        case 6: hold()
        case 7: skip()
        case 8: now.elapsed += .milliseconds(Int.random(in: 0...5_000, using: &random))
        default: advance()
        }
    }

    private mutating func heal() {
        while left > 0 { enqueue() }
        if isSuspended { toggleSuspension() }
        for number in rows.keys where rows[number]?.heldUntil == .max {
            rows[number]?.heldUntil = nil
            machine.release(number, "app")
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

    private mutating func enqueue() {
        let commit = CommitNumber(rawValue: nextCommit)
        nextCommit += 1
        let count = min(left, Int.random(in: 1...3, using: &random))
        left -= count
        var items: [Schedule.Item] = []
        for index in 0..<count {
            // What needs a dead letter would wait for somebody's decision.
            let known = rows.keys.filter { rows[$0]?.isRefused == false }.sorted()
            let item = Schedule.Item(
                number: OperationNumber(commit: commit, index: index),
                commit: commit,
                lane: .random(in: isOrdered.indices, using: &random),
                priority: .random(in: 0...2, using: &random),
                needs: known.filter { _ in random.happens(0.2) }
            )
            items.append(item)
            rows[item.number] = Row(item: item, isPoison: random.happens(0.05))
            enqueued[item.number] = item
        }
        machine.insert(items)
    }

    private mutating func claim(_ number: OperationNumber) {
        guard var row = rows[number], row.epoch != epoch, !row.isRefused else {
            fault = "\(number) was started twice, or after its end"
            return
        }
        row.epoch = epoch
        rows[number] = row
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
                rows[number]?.isRefused = true
                rows[number]?.epoch = nil
                machine.park(number)
                for dependent in rows.keys.sorted() where needs(dependent).contains(number) {
                    drop(dependent)
                }
            } else {
                rows[number] = nil
                machine.finish(number)
            }
        }
    }

    private mutating func fail(_ number: OperationNumber) {
        attempts[number] = nil
        let delay = Int64.random(in: 1...60_000, using: &random)
        rows[number]?.epoch = nil
        rows[number]?.attempts += 1
        let deadline = Deadline.elapsed(now.elapsed + .milliseconds(delay))
        machine.hold(number, .init(context: "retry", deadline: deadline), at: now)
        machine.requeue(number)
    }

    private func needs(_ number: OperationNumber) -> [OperationNumber] {
        rows[number]?.item.needs ?? []
    }

    private mutating func hold() {
        guard let number = rows.keys.sorted().randomElement(using: &random),
            rows[number]?.isRefused == false
        else { return }
        let isOpen = random.happens(0.5)
        let until = isOpen ? Int64.max : now.calendar + .random(in: 0...100_000, using: &random)
        rows[number]?.heldUntil = until
        let deadline: Deadline = isOpen ? .never : .calendar(until)
        machine.hold(number, .init(context: "app", deadline: deadline), at: now)
    }

    private mutating func skip() {
        guard let number = rows.keys.sorted().randomElement(using: &random),
            attempts[number] == nil, random.happens(0.3)
        else { return }
        drop(number)
    }

    private mutating func drop(_ number: OperationNumber) {
        rows[number] = nil
        attempts[number] = nil
        enqueued[number] = nil
        applied.removeAll { $0 == number }
        machine.finish(number)
    }

    private mutating func toggleSuspension() {
        isSuspended.toggle()
        if isSuspended {
            machine.suspend(nil, reason: "test")
        } else {
            machine.resume(nil, reason: "test")
        }
    }

    private mutating func crash() {
        attempts = [:]
        launch()
    }

    /// A launch: everything that was in memory is read from the database.
    private mutating func launch() {
        epoch += 1
        machine = QueueMachine()
        now.elapsed = .seconds(Int.random(in: 1...100, using: &random))
        _ = machine.host(named: nil, at: now)
        for (index, isOrdered) in isOrdered.enumerated() {
            _ = machine.addLane("\(index)", isOrdered: isOrdered, limit: 2)
        }
        for number in rows.keys.sorted() {
            if let row = rows[number] { machine.add(row.item) }
        }
        for number in rows.keys.sorted() {
            for need in needs(number) where rows[need] != nil {
                machine.add(need, to: number) { _ in preconditionFailure("there is one queue") }
            }
        }
        machine.admitAll()
        for (number, row) in rows.sorted(by: { $0.key < $1.key }) {
            if row.isRefused { machine.park(number) }
            guard let until = row.heldUntil, !row.isRefused else { continue }
            let deadline: Deadline = until == .max ? .never : .calendar(until)
            machine.hold(number, .init(context: "app", deadline: deadline), at: now)
        }
        isSuspended = false
    }

    // MARK: - What must hold in the end

    private mutating func check() {
        guard fault == nil else { return }
        let expected = enqueued.values.filter { rows[$0.number] == nil }.map(\.number)
        guard Set(applied) == Set(expected) else {
            fault = "the cloud has \(applied), and not \(expected.sorted())"
            return
        }
        let place = Dictionary(uniqueKeysWithValues: zip(applied, applied.indices))
        for item in enqueued.values {
            guard let own = place[item.number] else { continue }
            for need in item.needs where (place[need] ?? -1) > own {
                fault = "\(item.number) came before \(need)"
            }
            for other in enqueued.values
            where isOrdered[item.lane] && other.lane == item.lane && other.commit < item.commit {
                if (place[other.number] ?? -1) > own {
                    fault = "\(item.number) came before the commit of \(other.number) was done"
                }
            }
        }
    }
}
