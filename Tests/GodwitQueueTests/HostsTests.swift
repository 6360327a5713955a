import GodwitStore
import Testing

@testable import GodwitQueue

/// The hosts that a queue remembers.
@Suite struct HostsTests {
    @Test func `any number of hosts come and go, and few are remembered`() {
        var machine = QueueMachine()
        let lane = machine.addLane("default", isOrdered: false, limit: 0)
        for number in 0..<100_000 as Range<Int64> {
            let now = Moment(elapsed: .seconds(number), calendar: 0)
            let item = Schedule.Item(
                number: OperationNumber(rawValue: number),
                commit: CommitNumber(rawValue: number),
                lane: lane,
                host: machine.host(named: "\(number).example", at: now)
            )
            machine.insert([item])
            #expect(machine.start(at: now) == [item.number])
            machine.succeeded(item.host)
            machine.finish(item.number)
        }
        #expect(machine.hostCount <= 2 * Hosts.unusedMin)
    }

    @Test func `hosts that are gone leave their numbers to others`() {
        var hosts = Hosts()
        var highest = 0
        for index in 0..<10_000 {
            let number = hosts.add("host \(index)") { _ in true }
            highest = max(highest, number)
            hosts.use(number)
            hosts.release(number)
        }
        #expect(highest <= 2 * Hosts.unusedMin)
        #expect(hosts.count <= 2 * Hosts.unusedMin)
        #expect(hosts.number(of: "host 9999").flatMap(hosts.name) == "host 9999")
    }

    @Test func `more hosts wait at once than sixteen bits can count`() {
        var machine = QueueMachine()
        let lane = machine.addLane("default", isOrdered: false, limit: 0)
        let items = (0..<70_000 as Range<Int64>).map { number in
            Schedule.Item(
                number: OperationNumber(rawValue: number),
                commit: CommitNumber(rawValue: 1),
                lane: lane,
                host: machine.host(named: "\(number).example", at: .zero)
            )
        }
        machine.insert(items)
        #expect(machine.hostCount == 70_000)
        #expect(machine.start(at: .zero, max: 3) == items.prefix(3).map(\.number))
    }

    @Test func `a start asks for the host of what starts, and not for all hosts`() {
        var schedule = Schedule()
        schedule.lanes = [Schedule.Lane(isOrdered: false, limit: 0)]
        schedule.insert(
            (1...10_000).map { number in
                Schedule.Item(
                    number: OperationNumber(rawValue: Int64(number)),
                    commit: CommitNumber(rawValue: 1),
                    host: number
                )
            }
        )
        var askedCount = 0
        var started: [Int64] = []
        let pausedUntil = Duration.seconds(9)
        while let number = schedule.startNext(
            in: 0,
            unless: { host in
                askedCount += 1
                return host.isMultiple(of: 2) ? pausedUntil : nil
            }
        ) {
            started.append(number.rawValue)
        }
        #expect(started == (1...10_000).filter { !$0.isMultiple(of: 2) })
        #expect(askedCount == 10_000, "each host once: those that rest are left alone")
        schedule.wake(2, in: 0)
        #expect(schedule.startNext(in: 0)?.rawValue == 2)
        schedule.checkInvariants()
    }

    @Test func `an operation that is overtaken for ever is offered once`() {
        var schedule = Schedule()
        schedule.lanes = [Schedule.Lane(isOrdered: false, limit: 1)]
        func item(_ number: Int64, priority: Int32) -> Schedule.Item {
            Schedule.Item(
                number: OperationNumber(rawValue: number),
                commit: CommitNumber(rawValue: 1),
                priority: priority
            )
        }
        schedule.insert([item(1, priority: 0), item(2, priority: 1)])
        for number in 3...10_000 as ClosedRange<Int64> {
            let started = schedule.startNext(in: 0)
            #expect(started?.rawValue == number - 1)
            schedule.insert([item(number, priority: 1)])
            if let started { schedule.finish(started) }
            #expect(schedule.lanes[0].offerCount <= 80)
        }
        schedule.checkInvariants()
    }

