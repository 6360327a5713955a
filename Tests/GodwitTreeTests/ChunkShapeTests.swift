import GodwitTestKit
import Testing

@testable import GodwitTree

/// How many nodes an edit makes, level by level, and how little it takes to edit what repeats
/// itself.
@Suite struct ChunkShapeTests {
    /// Lists whose items differ, as most lists do.
    fileprivate enum Content: CaseIterable {
        case ints, strings, records, features

        func item(_ random: inout Seeded) -> Value {
            let number = Int64.random(in: 0..<(1 << 40), using: &random)
            switch self {
            case .ints: return .int(number)
            case .strings: return .string(Key("item \(number)"))
            case .records:
                return ["id": .int(number), "name": "a name", "done": .bool(random.happens(0.5))]
            case .features:
                let (x, y) = (Double(number % 3_600) / 10, Double(number % 1_799) / 10)
                let (longitude, latitude) = (Finite(x) ?? 0.0, Finite(y) ?? 0.0)
                return [
                    "type": "Feature", "properties": ["kind": "tree", "height": 3],
                    "geometry": [
                        "type": "Point",
                        "coordinates": [.double(longitude), .double(latitude)],
                    ],
                ]
            }
        }
    }

    @Test(arguments: lists)
    private func `an edit makes at most 1.2 nodes on each level`(content: Content, count: Int) {
        var random = Seeded(seed: 5)
        let list = Value.List((0..<count).map { _ in content.item(&random) })
        let old = nodes(list)
        let editCount = 3_000
        for kind in ["edit", "insertion", "removal"] {
            var made: [Int: Int] = [:]
            for _ in 0..<editCount {
                var next = list
                let position = Int.random(in: 0..<count, using: &random)
                switch kind {
                case "edit": next[position] = content.item(&random)
                case "insertion": next.insert(content.item(&random), at: position)
                default: next.remove(at: position)
                }
                countNew(next.tree.root, beside: old, &made)
            }
            for (level, count) in made.sorted(by: { $0.key < $1.key }) {
                let mean = Double(count) / Double(editCount)
                #expect(mean <= 1.2, "\(content), \(kind), level \(level), seed 5: \(mean)")
            }
        }
    }

    /// Two million of the larger items take more memory than a machine that runs all tests has.
    private static let lists: [(Content, Int)] =
        Content.allCases.flatMap { [($0, 20_000), ($0, 200_000)] } + [(.ints, 2_000_000)]
        + (Soak.factor > 1 ? Content.allCases.dropFirst().map { ($0, 2_000_000) } : [])

    @Test func `an edit of a field that is no identity makes one node on each level`() {
        var random = Seeded(seed: 6)
        let list = Value.List((0..<20_000).map { _ in Content.records.item(&random) })
        let old = nodes(list)
        for _ in 0..<1_000 {
            var (next, made): (Value.List, [Int: Int]) = (list, [:])
            next.modify(at: Int.random(in: 0..<list.count, using: &random)) { item in
                guard case .map(var map) = item else { return }
                map["done"] = "perhaps"
                item = .map(map)
            }
            countNew(next.tree.root, beside: old, &made)
            #expect(made.values.allSatisfy { $0 == 1 }, "seed 6: \(made)")
        }
    }

    @Test func `L9 the digest after an edit hashes the new nodes alone, one on each level`() {
        var random = Seeded(seed: 9)
        for count in [2_000, 20_000, 200_000] {
            let list = Value.List((0..<count).map { _ in Content.records.item(&random) })
            _ = Value.list(list).digest
            let levels = (list.tree.root?.level ?? 0) + 1
            for _ in 0..<100 {
                var next = list
                next.modify(at: Int.random(in: 0..<count, using: &random)) { item in
                    guard case .map(var map) = item else { return }
                    map["done"] = "perhaps"
                    item = .map(map)
                }
                #expect(unhashed(next.tree.root) == levels, "\(count) items, seed 9")
                _ = Value.list(next).digest
                #expect(unhashed(next.tree.root) == 0)
            }
        }
    }

    /// How many nodes have no digest yet; below a node that has one, all have theirs.
    private func unhashed(_ node: Chunk<Value>?) -> Int {
        guard let node, node.knownDigest == nil else { return 0 }
        return node.chunks.reduce(1) { $0 + unhashed($1) }
    }

    private func nodes(_ list: Value.List) -> Set<ObjectIdentifier> {
        var nodes: Set<ObjectIdentifier> = []
        func add(_ node: Chunk<Value>) {
            nodes.insert(ObjectIdentifier(node))
            for chunk in node.chunks { add(chunk) }
        }
        if let root = list.tree.root { add(root) }
        return nodes
    }

