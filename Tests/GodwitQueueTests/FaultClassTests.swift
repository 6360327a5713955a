import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// The classes of faults Q2 to Q10 between a queue and a cloud, but for Q1 (`EndOfProcessTests`) and Q5
/// (`ConflictTests`).
@Suite struct FaultClassTests {
    @Test func `Q2: an operation runs once at a time, and no more of them than may`() async throws {
        let counts = Mutex((running: [String: Int](), most: 0, doubled: 0))
        let bench = try Workbench()
        var pipeline = Pipeline(order: .flat, maxConcurrent: 5).on(Upload.self) { upload, run in
            counts.withLock { counts in
                counts.running[upload.name, default: 0] += 1
                counts.most = max(counts.most, counts.running.values.reduce(0, +))
                if counts.running[upload.name] != 1 { counts.doubled += 1 }
            }
            await Task.yield()
            counts.withLock { $0.running[upload.name] = nil }
            let isFirst = run.operation.attempts == 0
            return isFirst ? .retry(after: .zero, reason: "once more") : .completed
        }
        pipeline.backoff = Backoff(delayMin: .zero, delayMax: .zero)
        let queue = try bench.queue([pipeline])
        try await queue.running {
            for number in 0..<200 { try await bench.enqueue("\(number)") }
            let commit = try await bench.store.read { $0.lastCommit }
            try await queue.finish(through: commit)
        }
        let (_, most, doubled) = counts.withLock { $0 }
        #expect(most <= 5 && most > 1)
        #expect(doubled == 0)
        try await bench.expectEmpty()
    }

