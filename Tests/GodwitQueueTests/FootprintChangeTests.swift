import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// Operations on paths and things that are changed, skipped and replaced while they wait.
@Suite struct FootprintChangeTests {
    private struct Touching: PushOperation {
        static let kind = "touching"
        var kind = 11
        let paths: [String]
        var footprint: Footprint {
            let paths = paths.map { RemotePath($0) }
            return switch (kind, paths.count) {
            case (0, 2...): .move(paths[0], to: paths[1])
            case (1, 2...): .copy(paths[0], to: paths[1])
            case (2, _): paths.map { .deleteTree($0) }.reduce(.none, +)
            case (3, _): paths.map { .read($0) }.reduce(.none, +)
            case (4, 1...): Footprint([.init(resource: "\(paths[0])", intent: .writeBelow)])
            case (5, 1...): .delete(paths[0]) + .resource("\(paths[0])", .read)
            case (6, 1...): .resource("\(paths[0])")
            default: paths.map { .put($0) }.reduce(.none, +)
            }
        }

        /// The touches, with those of the folders around.
        var allTouches: Set<Footprint.Touch> {
            var touches = footprint.touches
            for touch in touches where touch.resource.hasPrefix("/") {
                let isWriting = [.write, .writeBelow, .writeTree].contains(touch.intent)
                for folder in RemotePath(touch.resource).ancestors {
                    let intent: Footprint.Intent = isWriting ? .writeBelow : .readBelow
                    touches.insert(.init(resource: "\(folder)", intent: intent))
                }
            }
            return touches
        }

        static func random(_ random: inout Seeded) -> Self {
            let paths = ["/a", "/b", "/a/b", "/a/b/c", "/a/c", "/b/a"]
            return Touching(
                kind: Int.random(in: 0..<9, using: &random),
                paths: paths.filter { _ in random.happens(0.3) }
            )
        }
    }

    /// An operation and what it touches now.
    private struct Known {
        let id: OperationID
        var work: Touching

        func conflicts(with other: Self) -> Bool {
            work.allTouches.contains { touch in
                other.work.allTouches.contains {
                    $0.resource == touch.resource && touch.intent.conflicts.contains($0.intent)
                }
            }
        }
    }

    private let store: Store
    private let queue: PushQueue

    init() throws {
        store = try Store(.memory)
        queue = try PushQueue(store, pipelines: [Pipeline(order: .flat)])
    }

    @Test func `whatever is changed and skipped, what touches one path is done in a row`()
        async throws
    {
        for seed in 0..<UInt64(300 * Soak.factor) {
            var random = Seeded(seed: seed)
            var known: [Known] = []
            for _ in 0..<12 {
                if random.happens(0.2) { await fail(known.map(\.id), &random) }
                // As after a launch.
                if random.happens(0.2) { try await store.write { $0.footprints().forget() } }
                switch Int.random(in: 0..<8, using: &random) {
                case 6 where !known.isEmpty:
                    let id = known[Int.random(in: 0..<known.count, using: &random)].id
                    try await store.write { transaction in
                        _ = try transaction.modifyOperation(id) { $0.dependencies = [] }
                    }
                case 0 where known.count > 1:
                    let place = Int.random(in: 0..<known.count, using: &random)
                    let id = known.remove(at: place).id
                    try await store.write { _ = try $0.skipOperation(id) }
                case 1...2 where !known.isEmpty:
                    let place = Int.random(in: 0..<known.count, using: &random)
                    let (id, work) = (known[place].id, Touching.random(&random))
                    known[place].work = work
                    try await store.write { transaction in
                        _ = try transaction.modifyOperation(id) { try $0.replace(with: work) }
                    }
                default:
                    let work = Touching.random(&random)
                    // An order of the app's own may hide one that follows from paths.
                    let needs = known.map(\.id).filter { _ in random.happens(0.2) }
                    let id = try await store.write { try $0.enqueue(work, after: needs) }
                    known.append(Known(id: id, work: work))
                }
                try await check(known, seed)
            }
            try await store.write { transaction in
                _ = try transaction.skipOperations { _ in true }
            }
            #expect(try await store.footprintsAreForgotten, "seed \(seed)")
        }
        withExtendedLifetime(queue) {}
    }

