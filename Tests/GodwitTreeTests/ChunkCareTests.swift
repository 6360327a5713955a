import GodwitTestKit
import GodwitTree
import Testing

/// Trees that once depended on their history, or changed under a walk.
@Suite struct ChunkCareTests {
    private func item(_ value: Int) -> Value { ["name": "x", "v": .int(Int64(value))] }

    @Test func `a run that is put before look-alikes leaves the shape of the content`() {
        var items = Array(repeating: item(1), count: 8) + Array(repeating: item(2), count: 33)
        items += (0..<30).map { .int($0) }
        var list = Value.List(items)
        list.replaceSubrange(0..<0, with: Array(repeating: item(1), count: 30))
        let fresh = Value.List(Array(repeating: item(1), count: 30) + items)
        #expect(list == fresh && Value.list(list).digest == Value.list(fresh).digest)
    }

    @Test func `edits among runs of items that look alike never show in the shape`() {
        for seed in 0..<UInt64(400 * Soak.factor) {
            var random = Seeded(seed: seed)
            var items: [Value] = []
            var list = Value.List()
            for _ in 0..<8 {
                let count = Int.random(in: 1...60, using: &random)
                let isRun = random.happens(0.6)
                let value = Int.random(in: 0..<3, using: &random)
                let new = (0..<count).map { item(isRun ? value : value + $0) }
                let start = Int.random(in: 0...items.count, using: &random)
                let end = min(items.count, start + Int.random(in: 0...20, using: &random))
                items.replaceSubrange(start..<end, with: new)
                list.replaceSubrange(start..<end, with: new)
            }
            #expect(Value.list(list).digest == Value.list(items).digest, "seed \(seed)")
        }
    }

    @Test func `the end of a list can be removed wherever a leaf begins`() {
        for count in stride(from: 24, to: 500, by: 9) {
            let list = Value.List((0..<count).map { .int(Int64($0)) })
            for start in 0..<count {
                var rest = list
                rest.removeSubrange(start...)
                guard rest != Value.List(list.prefix(start)) else { continue }
                Issue.record("\(start) of \(count)")
            }
        }
    }

    /// An item, a run of one, a pattern, or different items.
    private func block(of kinds: Int64, _ random: inout Seeded) -> [Value] {
        func item() -> Value { .int(Int64.random(in: 0..<kinds, using: &random)) }
        let count = Int.random(in: 1...300, using: &random)
        let pattern = (0..<random.pick([1, 1, 2, 7, 70])).map { _ in item() }
        return switch Int.random(in: 0..<3, using: &random) {
        case 0: [item()]
        case 1: (0..<count).map { pattern[$0 % pattern.count] }
        default: (0..<count).map { _ in item() }
        }
    }

    @Test func `small edits beside runs and boundaries lead to the tree that is made at once`() {
        for seed in 0..<UInt64(300 * Soak.factor) {
            var random = Seeded(seed: seed)
            let kinds = random.pick([2, 3, 40, 1_000_000] as [Int64])
            var items = (0..<12).flatMap { _ in block(of: kinds, &random) }
            var list = Value.List(items)
            for _ in 0..<40 where !items.isEmpty {
                let start = Int.random(in: 0..<items.count, using: &random)
                let count = Int.random(in: 0...random.pick([1, 2, 40, 200]), using: &random)
                let range = start..<min(items.count, start + count)
                let new = random.happens(0.5) ? [] : block(of: kinds, &random)
                let few = random.happens(0.8) ? Array(new.prefix(1)) : new
                if random.happens(0.3) {
                    let target = Int.random(in: 0..<items.count, using: &random)
                    items.insert(items.remove(at: start), at: target)
                    list.move(from: start, to: target)
                } else if let item = few.first, random.happens(0.3) {
                    items[start] = item
                    list[start] = item
                } else {
                    items.replaceSubrange(range, with: few)
                    list.replaceSubrange(range, with: few)
                }
                let isAlike = Value.list(list).digest == Value.list(items).digest
                guard isAlike, list == Value.List(items) else {
                    Issue.record("seed \(seed), \(items.count) items")
                    break
                }
            }
        }
    }

    @Test func `a walk sees the items that were there when it began`() {
        var list = Value.List((0..<1_000).map { Value.int($0) })
        var seen: [Value] = []
        for item in list {
            if seen.isEmpty { list[500] = -7 }
            seen.append(item)
        }
        #expect(seen[500] == 500 && list[500] == -7)

        var map = Value.Map((0..<1_000).map { (Key("key \($0)"), Value.int($0)) })
        var sum: Int64 = 0
        for entry in map {
            if sum == 0 { map["key 999"] = 0 }
            sum += entry.value.integer ?? 0
        }
        #expect(sum == 499_500 && map["key 999"] == 0)
    }
}
