import GodwitStore
import GodwitTestKit

@testable import GodwitQueue

/// A schedule beside a model of it that goes by the definitions and looks at everything each
/// time; both get the same random events.
struct ScheduleWorld {
    private struct Entry {
        let item: Schedule.Item
        var state = Schedule.State.waiting
        var isHeld = false
        var priority: Int32
        var needs: Set<OperationNumber>
        var isOpen: Bool
    }

    private var random: Seeded
    private var schedule = Schedule()
    private var entries: [OperationNumber: Entry] = [:]
    private var lastOpened: [CommitNumber] = []
    private var next = 1
    private let count = 30
    private(set) var isAgreed = true

    init(seed: UInt64) {
        random = Seeded(seed: seed)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let limit = Int.random(in: 0...4, using: &random)
            schedule.lanes.append(.init(isOrdered: random.happens(0.5), limit: limit))
            lastOpened.append(.none)
        }
    }

    mutating func run() {
        var steps = 0
        while isAgreed, next <= count || !schedule.isEmpty {
            steps += 1
            step(isClosing: steps > 400)
            openCommits()
            schedule.checkInvariants()
            isAgreed = isAgreed && steps < 4_000
        }
    }

    private mutating func step(isClosing: Bool) {
        let some = entries.keys.sorted().randomElement(using: &random)
        switch (Int.random(in: 0..<11, using: &random), some) {
        case (0...1, _) where next <= count: insert()
        case (2...4, _): start()
        case (5, let number?): finish(number, onlyRunning: !random.happens(0.2))
        case (6, let number?) where !isClosing: park(number)
        case (6...7, let number?): unpark(number)
        case (8, let number?) where !isClosing: hold(number)
        case (8...9, let number?): release(number)
        case (10, let number?): change(number)
        default: break
        }
    }

    private mutating func insert() {
        let size = min(Int.random(in: 1...4, using: &random), count + 1 - next)
        let commit = CommitNumber(rawValue: Int64(next))
        let items = (next..<next + size).map { number in
            Schedule.Item(
                number: .make(number),
                commit: commit,
                lane: .random(in: schedule.lanes.indices, using: &random),
                host: .random(in: 0...1, using: &random),
                priority: .random(in: 0...2, using: &random),
                isOrdered: random.happens(0.1),
                needs: (1..<number).filter { _ in random.happens(0.1) }.map { .make($0) }
            )
        }
        schedule.insert(items)
        for item in items {
            let isOrdered = item.isOrdered || schedule.lanes[item.lane].isOrdered
            entries[item.number] = Entry(
                item: item,
                priority: item.priority,
                needs: [],
                isOpen: !isOrdered || item.commit <= lastOpened[item.lane]
            )
        }
        for item in items {
            let needs = Set(item.needs.filter { entries[$0] != nil })
            entries[item.number]?.needs = needs
        }
        next += size
    }

    private func isOrdered(_ entry: Entry) -> Bool {
        entry.item.isOrdered || schedule.lanes[entry.item.lane].isOrdered
    }

    private mutating func openCommits() {
        for lane in schedule.lanes.indices {
            let line = entries.values.filter {
                $0.item.lane == lane && isOrdered($0) && $0.state != .parked
            }
            guard !line.contains(where: \.isOpen), let first = line.map(\.item.commit).min() else {
                continue
            }
            lastOpened[lane] = first
            for entry in line where entry.item.commit == first {
                entries[entry.item.number]?.isOpen = true
            }
        }
    }

    private func ready(in lane: Int) -> OperationNumber? {
        let running = entries.values.filter { $0.state == .running && $0.item.lane == lane }
        guard running.count < schedule.lanes[lane].limit else { return nil }
        return entries.values.filter { entry in
            entry.item.lane == lane && entry.state == .waiting && !entry.isHeld && entry.isOpen
                && entry.needs.allSatisfy { entries[$0] == nil }
        }.min { left, right in
            (-left.priority, left.item.commit, left.item.number)
                < (-right.priority, right.item.commit, right.item.number)
        }?.item.number
    }

    private mutating func start() {
        let lane = Int.random(in: schedule.lanes.indices, using: &random)
        let expected = ready(in: lane)
        let found = schedule.startNext(in: lane)
        isAgreed = isAgreed && found == expected
        if let expected { entries[expected]?.state = .running }
    }

    private mutating func finish(_ number: OperationNumber, onlyRunning: Bool) {
        guard !onlyRunning || entries[number]?.state == .running else { return }
        schedule.finish(number)
        entries[number] = nil
    }

    private mutating func park(_ number: OperationNumber) {
        guard let entry = entries[number], entry.state != .parked else { return }
        schedule.park(number)
        entries[number]?.state = .parked
        if isOrdered(entry) { entries[number]?.isOpen = false }
    }

    private mutating func unpark(_ number: OperationNumber) {
        guard let entry = entries[number], entry.state == .parked else { return }
        schedule.unpark(number)
        entries[number]?.state = .waiting
        let isOpen = !isOrdered(entry) || entry.item.commit <= lastOpened[entry.item.lane]
        entries[number]?.isOpen = isOpen
    }

    private mutating func hold(_ number: OperationNumber) {
        schedule.hold(number)
        entries[number]?.isHeld = true
        guard entries[number]?.state == .running, random.happens(0.5) else { return }
        schedule.requeue(number)
        entries[number]?.state = .waiting
    }

    private mutating func release(_ number: OperationNumber) {
        schedule.release(number)
        entries[number]?.isHeld = false
    }

    private mutating func change(_ number: OperationNumber) {
        if random.happens(0.5) {
            let priority = Int32.random(in: 0...2, using: &random)
            schedule.setPriority(priority, of: number)
            entries[number]?.priority = priority
        } else {
            let earlier = entries.keys.filter { $0 < number }.sorted()
            let needs = earlier.filter { _ in random.happens(0.1) }
            schedule.setNeeds(needs, of: number)
            entries[number]?.needs = Set(needs)
        }
    }
}
