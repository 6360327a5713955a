import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// The order that footprints give operations of several pipelines, in commit order and without.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct FootprintOrderTests: TwoPipelineSuite {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    // MARK: Several pipelines

    @Test(arguments: ["skipped", "changed", "refused"], [false, true])
    func `in commit order, one that leaves passes on what it waited for elsewhere`(
        way: String,
        isForgotten: Bool
    ) async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let first = try await enqueue(Self.flat, in: store)
        let cause = try await enqueue(Self.flat, "/cause", in: store)
        let middle = try await enqueue(
            Self.ordered,
            after: [.on(cause, otherwise: .fail)],
            in: store
        )
        if isForgotten { try await store.write { $0.footprints().forget() } }
        let last = try await enqueue(Self.ordered, in: store)
        try await store.write { transaction in
            switch way {
            case "skipped": try transaction.skipOperation(middle)
            case "changed":
                _ = try transaction.modifyOperation(middle) {
                    try $0.replace(with: Put(path: "/b"))
                }
            default: _ = try transaction.skipOperation(cause)
            }
        }
        #expect(try await reach(last, in: store).contains(first))
        withExtendedLifetime(queue) {}
    }

    @Test func `a request that fails leaves what commit order alone keeps apart`() async throws {
        struct Refusal: Error {}
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let first = try await enqueue(Self.ordered, in: store)
        let middle = try await enqueue(Self.ordered, in: store)
        let last = try await enqueue(Self.flat, in: store)
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                try transaction.skipOperation(middle)
                throw Refusal()
            }
        }
        _ = try await store.write { try $0.skipOperation(middle) }
        #expect(try await needs(last, in: store) == [first])
        withExtendedLifetime(queue) {}
    }

    @Test func `whatever happens in two pipelines, what touches one path is done in a row`()
        async throws
    {
        struct Refusal: Error {}
        for seed in 0..<UInt64(150 * Soak.factor) {
            var random = Seeded(seed: seed)
            let store = try Store(.memory)
            let queue = try PushQueue(store, pipelines: pipelines())
            var known: [(id: OperationID, pipeline: String, path: String)] = []
            for _ in 0..<14 {
                let path = random.happens(0.5) ? "/a" : "/b"
                let place = known.indices.randomElement(using: &random)
                switch Int.random(in: 0..<7, using: &random) {
                case 0 where place != nil:
                    let id = known.remove(at: place ?? 0).id
                    _ = try await store.write { try $0.skipOperation(id) }
                case 1 where place != nil:
                    let id = known[place ?? 0].id
                    known[place ?? 0].path = path
                    try await store.write { transaction in
                        _ = try transaction.modifyOperation(id) {
                            try $0.replace(with: Put(path: path))
                        }
                    }
                case 2 where place != nil:
                    let id = known[place ?? 0].id
                    let (isSkipped, isFirst) = (random.happens(0.5), random.happens(0.5))
                    await #expect(throws: Refusal.self) {
                        try await store.write { transaction in
                            if isFirst { try transaction.enqueue(Put(path: path)) }
                            if isSkipped {
                                _ = try transaction.skipOperation(id)
                            } else {
                                _ = try transaction.modifyOperation(id) {
                                    try $0.replace(with: Put(path: path))
                                }
                            }
                            throw Refusal()
                        }
                    }
                case 3 where random.happens(0.3):
                    try await store.write { $0.footprints().forget() }
                default:
                    let pipeline = random.happens(0.6) ? Self.ordered : Self.flat
                    known.append((try await enqueue(pipeline, path, in: store), pipeline, path))
                }
                try await check(known, "seed \(seed)", in: store)
                try await checkIndex("seed \(seed)", in: store)
            }
            withExtendedLifetime(queue) {}
        }
    }

    /// Expects the index in memory to find what one finds that is read now.
    private func checkIndex(_ comment: Comment, in store: Store) async throws {
        try await store.write { transaction in
            let read = try FootprintJournal.read(transaction)
            let probes = [Put(path: "/a"), Put(path: "/b"), Put(path: "/", isTree: true)]
            try transaction.footprints().update(in: transaction) { index in
                for probe in probes {
                    for withHidden in [false, true] {
                        let found = [index, read].map { index in
                            Set(
                                index.conflicts(
                                    with: probe.footprint.rows(for: nil),
                                    of: OperationNumber(rawValue: .max),
                                    withHidden: withHidden
                                ).map(\.operation)
                            )
                        }
                        // Where one that hid others has left, more of them are in view than need be.
                        let isSame =
                            withHidden ? found[0] == found[1] : found[0].isSuperset(of: found[1])
                        #expect(isSame, "\(comment), \(probe.path), \(withHidden)")
                    }
                }
            }
        }
    }

    /// Expects a way from each operation to each earlier one on its path; commits make ways, too.
    private func check(
        _ known: [(id: OperationID, pipeline: String, path: String)],
        _ comment: Comment,
        in store: Store
    ) async throws {
        var reach: [Set<OperationID>] = []
        for (place, own) in known.enumerated() {
            var before = try await needs(own.id, in: store)
            if own.pipeline == Self.ordered {
                before.formUnion(known[..<place].filter { $0.pipeline == own.pipeline }.map(\.id))
            }
            var all = before
            for (earlier, other) in known[..<place].enumerated() where before.contains(other.id) {
                all.formUnion(reach[earlier])
            }
            reach.append(all)
            for (earlier, other) in known[..<place].enumerated() where other.path == own.path {
                let isThere = all.contains(other.id)
                #expect(isThere, "\(comment): \(place) does not come after \(earlier)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `requests that fail before they have used the index leave what they skipped`(
        isReadBefore: Bool
    ) async throws {
        struct Refusal: Error {}
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let first = try await enqueue(Self.flat, "/a", in: store)
        let other = try await enqueue(Self.flat, "/b", in: store)
        if isReadBefore {
            await #expect(throws: Refusal.self) {
                try await store.write { transaction in
                    _ = try transaction.modifyOperation(first) {
                        try $0.replace(with: Put(path: "/c"))
                    }
                    throw Refusal()
                }
            }
        }
        for _ in 0..<3 {
            await #expect(throws: Refusal.self) {
                try await store.write { transaction in
                    _ = try transaction.skipOperation(other)
                    throw Refusal()
                }
            }
        }
        let last = try await enqueue(Self.flat, "/b", in: store)
        #expect(try await needs(last, in: store) == [other])
        withExtendedLifetime(queue) {}
    }

    // MARK: Places

    @Test func `one that is ahead of another and behind it comes in the order of enqueuing`()
        async throws
    {
        struct Crossed: PushOperation {
            static let kind = "crossed"
            let ahead: String
            let behind: String
            var footprint: Footprint {
                var footprint = Footprint.none
                footprint.touch(ahead, .ahead)
                footprint.touch(behind, .behind)
                return footprint
            }
        }
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let placement = Placement(pipeline: Self.flat)
        let ids = try await store.write { transaction in
            try [("u", "v"), ("v", "u")].map { ahead, behind in
                try transaction.enqueue(Crossed(ahead: ahead, behind: behind), placement)
            }
        }
        #expect(try await needs(ids[1], in: store) == [ids[0]])
        #expect(try await needs(ids[0], in: store) == [])
        withExtendedLifetime(queue) {}
    }

    @Test func `an operation sees what another process has enqueued meanwhile`() async throws {
        let path = folder.path("store.sqlite")
        var options = Store.Options()
        options.processes = .several
        let (ours, theirs) = (
            try Store(.file(path), options: options), try Store(.file(path), options: options)
        )
        let first = try await enqueue(Self.flat, in: ours)
        let second = try await enqueue(Self.flat, in: theirs)
        let third = try await enqueue(Self.flat, in: ours)
        #expect(try await needs(second, in: theirs) == [first])
        #expect(try await needs(third, in: ours) == [second])
        for store in [ours, theirs] { try store.close() }
    }

    // MARK: What runs

    @Test func `a change of one that runs leaves its attempt alone on its path`() async throws {
        let store = try Store(.memory)
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let pipeline = Pipeline(order: .flat).on(Put.self) { _, _ in
            start.finish()
            // Until it is cancelled.
            for await _ in AsyncStream.makeStream(of: Never.self).stream {}
            throw CancellationError()
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        try await queue.running {
            let running = try await store.write { try $0.enqueue(Put(path: "/a")) }
            for await _ in starts {}
            try await store.write { transaction in
                _ = try transaction.modifyOperation(running) {
                    try $0.replace(with: Put(path: "/b"))
                }
            }
            for path in ["/a", "/b"] {
                let next = try await store.write { try $0.enqueue(Put(path: path)) }
                #expect(try await needs(next, in: store) == [running], "\(path)")
            }
        }
    }

    // MARK: Costs

    @Test func `skipping many costs as much for each as skipping few`() async throws {
        func notes(_ count: Int) async throws -> Int {
            let store = try Store(.memory)
            let queue = try PushQueue(store, pipelines: pipelines())
            try await store.write { transaction in
                let placement = Placement(pipeline: Self.flat)
                try transaction.enqueue(Put(path: "/f"), placement)
                for number in 0..<count {
                    try transaction.enqueue(Put(path: "/f/\(number)"), placement)
                }
                try transaction.enqueue(Put(path: "/f", isTree: true), placement)
            }
            let noted = try await store.write { transaction in
                try transaction.skipOperations { operation in
                    try operation.decoded(as: Put.self).path.hasPrefix("/f/")
                }
                return try transaction.journal().update(in: transaction) { draft in
                    draft.entry.changes.reduce(0) { sum, change in
                        guard case .needsChanged(_, let needs) = change else { return sum }
                        return sum + needs.count
                    } + draft.heirs.count
                }
            }
            withExtendedLifetime(queue) {}
            return noted
        }
        let (few, many) = (try await notes(10), try await notes(100))
        #expect(many <= 20 * few, "\(few), \(many)")
        #expect(many <= 200)
    }

    // MARK: Names

    @Test func `paths are as equal as the order of what touches them says`() async throws {
        let (composed, decomposed) = (RemotePath("/caf\u{e9}"), RemotePath("/cafe\u{301}"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, RemotePath("/caf\u{e9}")]).count == 2)
        let move = Footprint.move(decomposed, to: composed)
        #expect(move.rows(for: nil).count == 3, "both paths, and their folder")
        let many = (0..<20).map { Footprint.put(RemotePath("/\($0 % 7)/\($0)")) }
            .reduce(.none, +)
        let rows = many.rows(for: "host")
        #expect(rows == rows.sorted() && Set(rows).count == rows.count)
    }

    // MARK: Commits

    @Test func `a commit of which only a dead letter is left is not joined`() async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let (dead, commit) = try await store.write { transaction in
            let id = try transaction.enqueue(Put(), Placement(pipeline: Self.ordered))
            return (id, transaction.commit)
        }
        try await store.write { transaction in
            let number = try OperationTable.number(of: dead, in: transaction.connection)
            try transaction.refuse(try #require(number), reason: "no")
        }
        let next = try await enqueue(Self.ordered, in: store)
        let joining = try await store.write { transaction in
            var placement = Placement(pipeline: Self.ordered)
            placement.commit = commit
            return try transaction.enqueue(Put(), placement)
        }
        let commits = try await store.read { transaction in
            try [next, joining].map { try transaction.operation($0)?.commit }
        }
        let (nextCommit, joiningCommit) = (try #require(commits[0]), try #require(commits[1]))
        #expect(nextCommit < joiningCommit)
        withExtendedLifetime(queue) {}
    }
}