    @Test func `Q3: a cloud that is down is asked ever less, and at once when it says when`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            try await bench.enqueue("a")
            var delays: [Duration] = []
            for _ in 0..<12 {
                await bench.cloud.starts()
                bench.cloud.answer("a", .retry(reason: "503"))
                let delay = await bench.clock.nextDelay()
                delays.append(delay)
                bench.clock.advance(by: delay)
            }
            #expect(delays == delays.sorted() && delays.last == .seconds(60))
            await bench.cloud.starts()
            bench.cloud.answer("a", .retry(after: .seconds(7), slowDown: true, reason: "429"))
            let delay = await bench.clock.nextDelay()
            #expect(delay == .seconds(7), "the cloud's own delay")
            bench.clock.advance(by: delay)
            try #require(await bench.cloud.starts() == ["a"])
            bench.cloud.answer("a")
        }
    }

    @Test func `Q3: an executor that gives up by itself is not asked again at once`() async throws {
        let bench = try Workbench()
        let count = Mutex(0)
        var pipeline = Pipeline().on(Upload.self) { _, _ in
            // A request with a time limit, say, that cancels its own child task.
            count.withLock { $0 += 1 }
            throw CancellationError()
        }
        pipeline.backoff = Backoff(delayMin: .seconds(2), jitter: { 0 })
        let queue = try bench.queue([pipeline])
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            for tries in 1...3 {
                let delay = await bench.clock.nextDelay()
                #expect(delay == .seconds(2))
                #expect(count.withLock { $0 } == tries)
                let operation = try await bench.operation(id)
                #expect(operation.attempts == 0, "and it was no attempt")
                bench.clock.advance(by: delay)
            }
        }
    }

    @Test func `Q3: ten thousand clients that failed together do not come back together`() {
        let random = Mutex(Seeded(seed: 3))
        let backoff = Backoff(jitter: {
            random.withLock { Double($0.next() >> 11) / Double(1 << 53) }
        })
        for attempts in [5, 8, 12] {
            let delayMax = Backoff(jitter: { 0 }).delay(attempts: attempts)
            var buckets = Array(repeating: 0, count: 20)
            for _ in 0..<10_000 {
                let part = backoff.delay(attempts: attempts) / delayMax
                buckets[min(Int(part * 20), 19)] += 1
            }
            #expect(buckets.max() ?? 0 <= 2 * 10_000 / 20, "attempt \(attempts): \(buckets)")
        }
    }

    @Test func `Q4: a poison operation goes to the dead letters, and everything else flows`()
        async throws
    {
        let bench = try Workbench()
        var pipeline = Pipeline(order: .commit).on(Upload.self) { upload, _ in
            if upload.name == "poison" { throw CocoaError(.featureUnsupported) }
            return .completed
        }
        pipeline.attemptsMax = 3
        pipeline.backoff = Backoff(delayMin: .zero, delayMax: .zero)
        let queue = try bench.queue([pipeline])
        try await queue.running {
            let ids = try await bench.enqueue("a", "poison", "b")
            let after = try await bench.enqueue("c")[0]
            #expect(
                try await queue.result(of: after) == .completed,
                "the next commit is not held up"
            )
            let poison = try await bench.operation(ids[1])
            #expect(poison.state == .deadLetter && poison.reason != nil)
            let attempts = try await bench.store.read { try $0.attempts(of: ids[1]) }
            #expect(attempts.map(\.outcome) == ["retry", "retry", "refused"])
            // And somebody may mend it: change it, and have it tried again.
            try await bench.store.write { transaction in
                try transaction.retryOperation(
                    ids[1],
                    editing: { try $0.replace(with: Upload(name: "mended")) }
                )
            }
            #expect(try await queue.result(of: ids[1]) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `Q6: random graphs run in an order that their needs allow`() async throws {
        for seed in 0..<UInt64(20 * Soak.factor) {
            var random = Seeded(seed: seed)
            let count = Int.random(in: 2...60, using: &random)
            let needs = (0..<count).map { number in
                (0..<number).filter { _ in random.happens(0.1) }
            }
            let log = Mutex<[Int]>([])
            let bench = try Workbench()
            let queue = try bench.queue([
                Pipeline(order: .flat).on(Upload.self) { upload, _ in
                    log.withLock { $0.append(Int(upload.name) ?? -1) }
                    return .completed
                }
            ])
            try await bench.store.write { transaction in
                var ids: [OperationID] = []
                for number in 0..<count {
                    let id = try transaction.enqueue(
                        Upload(name: "\(number)"),
                        after: needs[number].map { ids[$0] }
                    )
                    ids.append(id)
                }
            }
            try await queue.running {
                let commit = try await bench.store.read { $0.lastCommit }
                try await queue.finish(through: commit)
            }
            let order = log.withLock { $0 }
            let places = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
            #expect(places.count == count, "seed \(seed)")
            for number in 0..<count {
                for need in needs[number] {
                    #expect((places[need] ?? 0) < (places[number] ?? 0), "seed \(seed)")
                }
            }
            try bench.store.close()
        }
    }

    @Test func `Q7: while nobody is logged in the pipeline pauses, and no attempt counts`()
        async throws
    {
        let bench = try Workbench()
        let login = Mutex((isValid: false, refreshCount: 0))
        let (asks, ask) = AsyncStream.makeStream(of: Void.self)
        let holder = Mutex<PushQueue?>(nil)
        let queue = try bench.queue([
            Pipeline(order: .flat).on(Upload.self) { _, _ in
                guard !login.withLock({ $0.isValid }) else { return .completed }
                let isFirst = login.withLock { login in
                    login.refreshCount += 1
                    return login.refreshCount == 1
                }
                if isFirst {
                    holder.withLock { $0 }?.suspend("login")
                    ask.yield()
                }
                throw CancellationError()
            }
        ])
        holder.withLock { $0 = queue }
        try await queue.running {
            let ids = try await bench.enqueue("a", "b", "c")
            for await _ in asks { break }
            for id in ids {
                try await queue.statuses(of: id).reaches {
                    $0 == .waiting([.suspended(reason: "login")])
                }
                let operation = try await bench.operation(id)
                #expect(operation.attempts == 0 && operation.state == .waiting)
            }
            login.withLock { $0.isValid = true }
            queue.resume("login")
            for id in ids { #expect(try await queue.result(of: id) == .completed) }
        }
        holder.withLock { $0 = nil }
        try await bench.expectEmpty()
    }

    @Test func `Q8: an executor that verifies is never fooled by a cloud that lies`() async throws {
        let lies = ["an HTML page", "half of it", "another tag"]
        let answers = Mutex(lies + ["the truth"])
        let bench = try Workbench()
        var pipeline = Pipeline().on(Upload.self) { _, _ in
            let answer = answers.withLock { $0.removeFirst() }
            guard answer == "the truth" else { return .retry(reason: "not verified: \(answer)") }
            return .completed
        }
        pipeline.backoff = Backoff(delayMin: .zero, delayMax: .zero)
        let queue = try bench.queue([pipeline])
        let id = try await bench.enqueue("a")[0]
        try await queue.running {
            let fate = try await queue.result(of: id)
            #expect(fate == .completed)
        }
        #expect(answers.withLock { $0 } == [])
    }

    @Test func `Q9: what people decide is durable, and to decide it twice is to decide it once`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let first = try Workbench(.file(path))
        _ = try first.queue()
        let ids = try await first.enqueue("low", "high", "held", "skipped")
        for _ in 0..<2 {
            try await first.store.write { transaction in
                try transaction.suspendPipeline(reason: "user")
                try transaction.modifyOperation(ids[1]) { $0.priority = 5 }
                try transaction.holdOperation(ids[2], until: nil, context: "user")
                try transaction.skipOperation(ids[3])
            }
        }
        try first.store.close()
        let second = try Workbench(.file(path))
        let queue = try second.queue(maxConcurrent: 1)
        try await queue.running {
            #expect(try await queue.status(of: ids[0]) == .waiting([.suspended(reason: "user")]))
            for _ in 0..<2 {
                try await second.store.write { try $0.resumePipeline(reason: "user") }
            }
            await second.cloud.starts()
            second.cloud.answer("high")
            await second.cloud.starts()
            second.cloud.answer("low")
            for _ in 0..<2 {
                try await second.store.write { transaction in
                    try transaction.releaseOperation(ids[2], context: "user")
                }
            }
            await second.cloud.starts()
            second.cloud.answer("held")
            #expect(try await queue.result(of: ids[2]) == .completed)
        }
        #expect(second.cloud.started == ["high", "low", "held"])
        try await second.expectEmpty()
    }

    @Test func `Q10: what a dead process has left running runs again at the next launch`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let first = try Workbench(.file(path))
        let dead = try first.queue()
        let id = try await first.enqueue("a")[0]
        let running = Task { try await dead.run() }
        await first.cloud.starts()
        try first.store.close()
        first.cloud.answer("a")
        _ = await running.result
        let second = try Workbench(.file(path))
        let queue = try second.queue()
        try await queue.running {
            await second.cloud.starts()
            #expect(second.cloud.operation("a")?.mayHaveRun == true)
            let audit = try await queue.audit()
            #expect(audit.isSound, "\(audit.problems)")
            second.cloud.answer("a")
            #expect(try await queue.result(of: id) == .completed)
        }
        try await second.expectEmpty()
    }
}