    /// Adds up by level the nodes that a tree does not share.
    private func countNew(
        _ node: Chunk<Value>?,
        beside old: Set<ObjectIdentifier>,
        _ made: inout [Int: Int]
    ) {
        guard let node, !old.contains(ObjectIdentifier(node)) else { return }
        made[node.level, default: 0] += 1
        for chunk in node.chunks { countNew(chunk, beside: old, &made) }
    }
}

/// Lists of items that repeat each other.
extension ChunkShapeTests {
    @Test func `10,000 insertions before a million equal items share them all`() {
        var list = Value.List(repeatElement(.null, count: 1_000_000))
        #expect(list.tree.root?.storedCount == 1)
        for _ in 0..<10_000 { list.insert(.null, at: 0) }
        #expect(list.count == 1_010_000 && list.tree.root?.storedCount == 1)
        for number in 0..<10_000 { list.insert(.int(Int64(number)), at: 0) }
        #expect(list.count == 1_020_000)
        #expect(list == Value.List(Array(list)))
    }

    @Test
    func `an insertion before a million equal items makes as few nodes as one in a short list`() {
        for (item, isEqual) in [(Value.null, true), ("x", false)] {
            var list = Value.List(repeatElement(.null, count: 1_000_000))
            var (made, copies): ([Int: Int], Int) = ([:], 0)
            for number in 0..<10_000 {
                let old = number % 10 == 0 ? list : nil
                list.insert(isEqual ? item : .int(Int64(number)), at: 0)
                guard let old else { continue }
                copies += 1
                countNew(list.tree.root, beside: nodes(old), &made)
            }
            for (level, count) in made {
                #expect(
                    count <= copies * 3 / 2,
                    "level \(level): \(count) nodes of \(copies) insertions"
                )
            }
            #expect(list.count == 1_010_000)
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 12, 33])
    func `a repetition without a boundary is one leaf, and an item parts it in few`(period: Int) {
        var list = Value.List((0..<100_000).map { .int(Int64($0 % period)) })
        #expect(list.tree.root?.storedCount == period)
        list.insert("x", at: 50_001)
        #expect(list.tree.root?.chunks.count == 3)
        #expect(Value.list(list).digest == Value.list(Value.List(Array(list))).digest)
        list.remove(at: 50_001)
        #expect(list.tree.root?.storedCount == period)
    }

    @Test func `an item in the middle of a run parts it in two`() {
        var list = Value.List(repeatElement("a", count: 1_000))
        list[500] = "b"
        let leaves = list.tree.root?.chunks ?? []
        #expect(leaves.map(\.count) == [500, 33, 467])
        #expect(list.elementsEqual((0..<1_000).map { $0 == 500 ? "b" : "a" }))
        list[500] = "a"
        #expect(list.tree.root?.storedCount == 1)
    }

    @Test func `the first usual key that holds a scalar identifies an item, in maps of any size`() {
        let fields = ["title", "name", "slug", "key", "guid", "uuid", "_id", "id"]
        for more in [0, 3, 300] {
            var map = Value.Map((0..<more).map { (Key("x\($0)"), .int(1)) })
            var hashes: [UInt64] = []
            for field in fields {
                map[Key(field)] = .bool(true)
                let before = Value.map(map).boundaryHash
                #expect(hashes.isEmpty || hashes.last == before, "\(field) is no scalar of use")
                map[Key(field)] = .string(Key(field))
                hashes.append(Value.map(map).boundaryHash)
            }
            #expect(hashes == fields.map { (["id": .string(Key($0))] as Value).boundaryHash })
        }
    }

    @Test func `an item that becomes like the run before it joins it`() {
        let different = (0..<500).map { Value.int(Int64($0)) }
        let items = [Value](repeating: .null, count: 100) + different
        for change in 0..<3 {
            var (list, model) = (Value.List(items), items)
            switch change {
            case 0:
                list[100] = .null
                model[100] = .null
            case 1:
                list.insert(.null, at: 100)
                model.insert(.null, at: 100)
            default:
                list.replaceSubrange(100..<102, with: [.null, 7])
                model.replaceSubrange(100..<102, with: [.null, 7])
            }
            #expect(list.tree.root?.leaf(at: 0).leaf.count == 101)
            #expect(Value.list(list).digest == Value.list(model).digest)
        }
    }

    @Test func `items that only look alike are cut by their digests`() {
        let list = Value.List((0..<10_000).map { ["name": "a sensor", "value": .int($0)] })
        let old = nodes(list)
        var random = Seeded(seed: 7)
        var made: [Int: Int] = [:]
        for _ in 0..<300 {
            var next = list
            next.remove(at: Int.random(in: 0..<10_000, using: &random))
            countNew(next.tree.root, beside: old, &made)
        }
        #expect(made.values.allSatisfy { $0 <= 300 * 12 / 10 }, "seed 7: \(made)")
    }
}
