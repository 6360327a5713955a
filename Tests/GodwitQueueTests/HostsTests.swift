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
