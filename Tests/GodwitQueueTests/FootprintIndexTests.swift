import GodwitTestKit
import Testing

@testable import GodwitQueue

/// A search finds what a look at all touches finds, whatever came and went before.
@Suite struct FootprintIndexTests {
    private struct World {
        var index = FootprintIndex()
        var records: [OperationNumber: FootprintRecord] = [:]
        private var count: Int64 = 0

        mutating func insert(_ rows: [FootprintRow], isLast: Bool) {
            count += 1
            let number = OperationNumber(rawValue: count)
            let record = FootprintRecord(rows, mayHide: isLast)
            let found = index.conflicts(with: rows, of: number, withHidden: !isLast)
            index.insert(record, of: number, hiding: found)
            records[number] = record
        }

        mutating func remove(_ number: OperationNumber) {
            index.remove(number)
            records[number] = nil
        }

        func all(with rows: [FootprintRow]) -> Set<OperationNumber> {
            let found = records.filter { entry in
                entry.value.rows.contains { other in rows.contains { $0.hasOrder(with: other) } }
            }
            return Set(found.keys)
        }
    }

    private static let names = ["/", "/a", "/b", "/a/b", "/a/b/c", "/a/c", "/b/a", "a", "b"]

    private static func rows(_ random: inout Seeded) -> [FootprintRow] {
        let rows = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let intents = Footprint.Intent.allCases
            let name = names[Int.random(in: 0..<names.count, using: &random)]
            let intent = intents[Int.random(in: 0..<intents.count, using: &random)]
            return FootprintRow(FootprintKey(name, on: nil), intent)
        }
        return Set(rows).sorted()
    }

    @Test func `a search finds what a look at all touches finds`() {
        for seed in 0..<UInt64(2_000 * Soak.factor) {
            var (random, world) = (Seeded(seed: seed), World())
            for step in 0..<30 {
                if random.happens(0.3),
                    let gone = world.records.keys.sorted().randomElement(using: &random)
                {
                    world.remove(gone)
                } else {
                    world.insert(Self.rows(&random), isLast: random.happens(0.8))
                }
                if random.happens(0.1) { world.index = Self.loaded(world.records) }
                let (rows, new) = (Self.rows(&random), OperationNumber(rawValue: .max))
                let found = world.index.conflicts(with: rows, of: new, withHidden: true)
                let all = world.all(with: rows)
                #expect(Set(found.map(\.operation)) == all, "seed \(seed), step \(step)")
                let inView = world.index.conflicts(with: rows, of: new, withHidden: false)
                #expect(
                    Self.reach(Set(inView.map(\.operation)), in: world.index).isSuperset(of: all),
                    "seed \(seed), step \(step)"
                )
            }
            for number in world.records.keys.sorted() { world.remove(number) }
            #expect(world.index.isEmpty, "seed \(seed)")
        }
    }

    @Test func `in commit order, an operation hides those of its own pipeline alone`() {
        var index = FootprintIndex()
        let rows = Footprint.resource("a").rows(for: nil)
        let record = FootprintRecord(rows, mayHide: true)
        func inView() -> [Int64] {
            let last = OperationNumber(rawValue: .max)
            let found = index.conflicts(with: rows, of: last, withHidden: false)
            return Set(found.map(\.operation.rawValue)).sorted()
        }
        for number in 1...100 {
            let isInStep = index.load(record, of: OperationNumber(rawValue: Int64(number)), in: "p")
            #expect(isInStep)
        }
        #expect(inView() == [100])
        _ = index.load(record, of: OperationNumber(rawValue: 101), in: "q")
        #expect(inView() == [100, 101])
        _ = index.load(record, of: OperationNumber(rawValue: 102))
        #expect(inView() == [102])
        // Another footprint, or one that would come before others: the index has to be read anew.
        let known = OperationNumber(rawValue: 50)
        let isSame = index.load(record, of: known, in: "p")
        let isInAnotherLine = index.load(record, of: known, in: "q")
        #expect(isSame && !isInAnotherLine)
        let changed = FootprintRecord(rows, mayHide: false)
        let hasChanged = index.load(changed, of: known, in: "p")
        index.remove(OperationNumber(rawValue: 102))
        let comesBefore = index.load(record, of: OperationNumber(rawValue: 102))
        #expect(!hasChanged && !comesBefore)
    }

    @Test func `what one hides that goes is hidden by the one that has hidden it`() {
        var index = FootprintIndex()
        let rows = Footprint.resource("a").rows(for: nil)
        for number in 1...3 {
            let record = FootprintRecord(rows, mayHide: true)
            _ = index.load(record, of: OperationNumber(rawValue: Int64(number)))
        }
        index.remove(OperationNumber(rawValue: 2))
        let last = OperationNumber(rawValue: 4)
        let found = index.conflicts(with: rows, of: last, withHidden: false)
        #expect(found.map(\.operation.rawValue) == [3])
        #expect(index.hidden(behind: OperationNumber(rawValue: 3)).map(\.rawValue) == [1])
    }

    private static func loaded(_ records: [OperationNumber: FootprintRecord]) -> FootprintIndex {
        var index = FootprintIndex()
        for (number, record) in records.sorted(by: { $0.key < $1.key }) {
            // Told twice, it is there once.
            for _ in 0..<2 {
                let isInStep = index.load(record, of: number)
                #expect(isInStep)
            }
        }
        return index
    }

    /// Some operations, and those that they hide, and so on.
    private static func reach(
        _ operations: Set<OperationNumber>,
        in index: FootprintIndex
    ) -> Set<OperationNumber> {
        var (left, seen) = (Array(operations), operations)
        while let operation = left.popLast() {
            for hidden in index.hidden(behind: operation) where seen.insert(hidden).inserted {
                left.append(hidden)
            }
        }
        return seen
    }

    @Test func `what came between others hides none of them, and none hides it`() {
        var world = World()
        let write = [FootprintRow(FootprintKey("/a", on: nil), .write)]
        for isLast in [true, false, true] { world.insert(write, isLast: isLast) }
        let new = OperationNumber(rawValue: .max)
        let found = world.index.conflicts(with: write, of: new, withHidden: false)
        // The third one hides the first one alone.
        #expect(Set(found.map(\.operation.rawValue)) == [2, 3])
        #expect(world.index.hidden(behind: OperationNumber(rawValue: 3)).map(\.rawValue) == [1])
    }

    @Test func `a record is read as it was written, and a halved one as far as it goes`() {
        var random = Seeded(seed: 1)
        let long = FootprintKey(String(repeating: "/a", count: 20_000), on: "host")
        for rows in [[FootprintRow(long, .read)]] + (0..<200).map({ _ in Self.rows(&random) }) {
            for isLast in [false, true] {
                let record = FootprintRecord(rows, mayHide: isLast)
                #expect(FootprintRecord(bytes: record.bytes) == record)
                for count in 0..<min(record.bytes.count, 60) {
                    let half = FootprintRecord(bytes: record.bytes.prefix(count))
                    #expect(rows.starts(with: half.rows))
                }
            }
        }
    }

    @Test func `two paths with one beginning differ, and the same path on another host`() {
        let keys = Self.names.flatMap { [FootprintKey($0, on: nil), FootprintKey($0, on: "host")] }
        #expect(Set(keys).count == keys.count)
        #expect(FootprintKey("/a/b", on: nil) == FootprintKey("//a/b/", on: nil))
    }
}

extension FootprintRow {
    /// Whether two operations that have these have an order, by the touches alone.
    fileprivate func hasOrder(with other: FootprintRow) -> Bool {
        if key == other.key { return intent.conflicts.contains(other.intent) }
        if key.isAbove(other.key) { return intent.conflictsBelow.contains(other.intent) }
        return other.key.isAbove(key) && other.intent.conflictsBelow.contains(intent)
    }
}

extension FootprintKey {
    fileprivate func isAbove(_ other: FootprintKey) -> Bool {
        isPath && other.isPath && steps.count < other.steps.count && other.steps.starts(with: steps)
    }
}
