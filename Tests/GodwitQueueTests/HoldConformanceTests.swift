import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import Testing

/// Status, holds, suspensions.
@Suite struct HoldConformanceTests {
    @Test func `C50 C51 an operation waits, runs, waits and runs again, and ends for good`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        let id = try await bench.enqueue("a")[0]
        #expect(try await queue.status(of: id).reasons.count == 1, "the queue does not run")
        try await queue.running {
            await bench.cloud.starts()
            #expect(try await queue.status(of: id) == .running(progress: nil))
            bench.cloud.answer("a", .retry(reason: "busy"))
            #expect(await bench.clock.nextDelay() == .seconds(1))
            #expect(try await queue.status(of: id).reasons.count == 1)
            bench.clock.advance(by: .seconds(1))
            await bench.cloud.starts()
            bench.cloud.answer("a")
            let fate = try await queue.result(of: id)
            #expect(fate == .completed)
            await #expect(throws: QueueError.unknownOperation(id)) {
                try await bench.store.write { try $0.retryOperation(id) }
            }
        }
        try await bench.expectEmpty()
    }

    @Test func `C53 C54 an operation waits for the last of its holds`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.store.write { transaction in
                let id = try transaction.enqueue(Upload(name: "a"))
                try transaction.holdOperation(id, until: nil, context: "login")
                try transaction.holdOperation(id, until: nil, context: "merge")
                return id
            }
            try await bench.store.write { try $0.releaseOperation(id, context: "login") }
            let merging = WaitReason.held(context: "merge", until: nil)
            #expect(try await queue.status(of: id).reasons == [merging])
            try await bench.store.write { try $0.releaseOperation(id, context: "merge") }
            await bench.cloud.starts()
            bench.cloud.answer("a")
            _ = try await queue.result(of: id)
        }
        try await bench.expectEmpty()
    }

    @Test func `C55 an operation that failed is tried again at the date it was held to`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            await bench.cloud.starts()
            bench.cloud.answer("a", .retry(after: .seconds(90), reason: "busy"))
            #expect(await bench.clock.nextDelay() == .seconds(90))
            bench.clock.advance(by: .seconds(89))
            #expect(!(try await queue.status(of: id).reasons.isEmpty))
            bench.clock.advance(by: .seconds(1))
            await bench.cloud.starts()
            bench.cloud.answer("a")
            _ = try await queue.result(of: id)
        }
        try await bench.expectEmpty()
    }

    @Test func `C56 a hold does not stop what runs`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            await bench.cloud.starts()
            try await bench.store.write { try $0.holdOperation(id, until: nil) }
            #expect(try await queue.status(of: id) == .running(progress: nil))
            bench.cloud.answer("a")
            #expect(try await queue.result(of: id) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `C57 what is held blocks its own commit's end and nobody beside it`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let ids = try await bench.enqueue("a", "b")
        let later = try await bench.enqueue("later")[0]
        try await bench.store.write { try $0.holdOperation(ids[0], until: nil) }
        try await queue.running {
            #expect(await bench.cloud.starts() == ["b"])
            bench.cloud.answer("b")
            _ = try await queue.result(of: ids[1])
            #expect(!(try await queue.status(of: later).reasons.isEmpty))
            try await bench.store.write { try $0.skipOperation(ids[0]) }
            #expect(await bench.cloud.starts() == ["later"])
        }
    }

    @Test func `C60 suspensions are counted, and never below none`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        queue.resume("merge")
        queue.suspend("merge", count: 2)
        queue.suspend("merge", count: .max)
        #expect(queue.suspensions() == ["merge": .max], "it saturates")
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            #expect(try await queue.status(of: id).reasons == [.suspended(reason: "merge")])
        }
    }

    @Test func `C61 C62★ the queue and its pipelines are suspended apart from each other`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        queue.suspend("merge", pipeline: "default")
        queue.resume("merge")
        #expect(queue.suspensions(pipeline: "default") == ["merge": 1])
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            #expect(try await queue.status(of: id).reasons == [.suspended(reason: "merge")])
            queue.resume("merge", pipeline: "default")
            #expect(await bench.cloud.starts() == ["a"])
        }
    }

    @Test func `C63 what runs goes on when its pipeline is suspended`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue(maxConcurrent: 1)
        try await queue.running {
            let ids = try await bench.enqueue("a", "b")
            await bench.cloud.starts()
            queue.suspend("offline")
            bench.cloud.answer("a")
            #expect(try await queue.result(of: ids[0]) == .completed)
            #expect(try await queue.status(of: ids[1]).reasons == [.suspended(reason: "offline")])
            queue.resume("offline")
            #expect(await bench.cloud.starts() == ["b"])
        }
    }

    @Test(arguments: [Pipeline.Order.commit, .flat])
    func `C64 C65★ the summary knows what runs and what waits`(order: Pipeline.Order) async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: order, maxConcurrent: 1)
        try await queue.running {
            let ids = try await bench.enqueue("a", "b")
            await bench.cloud.starts()
            #expect(queue.summary.running == 1 && queue.summary.waiting == 1)
            bench.cloud.answer("a", .conflict(reason: "412"))
            await bench.cloud.starts()
            #expect(queue.summary.conflicts == 1 && queue.summary.running == 1)
            bench.cloud.answer("b")
            _ = try await queue.result(of: ids[1])
            #expect(queue.summary.unfinished == 1 && queue.summary.running == 0)
        }
    }

    @Test func `C66 C67 whoever listens hears of everything, after it was committed`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        let events = queue.events()
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            let number = try await bench.operation(id).number
            bench.cloud.answer("a")
            _ = try await queue.result(of: id)
            var heard: [QueueEvent] = []
            for await event in events {
                heard.append(event)
                if case .finished = event { break }
            }
            let expected: [QueueEvent] = [
                .enqueued(number, id), .started(number), .finished(number, id, .completed),
            ]
            #expect(heard == expected)
        }
    }
}
