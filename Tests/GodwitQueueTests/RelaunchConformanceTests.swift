import Foundation
import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// What a launch finds that another one has left.
@Suite struct RelaunchConformanceTests {
    let folder: TemporaryFolder
    var location: Store.Location { .file(folder.path("store.sqlite")) }

    init() throws { folder = try TemporaryFolder() }

    private func launch(_ body: (Workbench) async throws -> Void) async throws {
        let bench = try Workbench(location)
        try await body(bench)
        try bench.store.close()
    }

    /// Completes everything, and returns the order of the starts.
    private func drain(
        _ bench: Workbench,
        _ pipelines: [Pipeline],
        _ names: [String]
    ) async throws -> [String] {
        let queue = try bench.queue(pipelines)
        for name in names { bench.cloud.answer(name) }
        try await queue.running { try await queue.finish(through: .init(rawValue: .max)) }
        return bench.cloud.started
    }

    @Test func `C70 commits, order, priorities and dependencies are as they were`() async throws {
        try await launch { bench in
            _ = try bench.queue()
            try await bench.store.write { transaction in
                let late = try transaction.enqueue(Upload(name: "b"))
                try transaction.enqueue(Upload(name: "c"), after: [late], Placement(priority: 9))
                try transaction.enqueue(Upload(name: "a"), Placement(priority: 5))
            }
            try await bench.enqueue("d", placement: Placement(priority: 100))
        }
        try await launch { bench in
            let started = try await drain(
                bench,
                [bench.cloud.pipeline(maxConcurrent: 1)],
                ["a", "b", "c", "d"]
            )
            #expect(started == ["a", "b", "c", "d"])
        }
    }

    @Test func `C72 a renamed pipeline takes its operations along`() async throws {
        try await launch { bench in
            _ = try bench.queue([bench.cloud.pipeline(), bench.cloud.pipeline("pictures")])
            try await bench.enqueue("a", placement: Placement(pipeline: "pictures"))
        }
        try await launch { bench in
            let photos = bench.cloud.pipeline("photos", previousNames: ["pictures"])
            _ = try await drain(bench, [bench.cloud.pipeline(), photos], ["a"])
            #expect(bench.cloud.operation("a")?.pipeline == "photos")
            let known = try await bench.store.read { transaction in
                try String.fetchSet(transaction.database, sql: "SELECT name FROM godwit_pipeline")
            }
            #expect(known == ["default", "photos"], "the old name is free")
        }
    }

    @Test func `C73★ what a vanished pipeline leaves is the default one's, for good`()
        async throws
    {
        try await launch { bench in
            _ = try bench.queue([bench.cloud.pipeline(), bench.cloud.pipeline("photos")])
            try await bench.enqueue("a", placement: Placement(pipeline: "photos"))
        }
        try await launch { bench in
            let queue = try bench.queue()
            try await queue.running { await bench.cloud.starts() }
        }
        try await launch { bench in
            let pipelines = [bench.cloud.pipeline(), bench.cloud.pipeline("photos")]
            _ = try await drain(bench, pipelines, ["a"])
            #expect(bench.cloud.operation("a")?.pipeline == "default")
        }
    }

    /// What becomes of a pipeline in commit order.
    enum Flattening: CaseIterable {
        case same, renamed, renamedToStored, vanished
    }

    @Test(arguments: Flattening.allCases)
    func `C74★ what was enqueued in commit order keeps it when its pipeline is flat`(
        flattening: Flattening
    ) async throws {
        let flat = { (bench: Workbench) in
            switch flattening {
            case .same: bench.cloud.pipeline("old", order: .flat)
            case .renamed, .renamedToStored:
                bench.cloud.pipeline("new", order: .flat, previousNames: ["old"])
            case .vanished: bench.cloud.pipeline(order: .flat)
            }
        }
        try await launch { bench in
            var pipelines = [bench.cloud.pipeline("old")]
            if flattening == .renamedToStored {
                pipelines.append(bench.cloud.pipeline("new", order: .flat))
            }
            if flattening == .vanished { pipelines.append(bench.cloud.pipeline(order: .flat)) }
            _ = try bench.queue(pipelines)
            for name in ["a", "b"] {
                try await bench.enqueue(name, placement: Placement(pipeline: "old"))
            }
        }
        for _ in 0..<2 {
            try await launch { bench in
                let queue = try bench.queue([flat(bench)])
                try await queue.running {
                    #expect(await bench.cloud.starts() == ["a"])
                    #expect(queue.summary.waiting == 1, "b waits for the commit of a")
                }
            }
        }
        try await launch { bench in
            let started = try await drain(bench, [flat(bench)], ["a", "b"])
            #expect(started == ["a", "b"])
        }
    }

    @Test func `C74 what was enqueued in flat order obeys commit order from then on`()
        async throws
    {
        try await launch { bench in
            _ = try bench.queue(order: .flat)
            try await bench.enqueue("a")
            try await bench.enqueue("b", placement: Placement(priority: 9))
        }
        try await launch { bench in
            let started = try await drain(bench, [bench.cloud.pipeline()], ["a", "b"])
            #expect(started == ["a", "b"])
        }
    }

