import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// The faults B1 to B14 of the queue that this one follows, each as what must not happen here.
@Suite struct ZeroDarkFaultTests {
    @Test func `B1: rename and copy chains are done in a row`() async throws {
        #expect(
            try await Workbench.needs(.move("/a", to: "/b"), .move("/b", to: "/c")) == [[], [0]]
        )
        #expect(
            try await Workbench.needs(.move("/a", to: "/b"), .copy("/b", to: "/c")) == [[], [0]]
        )
        #expect(
            try await Workbench.needs(.copy("/a", to: "/b"), .move("/b", to: "/c")) == [[], [0]]
        )
        #expect(
            try await Workbench.needs(.copy("/a", to: "/b"), .copy("/b", to: "/c")) == [[], [0]]
        )
        #expect(
            try await Workbench.needs(.copy("/a", to: "/b"), .move("/a", to: "/c")) == [[], [0]]
        )
    }

    @Test func `B2: a folder is deleted after what left it, and entered after it was made`()
        async throws
    {
        #expect(try await Workbench.needs(.move("/f/x", to: "/x"), .deleteTree("/f")) == [[], [0]])
        #expect(try await Workbench.needs(.makeFolder("/f"), .move("/x", to: "/f/x")) == [[], [0]])
        #expect(
            try await Workbench.needs(.put("/f/x", content: 1), .deleteTree("/f")) == [[], [0]]
        )
        #expect(try await Workbench.needs(.move("/x", to: "/f/x"), .deleteTree("/f")) == [[], [0]])
        #expect(try await Workbench.needs(.delete("/f/x"), .delete("/f")) == [[], [0]])
    }

    @Test func `B3: a move that was tried keeps its own places when another one follows`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let first = Effect.move("x", from: "a", to: "b")
        let id = try await bench.store.write { try $0.enqueue(ChangeThing(effect: first)) }
        let number = try await bench.operation(id).number
        try await bench.store.write { transaction in
            try transaction.database.execute(
                sql: "UPDATE godwit_operation SET attempts = 1 WHERE number = ?",
                arguments: [number.rawValue]
            )
        }
        let second = Effect.move("x", from: "b", to: "c")
        _ = try await bench.store.write { try $0.enqueue(ChangeThing(effect: second)) }
        let effects = try await bench.store.read { transaction in
            try transaction.operations().map { try $0.decoded(as: ChangeThing.self).effect }
        }
        #expect(effects == [first, second])
    }

    @Test func `B4: two ways to make the same move come to the same operation`() async throws {
        struct Rename: PushOperation {
            static let kind = "rename"
            let thing: String
            var effect: Effect? { .move(thing, from: "a", to: "b") }
        }
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        try await bench.store.write { transaction in
            try transaction.enqueue(Rename(thing: "x"))
            try transaction.enqueue(ChangeThing(effect: .move("x", from: "b", to: "c")))
        }
        let left = try await bench.store.read { try $0.operations() }
        #expect(left.count == 1)
        #expect(try left[0].decoded(as: ChangeThing.self).effect == .move("x", from: "a", to: "c"))
    }

    @Test func `B5: an edit during a push is pushed after it with the new tag, and is no conflict`()
        async throws
    {
        let bench = try Workbench()
        let cloud = TagCloud()
        let queue = try bench.queue([cloud.pipeline(bench.store)])
        let edit: @Sendable (borrowing WriteTransaction) throws -> OperationID = { transaction in
            let old = try transaction.get("x", in: TagCloud.things) ?? 0
            try transaction.set(old + 1, for: "x", in: TagCloud.things)
            return try transaction.enqueue(ChangeThing(effect: .write("x")))
        }
        try await queue.running {
            let first = try await bench.store.write(edit)
            await cloud.arrived()
            let second = try await bench.store.write(edit)
            let third = try await bench.store.write(edit)
            cloud.goOn()
            #expect(try await queue.result(of: first) == .completed)
            await cloud.arrived()
            cloud.goOn()
            #expect(try await queue.result(of: second) == .completed)
            #expect(try await queue.result(of: third) == .completed, "merged with the second")
        }
        #expect(cloud.log == ["x 1 if none", "x 3 if 1"])
        try await bench.expectEmpty()
    }

    @Test func `B6: what an upload in parts has done so far is there after a relaunch`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let parts = Mutex<[Int64]>([])
        for launch in 0..<3 {
            let bench = try Workbench(.file(path))
            let store = bench.store
            let pipeline = Pipeline().on(Upload.self) { _, run in
                var next = run.operation.userInfo.number ?? 0
                while next < 6 {
                    let (part, done) = (next, next + 1)
                    try await store.write { transaction in
                        try transaction.modifyOperation(run.operation.id) {
                            $0.userInfo = .int(done)
                        }
                    }
                    parts.withLock { $0.append(part) }
                    next = done
                    // The process ends after every second part.
                    if launch < 2, next.isMultiple(of: 2) { try store.close() }
                }
                return .completed
            }
            let queue = try bench.queue([pipeline])
            if launch == 0 { try await bench.enqueue("film") }
            let last = try await bench.store.read { try $0.operations().first?.id }
            let running = Task { try await queue.run() }
            if launch == 2, let last { #expect(try await queue.result(of: last) == .completed) }
            if launch == 2 { running.cancel() }
            _ = await running.result
            if launch == 2 { try await bench.expectEmpty() }
        }
        #expect(parts.withLock { $0 } == [0, 1, 2, 3, 4, 5])
    }

    @Test func `B7: what a notification completes is done, and a late answer changes nothing`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let ids = try await bench.enqueue("a")
            await bench.cloud.starts()
            try await bench.store.write { try $0.completeOperation(ids[0]) }
            #expect(try await queue.result(of: ids[0]) == .completed)
            bench.cloud.answer("a", .refused(reason: "too late"))
            let next = try await bench.enqueue("b")
            await bench.cloud.starts()
            bench.cloud.answer("b")
            #expect(try await queue.result(of: next[0]) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `B8: each outcome does what it says`() async throws {
        let outcomes: [(Outcome, OperationStatus)] = [
            (.completed, .finished(.completed)),
            (.skipped(reason: "not needed"), .finished(.skipped(reason: "not needed"))),
            (.refused(reason: "never"), .deadLetter),
            (.unreadable(reason: "what is this?"), .deadLetter),
            (.conflict(reason: "newer"), .conflict),
        ]
        for (outcome, expected) in outcomes {
            let bench = try Workbench()
            let queue = try bench.queue()
            try await queue.running {
                let id = try await bench.enqueue("a")[0]
                await bench.cloud.starts()
                bench.cloud.answer("a", .retry(after: .zero, reason: "from scratch"))
                await bench.cloud.starts()
                #expect(bench.cloud.operation("a")?.attempts == 1, "a retry is another start")
                bench.cloud.answer("a", outcome)
                try await queue.statuses(of: id).reaches { $0 == expected }
            }
        }
    }

    @Test func `B9: what fails for good is a dead letter with its reason, and never dropped`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        var events = queue.events().makeAsyncIterator()
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            await bench.cloud.starts()
            bench.cloud.answer("a", .refused(reason: "413: too large"))
            while let event = await events.next(isolation: nil) {
                if case .stopped(_, .deadLetter) = event { break }
            }
            let letters = try await bench.store.read { try $0.operations(where: .deadLetter) }
            #expect(letters.map(\.id) == [id])
            #expect(letters.first?.reason == "413: too large")
            let attempts = try await bench.store.read { try $0.attempts(of: id) }
            #expect(attempts.map(\.outcome) == ["refused"])
        }
    }

    @Test func `B10: who depends on a dead letter does not run`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        try await queue.running {
            let ids = try await bench.store.write { transaction in
                let first = try transaction.enqueue(Upload(name: "first"))
                let second = try transaction.enqueue(Upload(name: "second"), after: [first])
                return [first, second]
            }
            await bench.cloud.starts()
            bench.cloud.answer("first", .refused(reason: "no"))
            try await queue.statuses(of: ids[0]).reaches { $0 == .deadLetter }
            let number = try await bench.operation(ids[0]).number
            #expect(try await queue.status(of: ids[1]) == .waiting([.dependencies([number])]))
            #expect(bench.cloud.started == ["first"])
        }
    }

    @Test func `B11: a dependency on a later commit is waited for`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        let later = OperationID.number(2)
        let first = try await bench.store.write { transaction in
            let first = try transaction.enqueue(Upload(name: "first"))
            try transaction.holdOperation(first, until: nil)
            return first
        }
        try await bench.store.write { transaction in
            try transaction.enqueue(Upload(name: "second"), Placement(id: later))
            try transaction.modifyOperation(first) { $0.dependencies = [.on(later)] }
            try transaction.releaseOperation(first)
        }
        try await queue.running {
            await bench.cloud.starts()
            #expect(bench.cloud.started == ["second"])
            bench.cloud.answer("second")
            await bench.cloud.starts()
            bench.cloud.answer("first")
            let fate = try await queue.result(of: first)
            #expect(fate == .completed)
        }
    }

    @Test func `B12: a conflict whose resolver fails waits for the app, over launches too`()
        async throws
    {
        struct Puzzled: Error {}
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let bench = try Workbench(.file(path))
        var pipeline = bench.cloud.pipeline()
        pipeline.resolve = { _ in throw Puzzled() }
        let queue = try bench.queue([pipeline])
        let id = try await bench.enqueue("a")[0]
        try await queue.running {
            await bench.cloud.starts()
            bench.cloud.answer("a", .conflict(reason: "newer"))
            try await queue.statuses(of: id).reaches { $0 == .conflict }
        }
        try bench.store.close()
        let again = try Workbench(.file(path))
        let second = try again.queue()
        try await second.running {
            #expect(try await second.status(of: id) == .conflict)
            try await again.store.write { try $0.resolveConflict(of: id, .retry) }
            await again.cloud.starts()
            again.cloud.answer("a")
            #expect(try await second.result(of: id) == .completed)
        }
    }

    @Test func `B13: the tags of two trees of one user are two`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        try await bench.store.write { transaction in
            try transaction.setTag(.string("1"), for: "cursor of ann", identifier: "photos")
            try transaction.setTag(.string("2"), for: "cursor of ann", identifier: "notes")
        }
        let tags = try await bench.store.read { try $0.tags(for: "cursor of ann") }
        #expect(tags == ["photos": .string("1"), "notes": .string("2")])
    }

    @Test func `B14: an operation waits for one of another pipeline`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue([
            bench.cloud.pipeline(), bench.cloud.pipeline("photos", order: .flat),
        ])
        try await queue.running {
            let photo = try await bench.enqueue(
                "photo",
                placement: Placement(pipeline: "photos")
            )[0]
            await bench.cloud.starts()
            let post = try await bench.store.write {
                try $0.enqueue(Upload(name: "post"), after: [photo])
            }
            #expect(!(try await queue.status(of: post).reasons.isEmpty))
            bench.cloud.answer("photo")
            await bench.cloud.starts()
            bench.cloud.answer("post")
            #expect(try await queue.result(of: post) == .completed)
        }
        #expect(bench.cloud.started == ["photo", "post"])
    }
}

