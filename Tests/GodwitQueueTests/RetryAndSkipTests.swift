import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// Operations that are retried, skipped and changed, and the order that the others keep.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct RetryAndSkipTests {
    private struct PutFile: PushOperation {
        static let kind = "put-file"
        let path: String
        var isRefused = false
        var footprint: Footprint { .put(RemotePath(path)) }
    }

    @Test func `a dead letter that would wait for later commits is not retried`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let dead = try await bench.enqueue("dead")[0]
            bench.cloud.answer("dead", .refused(reason: "404"))
            try await queue.statuses(of: dead).reaches { $0 == .deadLetter }
            let waiting = try await bench.enqueue("waiting")[0]
            let last = try await bench.enqueue("last")[0]
            await #expect(throws: QueueError.self) {
                try await bench.store.write { transaction in
                    try transaction.retryOperation(dead) { $0.addDependency(.on(last)) }
                }
            }
            bench.cloud.answer("waiting")
            bench.cloud.answer("last")
            #expect(try await queue.result(of: waiting) == .completed)
            #expect(try await queue.result(of: last) == .completed)
            #expect(try await bench.operation(dead).state == .deadLetter)
            bench.cloud.answer("dead")
            try await bench.store.write { try $0.retryOperation(dead) }
            #expect(try await queue.result(of: dead) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `an operation that waits for its next attempt is tried when the app says so`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let ids = [
                try await bench.enqueue("slow")[0], try await bench.enqueue("next")[0],
            ]
            bench.cloud.answer("slow", .retry(after: .seconds(3_600), reason: "busy"))
            await bench.cloud.starts()
            #expect(await bench.clock.nextDelay() == .seconds(3_600))
            // The other one waits for it, and has not failed.
            await #expect(throws: QueueError.wrongState(ids[1], .waiting)) {
                try await bench.store.write { try $0.retryOperation(ids[1]) }
            }
            try await bench.store.write { try $0.retryOperation(ids[0]) }
            await bench.cloud.starts()
            let running = try await bench.operation(ids[0])
            #expect(running.attempts == 1, "it has failed once, and is not new")
            await #expect(throws: QueueError.wrongState(ids[0], .running)) {
                try await bench.store.write { try $0.retryOperation(ids[0]) }
            }
            for name in ["slow", "next"] { bench.cloud.answer(name) }
            for id in ids { #expect(try await queue.result(of: id) == .completed) }
        }
        try await bench.expectEmpty()
    }

    @Test func `an operation that names a later one of its transaction waits for it`() async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        try await queue.running {
            let ids = try await bench.store.write { transaction in
                let early = try transaction.enqueue(Upload(name: "early"), after: [.number(7)])
                let named = Placement(id: .number(7))
                return [early, try transaction.enqueue(Upload(name: "named"), named)]
            }
            let started = await bench.cloud.starts()
            #expect(started == ["named"])
            let reasons = try await queue.status(of: ids[0]).reasons
            #expect(reasons.count == 1)
            for name in ["named", "early"] { bench.cloud.answer(name) }
            for id in ids { #expect(try await queue.result(of: id) == .completed) }
            #expect(bench.cloud.started == ["named", "early"])
        }
        try await bench.expectEmpty()
    }

    @Test func `a hold of the app's own stays when the backoff ends early`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.enqueue("slow")[0]
            bench.cloud.answer("slow", .retry(after: .seconds(3_600), reason: "busy"))
            await bench.cloud.starts()
            #expect(await bench.clock.nextDelay() == .seconds(3_600))
            try await bench.store.write { transaction in
                try transaction.holdOperation(id, until: nil, context: "login")
                try transaction.retryOperation(id)
            }
            let login = WaitReason.held(context: "login", until: nil)
            #expect(try await queue.status(of: id).reasons == [login])
            try await bench.store.write { try $0.releaseOperation(id, context: "login") }
            bench.cloud.answer("slow")
            #expect(try await queue.result(of: id) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test(arguments: [false, true])
    func `what commit order alone has put in a row stays in a row when its middle is skipped`(
        isRelaunched: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        var queue = try PushQueue(store, pipelines: [Pipeline(), Pipeline("flat", order: .flat)])
        func enqueue(_ pipeline: String) async throws -> OperationID {
            try await store.write {
                try $0.enqueue(PutFile(path: "/x"), Placement(pipeline: pipeline))
            }
        }
        let first = try await enqueue(Pipeline.defaultName)
        let middle = try await enqueue(Pipeline.defaultName)
        if isRelaunched {
            try store.close()
            store = try Store(.file(path))
            queue = try PushQueue(store, pipelines: [Pipeline("flat", order: .flat)])
        }
        let last = try await enqueue("flat")
        try await store.write { try $0.skipOperation(middle) }
        let needs = try await store.read { transaction in
            let number = try #require(try transaction.operation(last)).number
            let firstNumber = try #require(try transaction.operation(first)).number
            let needs = try DependencyTable.needs(of: number, in: transaction.database)
            return needs.map(\.need) == [firstNumber]
        }
        #expect(needs)
        withExtendedLifetime(queue) {}
        try store.close()
    }

    @Test func `a dead letter stops no operation when one between the two is skipped`()
        async throws
    {
        let store = try Store(.memory)
        let pipeline = Pipeline().on(PutFile.self) { file, _ in
            file.isRefused ? .refused(reason: "404") : .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        var ids: [OperationID] = []
        for isRefused in [true, false, false] {
            let file = PutFile(path: "/x", isRefused: isRefused)
            ids.append(try await store.write { try $0.enqueue(file) })
        }
        try await store.write { [middle = ids[1]] in try $0.skipOperation(middle) }
        try await queue.running {
            let fate = try await queue.result(of: ids[2])
            let status = try await queue.status(of: ids[0])
            #expect(fate == .completed && status == .deadLetter)
        }
        try store.close()
    }

    @Test func `a replaced operation that may not be merged is not merged`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        for mayMerge in [false, true] {
            let thing = "\(mayMerge)"
            let work = ChangeThing(effect: .write(thing))
            let id = try await bench.store.write {
                try $0.enqueue(work, Placement(mayMerge: mayMerge))
            }
            try await bench.store.write { transaction in
                _ = try transaction.modifyOperation(id) { try $0.replace(with: work) }
            }
            try await bench.store.write { _ = try $0.enqueue(work) }
        }
        let left = try await bench.store.read { transaction in
            try transaction.operations().map { try $0.decoded(as: ChangeThing.self).effect?.thing }
        }
        #expect(left == ["false", "false", "true"])
    }

    @Test func `a conflict without the cloud's version leaves what others are built on`()
        async throws
    {
        let things = Store.Collection<[String: Int]>("things")
        let bench = try Workbench()
        let queue = try bench.queue()
        try await bench.store.write { try $0.set(["a": 1], for: "x", in: things) }
        try await queue.running {
            let id = try await bench.store.write { transaction in
                try transaction.set(["a": 2], for: "x", in: things)
                return try transaction.enqueue(Upload(name: "x", pushes: ["x"]))
            }
            bench.cloud.answer("x", .conflict(reason: "412"))
            try await queue.statuses(of: id).reaches { $0 == .conflict }
            try await bench.store.write { try $0.resolveConflict(of: id, .take(["a": 3])) }
            let changes = try await bench.store.read { try $0.recordedChanges(of: id) }
            #expect(changes.first?.old == ["a": 1])
            bench.cloud.answer("x")
            #expect(try await queue.result(of: id) == .completed)
        }
    }
}
