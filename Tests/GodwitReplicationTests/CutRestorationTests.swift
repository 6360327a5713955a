import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

private let cards = Store.Collection<Value>("cards")

/// A server has lost states, and a device gives them back in many small requests.
@Suite struct CutRestorationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func device(_ line: TestLine) async throws -> Pair {
        try await Pair(Store(.file(folder.path("store.sqlite"))), line)
    }

    @Test func `a restoration goes on where it was when the app has ended`() async throws {
        let line = TestLine()
        let ours = try await device(line)
        try await ours.set(1, in: ["old"])
        try await ours.synchronize()
        let backup = line.backup
        try await ours.set(2, in: (0..<200).map { "c\($0)" })
        try await ours.remove("old")
        try await ours.synchronize()
        let objects = line.objects
        line.backup = backup

        var given = 0
        for _ in 0..<1_000 where given < 100 {
            let step = try await ours.step(sizeMax: 60)
            #expect(step.givenCount <= 12, "a piece is small")
            given += step.givenCount
        }
        #expect((100..<112).contains(given))
        #expect(line.objects.count == 1, "nothing is taken before all of it is there")
        try ours.replica.store.close()

        let again = try await device(line)
        var rest = 0
        for _ in 0..<1_000 where try await again.isBehind() {
            rest += try await again.step(sizeMax: 60).givenCount
        }
        // With the removal of the old card there are 201.
        #expect(rest == 201 - given)
        #expect(line.objects == objects)
        #expect(line.backup.stagings.isEmpty)
    }

    @Test func `an object that is too large to be given back stays here as an edit`() async throws {
        let line = TestLine()
        let ours = try await device(line)
        try await ours.set(1, in: ["c2", "old"])
        try await ours.synchronize()
        let backup = line.backup
        try await ours.set(2, in: (0..<5).map { "c\($0)" })
        try await ours.synchronize()
        line.backup = backup
        let replica = ours.replica
        // The app has edited one of those that stay, and what it has edited was not sent.
        try await ours.set(3, in: ["c1"])
        let large = Set(["c1", "c2", "c3"].map { ObjectKey(collection: "cards", key: Key($0)) })
        var refusedCount = 0
        for _ in 0..<1_000 where try await ours.isBehind() {
            let request = try await replica.store.write {
                try replica.nextRequest(sizeMax: 1, in: $0)
            }
            if case .restoration(let piece) = request.request,
                !large.isDisjoint(with: piece.objects.keys)
            {
                #expect(request.givesBackOne)
                refusedCount += 1
                try await replica.store.write { transaction in
                    try replica.withhold(request, in: transaction)
                    try replica.distrust(in: transaction)
                }
                continue
            }
            let answer = try line.serve(request)
            try await replica.store.write { try replica.receive(answer, to: request, in: $0) }
        }
        #expect(refusedCount == 3, "each is tried once")
        #expect(
            try await replica.status().rejections
                == Dictionary(
                    uniqueKeysWithValues: large.map { ($0, .tooLarge) }
                )
        )
        let given: [String: Value] = ["c0": 2, "c2": 1, "c4": 2, "old": 1]
        #expect(line.objects.values(by: \.key.text) == given)
        let own: [String: Value] = ["c0": 2, "c1": 3, "c2": 2, "c3": 2, "c4": 2, "old": 1]
        #expect(try await ours.objects().values(by: \.key.text) == own)
        // A smaller object gets through.
        try await ours.set(4, in: ["c3"])
        try await ours.synchronize()
        #expect(line.objects.values(by: \.key.text) == given.merging(["c3": 4]) { $1 })
    }

    @Test func `nothing is lost or brought back where restorations are cut off`() async throws {
        var cutCount = 0
        for seed in 0..<UInt64(60) { cutCount += try await cut(seed) }
        #expect(cutCount > 20)
    }

    /// - Returns: How often the app ended while a part was given back.
    private func cut(_ seed: UInt64) async throws -> Int {
        let folder = try TemporaryFolder()
        var random = Seeded(seed: seed)
        let line = TestLine()
        func device() async throws -> Pair {
            try await Pair(Store(.file(folder.path("store.sqlite"))), line)
        }
        var ours = try await device()
        let theirs = try await Pair(Store(.memory), line)
        try await ours.set(1, in: (0..<20).map { "c\($0)" })
        for pair in [ours, theirs, ours] { try await pair.synchronize() }
        let backup = line.backup
        try await ours.set(2, in: (10..<40).map { "c\($0)" })
        for number in 0..<5 { try await ours.remove("c\(number)") }
        try await ours.synchronize()
        if random.happens(0.5) { try await theirs.synchronize() }
        line.backup = backup
        var cutCount = 0
        for round in 0..<4 {
            try await ours.set(1, in: ["ours\(round)"])
            try await theirs.set(1, in: ["theirs\(round)"])
            if random.happens(0.5) { try await theirs.synchronize() }
            for _ in 0..<Int.random(in: 1...10, using: &random) {
                let size = Int.random(in: 20...100, using: &random)
                guard try await ours.step(sizeMax: size, random.happens(0.2)).isBehind else {
                    break
                }
            }
            guard random.happens(0.7) else { continue }
            if !line.backup.stagings.isEmpty { cutCount += 1 }
            try ours.replica.store.close()
            ours = try await device()
        }
        for pair in [ours, theirs, ours, theirs, ours] { try await pair.synchronize() }
        let objects = line.objects
        #expect(try await ours.objects() == objects, "seed \(seed)")
        #expect(try await theirs.objects() == objects, "seed \(seed)")
        let kept = (5..<40).map { "c\($0)" } + (0..<4).flatMap { ["ours\($0)", "theirs\($0)"] }
        #expect(Set(objects.keys.map(\.key.text)) == Set(kept), "seed \(seed)")
        #expect(objects[ObjectKey(collection: "cards", key: "c39")] == 2, "seed \(seed)")
        #expect(line.backup.stagings.isEmpty, "seed \(seed)")
        return cutCount
    }
}

extension Dictionary {
    fileprivate func values<NewKey>(by key: (Key) -> NewKey) -> [NewKey: Value] {
        Dictionary<NewKey, Value>(uniqueKeysWithValues: map { (key($0.key), $0.value) })
    }
}

extension Pair {
    fileprivate func set(_ value: Value, in keys: [String]) async throws {
        try await replica.store.write { transaction in
            for key in keys { try transaction.set(value, for: key, in: cards) }
        }
    }

    fileprivate func remove(_ key: String) async throws {
        try await replica.store.write { _ = try $0.remove(key, in: cards) }
    }

    fileprivate func isBehind() async throws -> Bool {
        let replica = replica
        if try await replica.base() != line.backup.head.state { return true }
        return try await replica.store.write { try replica.needsRequest(in: $0) }
    }

    /// One small request.
    ///
    /// - Parameter isLost: Whether its answer does not arrive.
    fileprivate func step(
        sizeMax: Int,
        _ isLost: Bool = false
    ) async throws -> (givenCount: Int, isBehind: Bool) {
        let (replica, line) = (replica, line)
        let request = try await replica.store.write {
            try replica.nextRequest(sizeMax: sizeMax, in: $0)
        }
        var givenCount = 0
        if case .restoration(let piece) = request.request { givenCount = piece.objects.count }
        let answer = try line.serve(request)
        guard !isLost else { return (givenCount, true) }
        let isBehind = try await replica.store.write {
            try replica.receive(answer, to: request, in: $0)
        }
        return (givenCount, isBehind)
    }
}