/// A cloud with tags, which does each push when the test says so.
final class TagCloud: Sendable {
    static let things = Store.Collection<Int>("things")

    private let state = Mutex((tags: [String: Int](), log: [String]()))
    private let arrivals = AsyncStream.makeStream(of: Void.self)
    private let leaves = AsyncStream.makeStream(of: Void.self)

    var log: [String] { state.withLock { $0.log } }

    func arrived() async { for await _ in arrivals.stream { break } }

    func goOn() { leaves.continuation.yield() }

    func pipeline(_ store: Store) -> Pipeline {
        Pipeline(order: .flat).on(ChangeThing.self) { change, _ in
            guard let name = change.effect?.thing else { return .refused(reason: "nothing") }
            let (content, tag) = try await store.read { transaction in
                (
                    try transaction.get(name, in: Self.things) ?? 0,
                    try transaction.tag(for: name)?.number.map { Int($0) }
                )
            }
            self.arrivals.continuation.yield()
            for await _ in self.leaves.stream { break }
            return self.put(name, content, if: tag)
        }
    }

    private func put(_ name: String, _ content: Int, if tag: Int?) -> Outcome {
        state.withLock { state in
            state.log.append("\(name) \(content) if \(tag.map(String.init) ?? "none")")
            guard state.tags[name] == tag else { return .conflict(reason: "412") }
            let new = (tag ?? 0) + 1
            state.tags[name] = new
            return .completed { try $0.setTag(.int(Int64(new)), for: name) }
        }
    }
}

extension Value {
    fileprivate var number: Int64? {
        if case .int(let number) = self { number } else { nil }
    }
}