    /// Changes some of what is known, in a request that fails.
    private func fail(_ known: [OperationID], _ random: inout Seeded) async {
        struct Refusal: Error {}
        let new = (0..<2).map { _ in Touching.random(&random) }
        let others = known.filter { _ in random.happens(0.3) }
        await #expect(throws: (any Error).self) {
            try await store.write { transaction in
                for work in new { try transaction.enqueue(work) }
                for (place, id) in others.enumerated() {
                    if place.isMultiple(of: 2) {
                        try transaction.skipOperation(id)
                    } else {
                        _ = try transaction.modifyOperation(id) { try $0.replace(with: new[0]) }
                    }
                }
                throw Refusal()
            }
        }
    }

    /// Expects a way from each operation to each earlier one that touches the same things, by the touches alone.
    private func check(_ known: [Known], _ seed: UInt64) async throws {
        let reach = try await store.read { transaction in
            try known.map { try transaction.recursiveDependencies(of: $0.id) }
        }
        for (later, operation) in known.enumerated() {
            for earlier in known.indices.prefix(later)
            where known[earlier].conflicts(with: operation) {
                #expect(reach[later].contains(known[earlier].id), "a row, seed \(seed)")
            }
            #expect(
                known.dropFirst(later).allSatisfy { !reach[later].contains($0.id) },
                "seed \(seed)"
            )
        }
    }

    @Test func `what comes after a changed operation waits for it in a queue that runs`()
        async throws
    {
        try await queue.running {
            let (first, second) = try await store.write { transaction in
                try transaction.suspendPipeline(reason: "test")
                let first = try transaction.enqueue(Touching(paths: ["/a"]))
                return (first, try transaction.enqueue(Touching(paths: ["/b"])))
            }
            try await store.write { transaction in
                _ = try transaction.modifyOperation(first) {
                    try $0.replace(with: Touching(paths: ["/b"]))
                }
            }
            let isWaiting = try await queue.status(of: second).reasons.contains {
                if case .dependencies = $0 { true } else { false }
            }
            #expect(isWaiting)
        }
    }

    @Test func `each thing that a changed operation touches is compared with hidden ones`()
        async throws
    {
        let (files, changed) = try await store.write { transaction in
            let files = try ["/f/a", "/f/b"].map { path in
                try transaction.enqueue(Touching(paths: [path]))
            }
            let changed = try transaction.enqueue(Touching(paths: ["/other"]))
            try transaction.enqueue(Touching(kind: 2, paths: ["/f"]))
            _ = try transaction.modifyOperation(changed) {
                try $0.replace(with: Touching(paths: ["/f/a", "/f/b"]))
            }
            return (files, changed)
        }
        #expect(try await store.read { try $0.dependencies(of: changed) } == files)
    }

    @Test func `an operation that is changed after a launch leaves what it touched`()
        async throws
    {
        let (first, changed) = try await store.write { transaction in
            let first = try transaction.enqueue(Touching(paths: ["/a"]))
            return (first, try transaction.enqueue(Touching(paths: ["/a"])))
        }
        let last = try await store.write { transaction in
            transaction.footprints().forget()
            _ = try transaction.modifyOperation(changed) {
                try $0.replace(with: Touching(paths: ["/b"]))
            }
            return try transaction.enqueue(Touching(paths: ["/a"]))
        }
        #expect(try await store.read { try $0.dependencies(of: last) } == [first])
    }

    @Test func `an operation is changed at the same cost however many a deletion stands for`()
        async throws
    {
        try await expectSameCost(
            of: { transaction in
                let id = try transaction.enqueue(Touching(paths: ["/big/x"]))
                for name in ["/big/y", "/big/x", "/big/y"] {
                    _ = try transaction.modifyOperation(id) {
                        try $0.replace(with: Touching(paths: [name]))
                    }
                }
            },
            after: { Touching(kind: 7, paths: ["/big/\($0)"]) },
            Touching(kind: 2, paths: ["/big"])
        )
    }

    @Test func `a folder is copied at the same cost however many files in it are read`()
        async throws
    {
        try await expectSameCost(
            of: { try $0.enqueue(Touching(kind: 1, paths: ["/big", "/other"])) },
            after: { Touching(kind: 3, paths: ["/big/\($0)"]) }
        )
    }

    /// Expects that work costs much the same after 500 operations and after 16,000.
    private func expectSameCost(
        of work: @escaping @Sendable (borrowing WriteTransaction) throws -> Void,
        after operation: @escaping @Sendable (Int) -> Touching,
        _ last: Touching? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        var seconds: [Double] = []
        for count in [500, 16_000] {
            try await store.write { transaction in
                _ = try transaction.skipOperations { _ in true }
                for index in 0..<count { try transaction.enqueue(operation(index)) }
                if let last { try transaction.enqueue(last) }
            }
            var least = Double.infinity
            for _ in 0..<5 {
                let taken = try await store.write { transaction in
                    try CostRatio.cpuSeconds { try work(transaction) }
                }
                least = min(least, taken)
            }
            seconds.append(least)
        }
        #expect(seconds[1] < 5 * seconds[0], "\(seconds) s", sourceLocation: location)
        withExtendedLifetime(queue) {}
    }

    @Test func `an order that only the app's dependency carried outlasts it`() async throws {
        let ids = try await store.write { transaction in
            let first = try transaction.enqueue(Touching(paths: ["/x"]))
            let second = try transaction.enqueue(Touching(paths: ["/y"]), after: [first])
            return [first, second, try transaction.enqueue(Touching(paths: ["/x", "/y"]))]
        }
        try await store.write { try $0.skipOperation(ids[1]) }
        let needs = try await store.read { try $0.dependencies(of: ids[2]) }
        #expect(needs == [ids[0]])
    }

    @Test func `an order outlasts a dependency that a refusal ends`() async throws {
        struct Doing: PushOperation {
            static let kind = "doing"
            let paths: [String]
            var footprint: Footprint {
                paths.map { Footprint.put(RemotePath($0)) }.reduce(.none, +)
            }
        }
        let ids = try await store.write { transaction in
            let first = try transaction.enqueue(Doing(paths: ["/x"]))
            let placement = Placement(dependencies: [.on(first, otherwise: .ignore)])
            let second = try transaction.enqueue(Doing(paths: ["/x", "/y"]), placement)
            return [first, second, try transaction.enqueue(Doing(paths: ["/x", "/y"]))]
        }
        let before = try await store.read { try $0.dependencies(of: ids[2]) }
        #expect(before == [ids[1]], "the rest follows from it")
        try await store.write { transaction in
            let number = try #require(try transaction.operation(ids[0])?.number)
            try transaction.refuse(number, reason: "no")
        }
        let after = try await store.read { transaction in
            try ids.dropFirst().map { try transaction.dependencies(of: $0) }
        }
        #expect(after[0] == [] && Set(after[1]) == [ids[0], ids[1]])
    }

    @Test func `an operation stays with its host`() async throws {
        struct Sending: PushOperation {
            static let kind = "sending"
            let host: String?
        }
        let id = try await store.write { try $0.enqueue(Sending(host: "a.example")) }
        await #expect(throws: QueueError.otherHost(id, "a.example")) {
            try await store.write { transaction in
                try transaction.modifyOperation(id) {
                    try $0.replace(with: Sending(host: "b.example"))
                }
            }
        }
    }

    @Test func `an operation that gets an effect leaves none behind when it goes`() async throws {
        struct Writing: PushOperation {
            static let kind = "writing"
            let thing: String?
            var effect: Effect? { thing.map { .write($0) } }
        }
        let id = try await store.write { try $0.enqueue(Writing(thing: nil)) }
        try await store.write { transaction in
            try transaction.modifyOperation(id) { try $0.replace(with: Writing(thing: "x")) }
        }
        #expect(try await store.read { try $0.rowCount(of: "godwit_effect") } == 1)
        try await store.write { try $0.skipOperation(id) }
        #expect(try await store.read { try $0.rowCount(of: "godwit_effect") } == 0)
    }

    @Test func `an operation that is replaced pushes the objects of the new one`() async throws {
        struct Pushing: PushOperation {
            static let kind = "pushing"
            let key: String
            var objects: [ObjectKey] { [ObjectKey(collection: "things", key: Key(key))] }
        }
        let things = Store.Collection<Int>("things")
        let id = try await store.write { transaction in
            try transaction.set(1, for: "a", in: things)
            try transaction.set(2, for: "b", in: things)
            return try transaction.enqueue(Pushing(key: "a"))
        }
        try await store.write { transaction in
            _ = try transaction.modifyOperation(id) { try $0.replace(with: Pushing(key: "b")) }
        }
        let pushed = try await store.read { try $0.recordedChanges(of: id).map(\.key) }
        #expect(pushed == [things.place("b")])
    }

    @Test func `an operation that touches nothing gets its place when it is given a path`()
        async throws
    {
        let ids = try await store.write { transaction in
            try [["/a"], [], ["/a"]].map { try transaction.enqueue(Touching(paths: $0)) }
        }
        try await store.write { transaction in
            try transaction.modifyOperation(ids[1]) {
                try $0.replace(with: Touching(paths: ["/a"]))
            }
        }
        let needs = try await store.read { transaction in
            try ids.map { try transaction.recursiveDependencies(of: $0) }
        }
        #expect(needs[1] == [ids[0]])
        #expect(Set(needs[2]) == [ids[0], ids[1]])
        try await store.write { transaction in
            try transaction.modifyOperation(ids[1]) { try $0.replace(with: Touching(paths: [])) }
        }
        let freed = try await store.read { try $0.dependencies(of: ids[1]) }
        #expect(freed == [])
        let kept = try await store.read { try $0.recursiveDependencies(of: ids[2]) }
        #expect(kept.contains(ids[0]))
    }
}