    /// A rule has the second operation go first, the order of commits the first one.
    @Test(.timeLimit(.minutes(1)))
    func `C74 what is enqueued before the order is kept waits for nothing in a circle`()
        async throws
    {
        let rules = [DependencyRule(UploadDraft.self, \.name, before: Upload.self, \.name)]
        try await launch { bench in
            var ordered = bench.cloud.pipeline()
            ordered.rules = rules
            _ = try bench.queue([ordered])
            try await bench.enqueue("a")
        }
        try await launch { bench in
            var flat = bench.cloud.pipeline(order: .flat).on(UploadDraft.self) { _, _ in .completed
            }
            flat.rules = rules
            let queue = try bench.queue([flat])
            // The queue does not run yet, and has not kept the order of what is stored.
            try await bench.store.write { try $0.enqueue(UploadDraft(name: "a")) }
            bench.cloud.answer("a")
            try await queue.running { try await queue.finish(through: .init(rawValue: .max)) }
            try await bench.expectEmpty()
        }
    }

    @Test func `C76★ what cannot be read is set aside, and comes back when it can`() async throws {
        try await launch { bench in
            _ = try bench.queue()
            try await bench.store.write { try $0.enqueue(UploadDraft(name: "a")) }
            try await bench.enqueue("b")
        }
        try await launch { bench in
            let started = try await drain(bench, [bench.cloud.pipeline()], ["b"])
            #expect(started == ["b"], "one that nobody knows blocks nobody")
            let found = try await bench.store.read { try $0.operations() }
            #expect(found.map(\.state) == [.unreadable])
        }
        try await launch { bench in
            let queue = try bench.queue([
                bench.cloud.pipeline().on(UploadDraft.self) { _, _ in .completed }
            ])
            let id = try await bench.first().id
            try await queue.running { _ = try await queue.result(of: id) }
            try await bench.expectEmpty()
        }
    }

    @Test(arguments: [Dependency.Policy.skip, .fail])
    func `C76★ what depends on one that cannot be read waits for a version that can`(
        policy: Dependency.Policy
    ) async throws {
        try await launch { bench in
            _ = try bench.queue()
            try await bench.store.write { transaction in
                let draft = try transaction.enqueue(UploadDraft(name: "a"))
                let placement = Placement(dependencies: [.on(draft, otherwise: policy)])
                try transaction.enqueue(Upload(name: "b"), placement)
            }
        }
        try await launch { bench in
            let queue = try bench.queue()
            let draft = try await bench.first().id
            try await queue.running {
                try await queue.statuses(of: draft).reaches { $0 == .deadLetter }
            }
            let found = try await bench.store.read { try $0.operations() }
            #expect(found.map(\.state) == [.unreadable, .waiting])
        }
        try await launch { bench in
            let pipeline = bench.cloud.pipeline().on(UploadDraft.self) { _, _ in .completed }
            let started = try await drain(bench, [pipeline], ["b"])
            #expect(started == ["b"])
            try await bench.expectEmpty()
        }
    }

    @Test func `C76★ a body that is not what its kind says is set aside`() async throws {
        struct Other: PushOperation {
            static let kind = Upload.kind
            let number: Int
        }
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.store.write { try $0.enqueue(Other(number: 1)) }
            try await queue.statuses(of: id).reaches { $0 == .deadLetter }
        }
        let found = try await bench.store.read { try $0.operations(where: .unreadable) }
        #expect(found.count == 1)
    }

    @Test func `C79 two stores have two queues`() async throws {
        let (one, two) = (try Workbench(), try Workbench())
        _ = (try one.queue(), try two.queue())
        try await one.enqueue("a")
        #expect(try await two.names() == [])
    }

    @Test func `C80★ removing all objects removes no operation behind the queue's back`()
        async throws
    {
        // The original's operations vanish from the database and go on in memory. Here objects
        // and operations are different things: who wants both gone says both.
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            await bench.cloud.starts()
            try await bench.store.write { transaction in
                try transaction.removeEverything()
                _ = try transaction.skipOperations { _ in true }
            }
            #expect(await bench.cloud.cancellation() == "a")
            #expect(try await queue.result(of: id) == .skipped(reason: nil))
        }
        try await bench.expectEmpty()
    }

    @Test func `C81★ a queue that is stopped stops what runs`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await bench.enqueue("a")
        try await queue.running { await bench.cloud.starts() }
        #expect(await bench.cloud.cancellation() == "a")
        let found2 = try await bench.store.read { try $0.operations()[0].state }
        #expect(found2 == .waiting)
    }

    @Test func `an operation that ends the process again and again becomes a dead letter`()
        async throws
    {
        try await launch { bench in
            _ = try bench.queue()
            try await bench.enqueue("a")
        }
        for attempt in 1...5 {
            try await launch { bench in
                // What a crash leaves: a row that says it runs.
                try await bench.store.write { transaction in
                    try transaction.database.execute(
                        sql: "UPDATE godwit_operation SET state = 'running', epoch = 0"
                    )
                }
                let queue = try bench.queue()
                try await queue.running {
                    let id = try await bench.first().id
                    if attempt < 5 {
                        await bench.cloud.starts()
                    } else {
                        try await queue.statuses(of: id).reaches { $0 == .deadLetter }
                    }
                    let operation = try await bench.operation(id)
                    #expect(operation.attempts == min(attempt, 4) && operation.mayHaveRun)
                }
            }
        }
        try await launch { bench in
            let operation = try await bench.store.read { try $0.operations()[0] }
            #expect(operation.state == .deadLetter)
            let attempts = try await bench.store.read { try $0.attempts(of: operation.id) }
            #expect(attempts.map(\.outcome) == Array(repeating: "interrupted", count: 5))
        }
    }
}

