import GodwitTestKit
import Testing

@testable import GodwitTree

extension Seeded {
    /// One of these; there must be one.
    mutating func pick<Item>(_ items: [Item]) -> Item {
        items[Int.random(in: items.indices, using: &self)]
    }
}

/// The chunked tree under lists and maps: it behaves like an array, and its shape and digest
/// depend on nothing but its content.
@Suite struct ChunkTests {
    /// Contents that are cut in very different ways.
    fileprivate enum Content: CaseIterable {
        case different, bools, equal, pairs, triples, sevens, waves, nearlyEqual, runs, alike, maps
        case texts

        func item(_ random: inout Seeded, at number: Int = 0) -> Value {
            switch self {
            case .different: .int(Int64.random(in: .min ... .max, using: &random))
            case .bools: .bool(.random(using: &random))
            case .equal: .null
            case .pairs: .int(Int64(number % 2))
            case .triples: .int(Int64(number % 3))
            case .sevens: .int(Int64(number % 7))
            case .waves: random.happens(0.002) ? 100 : .int(Int64(number % 33))
            case .nearlyEqual: random.happens(0.02) ? 1 : 0
            // 67 has the boundary byte of null.
            case .runs:
                number / 60 % 2 == 0 ? (random.happens(0.03) ? 67 : .null) : .int(Int64(number))
            case .alike: ["name": "a name", "value": .bool(.random(using: &random))]
            case .maps: .map(random.map(depth: 2))
            case .texts:
                .string(Key(String(repeating: "é", count: .random(in: 0...60, using: &random))))
            }
        }
    }

    @Test(arguments: Content.allCases)
    private func `after any edits a list is the one that is made at once`(content: Content) {
        for seed in 0..<40 as Range<UInt64> {
            var random = Seeded(seed: seed)
            // The last one is high enough for chunks of chunks of chunks to end by the rule.
            let isLarge = seed == 39
            let count = Int.random(in: 0...2_000, using: &random) + (isLarge ? 100_000 : 0)
            var model = (0..<count).map { content.item(&random, at: $0) }
            var list = Value.List(model)
            for _ in 0..<(isLarge ? 12 : 30) {
                let old = list
                let oldDigest = Value.list(old).digest
                edit(&list, &model, content, &random)
                let made = Value.List(model)
                #expect(list == made && list.elementsEqual(model), "seed \(seed)")
                #expect(Value.list(list).digest == Value.list(made).digest, "seed \(seed)")
                #expect(shape(list.tree.root) == shape(made.tree.root), "seed \(seed)")
                #expect(Value.list(old).digest == oldDigest, "an older state changed, seed \(seed)")
            }
        }
    }

    @Test(arguments: Content.allCases)
    private func `after any few edits of a short list its shape is that of its content`(
        content: Content
    ) {
        for seed in 1_000..<UInt64(1_000 + 300 * Soak.factor) {
            var random = Seeded(seed: seed)
            let count = Int.random(in: 0...300, using: &random)
            var model = (0..<count).map { content.item(&random, at: $0) }
            var list = Value.List(model)
            for _ in 0..<12 {
                edit(&list, &model, content, &random)
                let made = Value.List(model)
                #expect(shape(list.tree.root) == shape(made.tree.root), "seed \(seed)")
                #expect(Value.list(list).digest == Value.list(made).digest, "seed \(seed)")
            }
        }
    }

    @Test func `after any edits a map is the one that is made at once`() {
        for seed in 0..<40 as Range<UInt64> {
            var random = Seeded(seed: seed)
            var model: [Key: Value] = [:]
            var map = Value.Map()
            for step in 0..<400 {
                let key = Key("\(Int.random(in: 0..<600, using: &random))")
                let value = random.happens(0.3) ? nil : random.value(depth: 1)
                model[key] = value
                map[key] = value
                guard step % 40 == 0 else { continue }
                let made = Value.Map(model.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
                #expect(map == made && map[key] == value, "seed \(seed)")
                #expect(Value.map(map).digest == Value.map(made).digest, "seed \(seed)")
                #expect(shape(map.tree.root) == shape(made.tree.root), "seed \(seed)")
            }
        }
    }

    @Test(arguments: Content.allCases)
    private func `chunks have 8 to 128 elements, but for runs and the last of a level`(
        content: Content
    ) {
        var random = Seeded(seed: 1)
        let list = Value.List((0..<20_000).map { content.item(&random, at: $0) })
        for (nodes, level) in zip(levels(list.tree.root), 0...) {
            let counts = nodes.filter { !$0.isRun }.map { $0.storedCount + $0.chunks.count }
            #expect(counts.dropLast().allSatisfy { (8...128).contains($0) }, "level \(level)")
            #expect(counts.allSatisfy { $0 <= 128 }, "level \(level)")
        }
    }

    @Test func `a value that changes leaves the shape of its map as it is`() {
        var random = Seeded(seed: 2)
        var map = Value.Map((0..<5_000).map { (Key("key \($0)"), .int($0)) })
        let shape = shape(map.tree.root)
        for key in Array(map.keys) { map[key] = random.value() }
        #expect(self.shape(map.tree.root) == shape)
    }

    @Test func `an edit makes few new chunks, and shares all others with the old state`() {
        var random = Seeded(seed: 3)
        let list = Value.List((0..<50_000).map { .int($0) })
        let old = chunks(list.tree.root)
        var counts: [Int] = []
        for _ in 0..<200 {
            var next = list
            let position = Int.random(in: 0..<50_000, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: next[position] = .int(-1)
            case 1: next.insert(.int(-1), at: position)
            default: next.remove(at: position)
            }
            counts.append(chunks(next.tree.root).subtracting(old).count)
        }
        #expect(counts.reduce(0, +) / counts.count <= 5, "\(counts)")
    }

    @Test func `different values have different digests`() {
        let values = SmallWorld.mixed + SmallWorld.arrangements
        let different = Set(values)
        #expect(Set(values.map(\.digest)).count == different.count)
    }

    private func edit(
        _ list: inout Value.List,
        _ model: inout [Value],
        _ content: Content,
        _ random: inout Seeded
    ) {
        let start = Int.random(in: 0...model.count, using: &random)
        let end = min(model.count, start + random.pick([0, 1, 3, 200]))
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where start < model.count:
            let item = content.item(&random)
            list[start] = item
            model[start] = item
        case 1 where start < model.count:
            let target = Int.random(in: 0..<model.count, using: &random)
            list.move(from: start, to: target)
            model.insert(model.remove(at: start), at: target)
        default:
            let items = (0..<random.pick([0, 1, 2, 300])).map {
                content.item(&random, at: start + $0)
            }
            list.replaceSubrange(start..<end, with: items)
            model.replaceSubrange(start..<end, with: items)
        }
    }

    /// How many elements each node has, level by level.
    private func shape<Element>(_ root: Chunk<Element>?) -> [[Int]] {
        levels(root).map { $0.map(\.count) }
    }

    private func levels<Element>(_ root: Chunk<Element>?) -> [[Chunk<Element>]] {
        guard let root else { return [] }
        var levels = [[root]]
        while levels[0][0].level > 0 { levels.insert(levels[0].flatMap(\.chunks), at: 0) }
        return levels
    }

    private func chunks<Element>(_ root: Chunk<Element>?) -> Set<ObjectIdentifier> {
        guard let root else { return [] }
        return root.chunks.reduce(into: [ObjectIdentifier(root)]) { $0.formUnion(chunks($1)) }
    }
}