    @Test func `hosts that rest wake one by one, each at its time`() {
        var machine = QueueMachine()
        let lane = machine.addLane("default", isOrdered: false, limit: 0)
        let items = (1...40 as ClosedRange<Int64>).map { number in
            Schedule.Item(
                number: OperationNumber(rawValue: number),
                commit: CommitNumber(rawValue: 1),
                lane: lane,
                host: machine.host(named: "\(number % 20).example", at: .zero)
            )
        }
        machine.insert(Array(items.prefix(20)))
        for number in machine.start(at: .zero) {
            let host = machine.host(named: "\(number.rawValue % 20).example", at: .zero)
            let pause = Duration.seconds(number.rawValue)
            machine.throttled(host, by: number, until: pause, at: .zero)
            machine.finish(number)
        }
        machine.insert(Array(items.suffix(20)))
        #expect(machine.start(at: .zero) == [])
        for second in 1...20 as ClosedRange<Int64> {
            machine.checkInvariants()
            #expect(machine.nextLook(at: .zero) == .seconds(second))
            let now = Moment(elapsed: .seconds(second), calendar: 0)
            #expect(machine.start(at: now).map(\.rawValue) == [second + 20])
        }
        #expect(machine.nextLook(at: Moment(elapsed: .seconds(21), calendar: 0)) == nil)
    }

    @Test func `a hold that is renewed for ever leaves no trail of looks`() {
        var machine = QueueMachine()
        let lane = machine.addLane("default", isOrdered: false, limit: 0)
        let number = OperationNumber(rawValue: 1)
        machine.insert([
            Schedule.Item(number: number, commit: CommitNumber(rawValue: 1), lane: lane)
        ])
        for second in 0..<10_000 {
            let now = Moment(elapsed: .seconds(second), calendar: Int64(second) * 1_000)
            let ends: [(String, Deadline)] = [
                ("elapsed", .elapsed(.seconds(second + 100_000))),
                ("calendar", .calendar(Int64(second) * 1_000 + 100_000_000)),
                ("same", .calendar(1_000_000_000)),
            ]
            for (context, deadline) in ends {
                let hold = QueueMachine.Hold(context: context, deadline: deadline)
                machine.hold(number, hold, at: now)
            }
            #expect(machine.start(at: now) == [])
            #expect(machine.looks.count <= 65)
        }
        machine.checkInvariants()
    }

    @Test func `a pause counts, although the operation that was answered is gone`() {
        var machine = QueueMachine()
        let lane = machine.addLane("default", isOrdered: false, limit: 0)
        let items = (1...2 as ClosedRange<Int64>).map { number in
            Schedule.Item(
                number: OperationNumber(rawValue: number),
                commit: CommitNumber(rawValue: 1),
                lane: lane,
                host: machine.host(named: "a.example", at: .zero)
            )
        }
        machine.insert(items)
        #expect(machine.start(at: .zero, max: 1) == [items[0].number])
        machine.finish(items[0].number)
        let host = machine.host(named: "a.example", at: .zero)
        machine.throttled(host, by: items[0].number, until: .seconds(60), at: .zero)
        #expect(machine.start(at: .zero) == [])
        let later = Moment(elapsed: .seconds(60), calendar: 0)
        #expect(machine.start(at: later) == [items[1].number])
    }

    @Test func `a host that was throttled is remembered although nothing waits for it`() {
        var machine = QueueMachine { _ in
            RateLimit(perSecondMax: 100, perSecondMin: 1, burstMax: 1, increase: 1)
        }
        let lane = machine.addLane("default", isOrdered: false, limit: 0)
        for number in 0..<500 as Range<Int64> {
            let name = number == 0 ? "slow.example" : "\(number).example"
            let item = Schedule.Item(
                number: OperationNumber(rawValue: number),
                commit: CommitNumber(rawValue: 1),
                lane: lane,
                host: machine.host(named: name, at: .zero)
            )
            machine.insert([item])
            #expect(machine.start(at: .zero) == [item.number])
            if number == 0 {
                machine.throttled(item.host, by: item.number, until: .seconds(60), at: .zero)
            }
            machine.finish(item.number)
        }
        #expect(machine.perSecond(ofHost: "slow.example").map { $0 < 100 } == true)
    }
}
