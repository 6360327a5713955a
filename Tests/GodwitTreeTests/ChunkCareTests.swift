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
