import GodwitStore
import GodwitTestKit
import Testing

@testable import GodwitQueue

@Suite struct ScheduleTests {
    @Test func `an operation starts after those it depends on`() {
        var schedule = Schedule(limit: 4)
        schedule.insert([.make(1, after: [2]), .make(2)])

        #expect(schedule.startNext() == 2)
        #expect(schedule.startNext() == nil, "the customer is still on its way")
        schedule.finish(2)
        #expect(schedule.startNext() == 1)
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

        #expect(schedule.startAll() == [1, 2])
        schedule.finish(2)
        #expect(schedule.startNext() == nil)
        schedule.finish(1)
        #expect(schedule.startNext() == 3)
    }

    @Test func `in flat order commits run beside each other, the earlier one first`() {
        var schedule = Schedule(limit: 2, isOrdered: false)
        schedule.insert([.make(1)])
        schedule.insert([.make(2, commit: 2)])
        schedule.insert([.make(3, commit: 3, priority: 1)])

        #expect(schedule.startAll() == [3, 1])
    }

    @Test func `what waits for its next attempt takes nobody's place, and keeps its commit open`() {
        var schedule = Schedule(limit: 1)
        schedule.insert([.make(1), .make(2), .make(3, after: [1]), .make(4, commit: 2)])

        #expect(schedule.startNext() == 1)
        schedule.hold(1)
        schedule.requeue(1)
        #expect(schedule.startNext() == 2)
        schedule.finish(2)
        #expect(schedule.startNext() == nil, "3 waits for 1, and 4 for their commit")
        schedule.release(1)
        #expect(schedule.drain() == [1, 3, 4])
    }

    @Test func `a dead letter lets the next commit through, and not what needs it`() {
        var schedule = Schedule(limit: 0)
        schedule.insert([.make(1), .make(2, after: [1]), .make(3)])
        schedule.insert([.make(4, commit: 2)])

        #expect(schedule.startAll() == [1, 3])
        schedule.park(1)
        schedule.finish(3)
        #expect(schedule.startNext() == nil, "2 is unfinished and keeps its commit open")
        schedule.park(2)
        #expect(schedule.startNext() == 4)
        schedule.unpark(1)
        schedule.unpark(2)
        #expect(schedule.drain() == [1, 2])
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

    @Test func `any order of events starts what the definition says`() {
        for seed in 0..<UInt64(2_000 * Soak.factor) {
            var world = ScheduleWorld(seed: seed)
            world.run()
            #expect(world.isAgreed, "seed \(seed)")
        }
    }
}

extension Schedule {
    init(limit: Int, isOrdered: Bool = true) {
        self.init()
        lanes.append(Lane(isOrdered: isOrdered, limit: limit))
    }

    fileprivate mutating func startNext() -> Int? { startNext(in: 0).map { Int($0.rawValue) } }

    fileprivate mutating func startAll() -> [Int] {
        var started: [Int] = []
        while let number = startNext() { started.append(number) }
        return started
    }

    fileprivate mutating func finish(_ number: Int) { finish(.make(number)) }
    fileprivate mutating func park(_ number: Int) { park(.make(number)) }
    fileprivate mutating func unpark(_ number: Int) { unpark(.make(number)) }
    fileprivate mutating func hold(_ number: Int) { hold(.make(number)) }
    fileprivate mutating func release(_ number: Int) { release(.make(number)) }
    fileprivate mutating func requeue(_ number: Int) { requeue(.make(number)) }

    /// Runs everything to the end, and returns the order in which operations started.
    fileprivate mutating func drain() -> [Int] {
        var order: [Int] = []
        var running: [Int] = []
        while true {
            while let number = startNext() {
                order.append(number)
                running.append(number)
            }
            guard let last = running.popLast() else { return order }
            finish(last)
            checkInvariants()
        }
    }
}

extension OperationNumber {
    static func make(_ number: Int) -> OperationNumber {
        OperationNumber(rawValue: Int64(number))
    }
}

extension Schedule.Item {
    static func make(
        _ number: Int,
        after needs: [Int] = [],
        commit: Int64 = 1,
        priority: Int32 = 0
    ) -> Schedule.Item {
        Schedule.Item(
            number: .make(number),
            commit: CommitNumber(rawValue: commit),
            priority: priority,
            needs: needs.map { .make($0) }
        )
    }
}
