import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Comparisons of two sets of objects, without a network.
@Suite struct RangeMachineTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `a comparison finds all differences, and no others`(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let count = [0, 1, 16, 17, 300, 1_000][Int(seed) % 6]
        var ours: [ObjectKey: VersionedValue] = [:]
        for number in 0..<count {
            let collection: Key = random.happens(0.5) ? "a" : "b"
            let key = ObjectKey(collection: collection, key: Key("k\(number)"))
            ours[key] = VersionedValue(.int(Int64(number)))
        }
        var theirs = ours
        for key in ours.keys.sorted() where random.happens(0.01) {
            theirs[key] = random.happens(0.5) ? nil : VersionedValue(.string("other"))
        }
        if random.happens(0.5) {
            theirs[ObjectKey(collection: "c", key: "new")] = VersionedValue(1)
        }

        let (device, server) = (SortedObjects(ours), SortedObjects(theirs))
        var comparison = RangeComparison(device)
        var rounds = 0
        while !comparison.open.isEmpty {
            let answers = comparison.open.map { RangeMachine.answer($0, server) }
            try comparison.receive(answers, device)
            rounds += 1
        }

        let differing = Set(ours.keys).union(theirs.keys).filter { ours[$0] != theirs[$0] }
        #expect(Set(comparison.differences.keys) == differing, "seed \(seed)")
        for key in differing { #expect(comparison.differences[key] == .some(theirs[key])) }
        #expect(rounds <= 4)
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `a comparison goes on from what another one had found, however old`(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        func version(of objects: [ObjectKey: VersionedValue]) -> [ObjectKey: VersionedValue] {
            var objects = objects
            for number in 0..<200 where random.happens(0.1) {
                let key = ObjectKey(collection: "a", key: Key("k\(number)"))
                let value = Value.int(Int64.random(in: 0..<3, using: &random))
                objects[key] = random.happens(0.3) ? nil : VersionedValue(value)
            }
            return objects
        }
        let ours = version(of: [:])
        var theirs = version(of: ours)
        var found: [ObjectKey: VersionedValue?] = [:]
        for _ in 0..<4 {
            let (device, server) = (SortedObjects(ours), SortedObjects(theirs))
            let fetched = FetchedObjects(found, over: ours)
            var comparison = RangeComparison(device, fetched: fetched)
            comparison.answerSizeMax = 20
            while !comparison.open.isEmpty, !random.happens(0.05) {
                let answers = RangeMachine.answers(to: comparison.next, server)
                found.merge(try comparison.receive(answers, device)) { $1 }
                #expect(comparison.progress?.fractionCompleted ?? 2 <= 1)
            }
            if comparison.open.isEmpty {
                let differences = comparison.differences.filter { $0.value != ours[$0.key] }
                let keys = Set(ours.keys).union(theirs.keys).filter { ours[$0] != theirs[$0] }
                #expect(Set(differences.keys) == keys, "seed \(seed)")
                for key in keys { #expect(differences[key] == .some(theirs[key])) }
            }
            theirs = version(of: theirs)
        }
    }

    @Test func `a range that ends before it begins is empty, and no message has one`() throws {
        func key(_ name: String) -> ObjectKey { ObjectKey(collection: "a", key: Key(name)) }
        let objects = SortedObjects([key("m"): VersionedValue(1)])
        let span = KeySpan(lower: key("z"), upper: key("a"))
        #expect(objects.sum(of: span) == .empty)
        #expect(objects.objects(in: span, sizeMax: 100) == [:])
        let client = ClientID(Identifier(high: 1, low: 1))
        for upper in ["a", "z"] {
            let span = KeySpan(lower: key("z"), upper: key(upper))
            let ranges = RangeRequest(ranges: [SpanSum(span, .empty)])
            #expect(throws: ReplicationError.self) {
                try WireRequest.comparison(with: .root, ranges).transmitted(from: client)
            }
        }
    }

    @Test func `what another comparison had found is not asked for again`() throws {
        let all = (0..<2_000).map { ObjectKey(collection: "a", key: Key("k\($0)")) }
        let objects = Dictionary(uniqueKeysWithValues: all.map { ($0, VersionedValue(1)) })
        let (device, server) = (SortedObjects([:]), SortedObjects(objects))
        let found = objects.filter { $0.key.key.text < "k5" }.mapValues(Optional.some)
        var comparison = RangeComparison(device, fetched: FetchedObjects(found, over: [:]))
        var told = 0
        while !comparison.open.isEmpty {
            let answers = RangeMachine.answers(to: comparison.next, server)
            told += try comparison.receive(answers, device).count
        }
        #expect(told == 2_000 - found.count)
        #expect(comparison.differences.count == 2_000)
    }

    @Test func `an empty device gets all objects in many small answers`() throws {
        let all = (0..<12_000).map { ObjectKey(collection: "a", key: Key("k\($0)")) }
        let objects = Dictionary(uniqueKeysWithValues: all.map { ($0, VersionedValue(1)) })
        let (device, server) = (SortedObjects([:]), SortedObjects(objects))
        var comparison = RangeComparison(device)
        var sizes: [Int] = []
        while !comparison.open.isEmpty {
            let answers = RangeMachine.answers(to: comparison.next, server)
            let before = comparison.differences.count
            try comparison.receive(answers, device)
            sizes.append(comparison.differences.count - before)
        }
        #expect(comparison.differences.count == 12_000)
        let most = RangeMachine.answerCountMax + RangeMachine.newCountMax
        #expect(sizes.allSatisfy { $0 <= most })
        #expect(sizes.filter { $0 > 0 }.count == 3)
    }

    @Test func `objects that are large are sent one by one`() throws {
        let text = Value.string(Key(String(repeating: "x", count: 3 << 20)))
        let keys = (0..<4).map { ObjectKey(collection: "a", key: Key("k\($0)")) }
        let objects = Dictionary(uniqueKeysWithValues: keys.map { ($0, VersionedValue(text)) })
        let (device, server) = (SortedObjects([:]), SortedObjects(objects))
        var comparison = RangeComparison(device)
        while !comparison.open.isEmpty {
            let answers = RangeMachine.answers(to: comparison.next, server)
            let before = comparison.differences.count
            try comparison.receive(answers, device)
            #expect(comparison.differences.count - before <= 2)
        }
        #expect(comparison.differences.count == 4)
    }

    @Test func `equal sets take one sum`() throws {
        let objects = SortedObjects([ObjectKey(collection: "a", key: "k"): VersionedValue(1)])
        var comparison = RangeComparison(objects)
        let answers = comparison.open.map { RangeMachine.answer($0, objects) }
        #expect(answers == [.equal])
        try comparison.receive(answers, objects)
        #expect(comparison.open == [] && comparison.differences == [:])
    }

    @Test func `parts that are not the range are refused`() throws {
        let objects = SortedObjects([:])
        let middle = ObjectKey(collection: "a", key: "k")
        let (lower, upper) = (
            KeySpan(lower: nil, upper: middle), KeySpan(lower: middle, upper: nil)
        )
        let first = ObjectKey(collection: "a", key: "a")
        let descending = [
            lower, KeySpan(lower: middle, upper: first), KeySpan(lower: first, upper: nil),
        ]
        let wrong: [[KeySpan]] = [
            [], [.all], [lower], [upper, lower], [lower, lower], descending,
        ]
        for spans in wrong {
            var comparison = RangeComparison(objects)
            let parts = spans.map { SpanSum($0, .empty) }
            #expect(throws: ReplicationError.self) {
                try comparison.receive([.parts(parts)], objects)
            }
        }
        var comparison = RangeComparison(objects)
        #expect(throws: ReplicationError.self) { try comparison.receive([], objects) }
    }
}
