import GodwitStore
import GodwitTestKit
import Testing

@testable import GodwitQueue

@Suite struct ScheduleTests {
    @Test func `an operation starts after those it depends on`() {
        var schedule = Schedule(limit: 4)
        schedule.insert([.make(1, after: [2]), .make(2)])

        #expect(schedule.startNext() == .number(2))
        #expect(schedule.startNext() == nil, "the customer is still on its way")
        schedule.finish(.number(2))
        #expect(schedule.startNext() == .number(1))
    }

    @Test func `priority is a hint, dependency a promise, and the rest goes in order`() {
        var schedule = Schedule(limit: 1)
        schedule.insert([
            .make(1, after: [2], priority: 9), .make(2), .make(3, priority: 5), .make(4),
        ])

        #expect(schedule.drain() == [3, 2, 1, 4])
    }

    @Test func `a commit is finished before the next one starts`() {
        var schedule = Schedule(limit: 0)
        schedule.insert([.make(1), .make(2)])
        schedule.insert([.make(3, commit: 2, priority: 100)])

        let first = schedule.startNext()
        let second = schedule.startNext()
        #expect([first, second] == [.number(1), .number(2)])
        #expect(schedule.startNext() == nil)
        schedule.finish(.number(2))
        #expect(schedule.startNext() == nil)
        #expect(schedule.firstUnfinished == CommitNumber(rawValue: 1))
        schedule.finish(.number(1))
        #expect(schedule.startNext() == .number(3))
    }

    @Test func `what waits for its next attempt takes nobody's place, and keeps its commit open`() {
        var schedule = Schedule(limit: 1)
        schedule.insert([.make(1), .make(2), .make(3, after: [1]), .make(4, commit: 2)])

        #expect(schedule.startNext() == .number(1))
        schedule.hold(.number(1))
        #expect(schedule.startNext() == .number(2))
        schedule.finish(.number(2))
        #expect(schedule.startNext() == nil, "3 waits for 1, and 4 for their commit")
        schedule.release(.number(1))
        #expect(schedule.drain() == [1, 3, 4])
    }

    /// Every graph over four operations whose arrows point from a later number to an earlier
    /// one, with every way to spread the four over two commits, for one to three at a time.
    @Test(arguments: 0..<64)
    func `no graph starts an operation early, and none is forgotten`(graph: Int) {
        let pairs = [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)]
        let arrows = pairs.enumerated().filter { graph & (1 << $0.offset) != 0 }.map(\.element)
        for split in 0...4 {
            for limit in 1...3 {
                let items = (1...4).map { number in
                    Schedule.Item.make(
                        number,
                        after: arrows.filter { $0.0 == number }.map(\.1),
                        commit: number <= split ? 1 : 2
                    )
                }
                var schedule = Schedule(limit: limit)
                schedule.insert(items)

                let order = schedule.drain()

                #expect(order.sorted() == [1, 2, 3, 4])
                for (later, earlier) in arrows {
                    let place = { order.firstIndex(of: $0) ?? -1 }
                    #expect(place(earlier) < place(later), "\(order)")
                }
                let commits = order.map { $0 <= split ? 1 : 2 }
                #expect(commits == commits.sorted(), "\(order) with \(split) in the first commit")
            }
        }
    }

    @Test func `any order of events keeps the invariants`() {
        for seed in 0..<2_000 as Range<UInt64> {
            var world = RandomSchedule(seed: seed)
            world.run()
            #expect(world.started.count == world.count, "seed \(seed)")
        }
    }
}

/// Operations that come, run, fail and finish in a random order.
private struct RandomSchedule {
    private var random: Seeded
    private var schedule: Schedule
    private var running: [OperationID] = []
    private var held: [OperationID] = []
    private(set) var started: Set<OperationID> = []
    let count = 30

    init(seed: UInt64) {
        random = Seeded(seed: seed)
        schedule = Schedule(limit: Int.random(in: 0...4, using: &random))
    }

    mutating func run() {
        var next = 1
        while next <= count || !schedule.isEmpty {
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where next <= count:
                let size = min(Int.random(in: 1...4, using: &random), count + 1 - next)
                schedule.insert(commit(of: next..<(next + size)))
                next += size
            case 1 where !running.isEmpty:
                let id = running.remove(at: .random(in: running.indices, using: &random))
                schedule.hold(id)
                held.append(id)
            case 2 where !held.isEmpty:
                schedule.release(held.remove(at: .random(in: held.indices, using: &random)))
            case 3 where !running.isEmpty:
                schedule.finish(running.remove(at: .random(in: running.indices, using: &random)))
            default:
                guard let id = schedule.startNext() else { break }
                running.append(id)
                started.insert(id)
            }
            schedule.checkInvariants()
        }
    }

    private mutating func commit(of numbers: Range<Int>) -> [Schedule.Item] {
        numbers.map { number in
            let earlier = (1..<number).filter { _ in random.happens(0.2) }
            return .make(
                number,
                after: earlier,
                commit: Int64(numbers.lowerBound),
                priority: Int32.random(in: 0...2, using: &random)
            )
        }
    }
}

extension Schedule {
    /// Runs everything to the end, and returns the order in which operations started.
    fileprivate mutating func drain() -> [Int] {
        var order: [Int] = []
        var running: [OperationID] = []
        while true {
            while let id = startNext() {
                order.append(id.number)
                running.append(id)
            }
            guard let last = running.popLast() else { return order }
            finish(last)
            checkInvariants()
        }
    }
}

extension Schedule.Item {
    fileprivate static func make(
        _ number: Int,
        after: [Int] = [],
        commit: Int64 = 1,
        priority: Int32 = 0
    ) -> Schedule.Item {
        Schedule.Item(
            id: .number(number),
            commit: CommitNumber(rawValue: commit),
            sequence: Int64(number),
            priority: priority,
            dependencies: Set(after.map { .number($0) })
        )
    }
}

extension OperationID {
    static func number(_ number: Int) -> OperationID {
        let bytes = [UInt8](repeating: 0, count: 15) + [UInt8(number)]
        guard let identifier = Identifier(bytes: bytes) else { preconditionFailure("16 bytes") }
        return OperationID(identifier)
    }

    fileprivate var number: Int { Int(identifier.bytes[15]) }
}
