import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Conflicts that a cloud reports (Q5): what is merged, what is kept, and what is pushed again.
@Suite struct ConflictTests {
    private static let things = Store.Collection<[String: Int]>("things")

    @Test func `Q5: a conflict is merged with what both sides come from, and pushed again`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        let things = Self.things
        try await bench.store.write { try $0.set(["a": 1, "b": 1], for: "x", in: things) }
        try await queue.running {
            let id = try await bench.store.write { transaction in
                try transaction.set(["a": 2, "b": 1], for: "x", in: things)
                return try transaction.enqueue(Upload(name: "x", pushes: ["x"]))
            }
            await bench.cloud.starts()
            let theirs = Value.map(["a": .int(1), "b": .int(5)])
            let tag = CloudTag(.string("v7"), for: "x")
            bench.cloud.answer("x", .conflict(theirs: theirs, tag: tag, reason: "412"))
            await bench.cloud.starts()
            let (merged, recorded) = try await bench.store.read { transaction in
                (try transaction.get("x", in: things), try transaction.tag(for: "x"))
            }
            #expect(merged == ["a": 2, "b": 5] && recorded == .string("v7"))
            let changes = try await bench.store.read { try $0.recordedChanges(of: id) }
            #expect(changes.first?.old == theirs, "what was merged is the base from now on")
            bench.cloud.answer("x")
            #expect(try await queue.result(of: id) == .completed)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `Q5: what may have run before a conflict may have run after it`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let things = Self.things
        try await bench.store.write { try $0.set(["a": 1, "b": 1], for: "x", in: things) }
        try await queue.running {
            let id = try await bench.store.write { transaction in
                try transaction.set(["a": 2, "b": 1], for: "x", in: things)
                return try transaction.enqueue(Upload(name: "x", pushes: ["x"]))
            }
            await bench.cloud.starts()
            bench.cloud.answer("x", .retry(reason: "the answer was lost"))
            bench.clock.advance(by: await bench.clock.nextDelay())
            await bench.cloud.starts()
            let tag = CloudTag(.string("v7"), for: "x")
            bench.cloud.answer("x", .conflict(theirs: ["a": 1, "b": 5], tag: tag, reason: "412"))
            // It is not the first attempt, so the merge is not pushed at once.
            bench.clock.advance(by: await bench.clock.nextDelay())
            await bench.cloud.starts()
            #expect(bench.cloud.operation("x")?.mayHaveRun == true)
            bench.cloud.answer("x")
            #expect(try await queue.result(of: id) == .completed)
        }
    }

    @Test func `Q5: an edit there beats a removal here, and nothing removes it after all`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        let things = Self.things
        try await bench.store.write { try $0.set(["a": 1], for: "x", in: things) }
        try await queue.running {
            let id = try await bench.store.write { transaction in
                try transaction.remove("x", in: things)
                return try transaction.enqueue(Upload(name: "delete", pushes: ["x"]))
            }
            await bench.cloud.starts()
            let tag = CloudTag(.string("v7"), for: "x")
            let outcome = Outcome.conflict(theirs: ["a": 5], tag: tag, reason: "412")
            bench.cloud.answer("delete", outcome)
            let fate = try await queue.result(of: id)
            #expect(fate == .skipped(reason: "the cloud's version was kept"))
            #expect(try await bench.store.read { try $0.get("x", in: things) } == ["a": 5])
            #expect(bench.cloud.started == ["delete"])
        }
        try await bench.expectEmpty()
    }

    @Test(arguments: [false, true])
    func `Q5: an edit whose push failed is still an edit in the next merge`(
        isSkipped: Bool
    ) async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        let things = Self.things
        try await bench.store.write { try $0.set(Self.thing(), for: "x", in: things) }
        try await queue.running {
            let first = try await bench.store.write { transaction in
                try transaction.set(Self.thing(a: 2), for: "x", in: things)
                return try transaction.enqueue(Upload(name: "first", pushes: ["x"]))
            }
            await bench.cloud.starts()
            let second: OperationID
            if isSkipped {
                second = try await self.second(in: bench)
                try await bench.store.write { try $0.skipOperation(first) }
            } else {
                bench.cloud.answer("first", .refused(reason: "no"))
                try await queue.statuses(of: first).reaches { $0 == .deadLetter }
                second = try await self.second(in: bench)
            }
            await bench.cloud.starts()
            let theirs: Value = ["a": 1, "b": 1, "c": 9, "d": 1, "e": 1, "f": 1]
            bench.cloud.answer("second", .conflict(theirs: theirs, tag: nil, reason: "412"))
            await bench.cloud.starts()
            let merged = try await bench.store.read { try $0.get("x", in: things) }
            #expect(merged == Self.thing(a: 2, b: 2, c: 9))
            bench.cloud.answer("second")
            #expect(try await queue.result(of: second) == .completed)
        }
    }

    /// An object of six fields, so that two edits are few.
    private static func thing(a: Int = 1, b: Int = 1, c: Int = 1) -> [String: Int] {
        ["a": a, "b": b, "c": c, "d": 1, "e": 1, "f": 1]
    }

    private func second(in bench: Workbench) async throws -> OperationID {
        try await bench.store.write { transaction in
            try transaction.set(Self.thing(a: 2, b: 2), for: "x", in: Self.things)
            return try transaction.enqueue(Upload(name: "second", pushes: ["x"]))
        }
    }

    @Test func `Q5: what was kept in the cloud is not written over by the next edit`() async throws
    {
        let bench = try Workbench()
        let things = Self.things
        var pipeline = bench.cloud.pipeline(order: .flat)
        pipeline.resolve = { _ in .skip }
        let queue = try bench.queue([pipeline])
        try await queue.running {
            let id = try await bench.store.write { transaction in
                try transaction.set(["a": 2], for: "x", in: things)
                try transaction.setTag(.string("v1"), for: "x")
                return try transaction.enqueue(Upload(name: "x", pushes: ["x"]))
            }
            await bench.cloud.starts()
            let tag = CloudTag(.string("v7"), for: "x")
            bench.cloud.answer("x", .conflict(theirs: ["a": 5], tag: tag, reason: "412"))
            _ = try await queue.result(of: id)
            let known = try await bench.store.read { try $0.tag(for: "x") }
            #expect(known == .string("v1"), "so that the cloud refuses the next one too")
        }
    }
}