// MARK: - Delays

extension RelaunchConformanceTests {
    @Test func `C58: no jump of the clock between two launches changes a delay`() async throws {
        let calendar = Mutex(Date(timeIntervalSince1970: 1_000_000))
        var options = Store.Options()
        options.clock = StoreClock(elapsed: { .zero }, now: { calendar.withLock { $0 } })
        let dated = calendar.withLock { $0.addingTimeInterval(100) }
        var store = try Store(location, options: options)
        var (clock, cloud) = (ManualClock(), HandCloud())
        var queue = try PushQueue(store, clock: clock, pipelines: [cloud.pipeline(order: .flat)])
        try await queue.running { [queue, store, cloud] in
            let delayed = try await store.write { transaction in
                let id = try transaction.enqueue(Upload(name: "dated"))
                try transaction.holdOperation(id, until: dated)
                return try transaction.enqueue(Upload(name: "delayed"))
            }
            await cloud.starts()
            cloud.answer("delayed", .retry(after: .seconds(10), reason: "later"))
            try await queue.statuses(of: delayed).reaches { !$0.reasons.isEmpty }
        }
        try store.close()

        calendar.withLock { $0 = $0.addingTimeInterval(-1_000_000) }
        store = try Store(location, options: options)
        (clock, cloud) = (ManualClock(), HandCloud())
        queue = try PushQueue(store, clock: clock, pipelines: [cloud.pipeline(order: .flat)])
        try await queue.running { [queue, clock, cloud] in
            #expect(await clock.nextDelay() == .seconds(10))
            clock.advance(by: .seconds(10))
            #expect(await cloud.starts() == ["delayed"])
            cloud.answer("delayed")
            calendar.withLock { $0 = dated }
            clock.advance(by: .seconds(60))
            #expect(await cloud.starts() == ["dated"])
            cloud.answer("dated")
            try await queue.finish(through: .init(rawValue: .max))
        }
        try store.close()
    }

    @Test func `C58: no jump of the clock makes a delay longer or shorter; a date is a date`()
        async throws
    {
        let jump = Mutex<TimeInterval>(0)
        var options = Store.Options()
        let start = Date(timeIntervalSince1970: 1_000_000)
        options.clock = StoreClock(
            elapsed: { .zero },
            now: { start.addingTimeInterval(jump.withLock { $0 }) }
        )
        let (clock, cloud) = (ManualClock(), HandCloud())
        let store = try Store(.memory, options: options)
        let queue = try PushQueue(store, clock: clock, pipelines: [cloud.pipeline(order: .flat)])
        try await queue.running {
            try await store.write { try $0.enqueue(Upload(name: "delayed")) }
            await cloud.starts()
            cloud.answer("delayed", .retry(after: .seconds(10), reason: "later"))
            #expect(await clock.nextDelay() == .seconds(10))
            jump.withLock { $0 = 10_000_000 }
            clock.advance(by: .seconds(9))
            let id = try await store.write { try $0.enqueue(Upload(name: "other")) }
            await cloud.starts()
            #expect(cloud.started == ["delayed", "other"], "the delay is not over yet")
            cloud.answer("other")
            #expect(try await queue.result(of: id) == .completed)
            clock.advance(by: .seconds(1))
            await cloud.starts()
            cloud.answer("delayed")
            // A date is looked at once a minute: the calendar reaches it by a jump.
            let dated = try await store.write { transaction in
                let id = try transaction.enqueue(Upload(name: "dated"))
                let date = start.addingTimeInterval(20_000_000)
                try transaction.holdOperation(id, until: date)
                return id
            }
            #expect(try await queue.status(of: dated).reasons.count == 1)
            jump.withLock { $0 = 20_000_001 }
            clock.advance(by: .seconds(60))
            await cloud.starts()
            cloud.answer("dated")
            #expect(try await queue.result(of: dated) == .completed)
        }
        try store.close()
    }
}
