import GodwitQueue
import GodwitStore
import GodwitTestKit
import Testing

/// Which operation starts when.
@Suite struct SchedulingConformanceTests {
    /// Enqueues with a recipe, lets everything complete, and returns the order of the starts.
    private func order(
        _ order: Pipeline.Order = .commit,
        maxConcurrent: Int = 1,
        _ names: [String],
        _ recipe: (Workbench) async throws -> Void
    ) async throws -> [String] {
        let bench = try Workbench()
        let queue = try bench.queue(order: order, maxConcurrent: maxConcurrent)
        try await recipe(bench)
        for name in names { bench.cloud.answer(name) }
        try await queue.running { try await queue.finish(through: .init(rawValue: .max)) }
        try await bench.expectEmpty()
        return bench.cloud.started
    }

    @Test func `C30 C31 the higher priority first, and equal ones in the order of enqueuing`()
        async throws
    {
        let started = try await order(.commit, ["a", "b", "c", "d"]) { bench in
            try await bench.store.write { transaction in
                try transaction.enqueue(Upload(name: "a"))
                try transaction.enqueue(Upload(name: "b"), Placement(priority: 9))
                try transaction.enqueue(Upload(name: "c"))
                try transaction.enqueue(Upload(name: "d"), Placement(priority: 9))
            }
        }
        #expect(started == ["b", "d", "a", "c"])
    }

    @Test func `C32 a dependency is stronger than a priority`() async throws {
        let started = try await order(.commit, ["a", "b"]) { bench in
            try await bench.store.write { transaction in
                let a = try transaction.enqueue(Upload(name: "a"))
                try transaction.enqueue(Upload(name: "b"), after: [a], Placement(priority: 9))
            }
        }
        #expect(started == ["a", "b"])
    }

    @Test func `C33 the end of a diamond waits for both of its sides`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let last = try await bench.store.write { transaction in
            let a = try transaction.enqueue(Upload(name: "a"))
            let b = try transaction.enqueue(Upload(name: "b"), after: [a])
            let c = try transaction.enqueue(Upload(name: "c"), after: [a])
            return try transaction.enqueue(Upload(name: "d"), after: [b, c])
        }
        try await queue.running {
            #expect(await bench.cloud.starts() == ["a"])
            bench.cloud.answer("a")
            #expect(await bench.cloud.starts(2) == ["b", "c"])
            bench.cloud.answer("c")
            bench.cloud.answer("b")
            #expect(await bench.cloud.starts() == ["d"])
            bench.cloud.answer("d")
            _ = try await queue.result(of: last)
        }
        try await bench.expectEmpty()
    }

    @Test func `C34 an unknown dependency is an error, unless it is optional or was completed`()
        async throws
    {
        // The original takes whatever it does not know for satisfied, misspelt names included.
        let bench = try Workbench()
        let queue = try bench.queue()
        await #expect(throws: QueueError.unknownDependency(.number(9))) {
            try await bench.store.write {
                try $0.enqueue(Upload(name: "a"), after: [.number(9)])
            }
        }
        try await queue.running {
            let done = try await bench.enqueue("done")[0]
            bench.cloud.answer("done")
            _ = try await queue.result(of: done)
            let id = try await bench.store.write { transaction in
                try transaction.enqueue(
                    Upload(name: "b"),
                    after: [done],
                    Placement(dependencies: [.ifQueued(.number(9))])
                )
            }
            bench.cloud.answer("b")
            #expect(try await queue.result(of: id) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `C35 a dependency on an operation of another pipeline holds`() async throws {
        // The original documents that it cannot, and then ignores it.
        let bench = try Workbench()
        let queue = try bench.queue([bench.cloud.pipeline(), bench.cloud.pipeline("photos")])
        try await queue.running {
            let photo = try await bench.enqueue("photo", placement: .init(pipeline: "photos"))[0]
            await bench.cloud.starts()
            let recipe = try await bench.store.write {
                try $0.enqueue(Upload(name: "recipe"), after: [photo])
            }
            let number = try await bench.operation(photo).number
            #expect(try await queue.status(of: recipe).reasons == [.dependencies([number])])
            bench.cloud.answer("photo")
            #expect(await bench.cloud.starts() == ["recipe"])
            bench.cloud.answer("recipe")
            _ = try await queue.result(of: recipe)
        }
        try await bench.expectEmpty()
    }

    @Test func `C35 it holds between two queues of one store as well`() async throws {
        let bench = try Workbench()
        let other = HandCloud()
        let photos = try bench.queue([other.pipeline("photos")])
        let queue = try bench.queue()
        try await photos.running {
            try await queue.running {
                let recipe = try await bench.store.write { transaction in
                    let photo = try transaction.enqueue(
                        Upload(name: "photo"),
                        Placement(pipeline: "photos")
                    )
                    return try transaction.enqueue(Upload(name: "recipe"), after: [photo])
                }
                #expect(await other.starts() == ["photo"])
                #expect(!(try await queue.status(of: recipe).reasons.isEmpty))
                other.answer("photo")
                #expect(await bench.cloud.starts() == ["recipe"])
                bench.cloud.answer("recipe")
                _ = try await queue.result(of: recipe)
            }
        }
        try await bench.expectEmpty()
    }

    @Test func `C36 what is skipped lets go what depends on it`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let (a, b) = try await bench.store.write { transaction in
                let a = try transaction.enqueue(Upload(name: "a"))
                return (a, try transaction.enqueue(Upload(name: "b"), after: [a]))
            }
            await bench.cloud.starts()
            try await bench.store.write { try $0.skipOperation(a) }
            #expect(await bench.cloud.starts() == ["b"])
            bench.cloud.answer("b")
            _ = try await queue.result(of: b)
        }
        try await bench.expectEmpty()
    }

    @Test func `C37 a commit waits for the one before it`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await bench.enqueue("a", "b")
        try await bench.enqueue("c")
        try await queue.running {
            #expect(await bench.cloud.starts(2) == ["a", "b"])
            bench.cloud.answer("b")
            let id = try await bench.last().id
            #expect(!(try await queue.status(of: id).reasons.isEmpty))
            bench.cloud.answer("a")
            #expect(await bench.cloud.starts() == ["c"])
            bench.cloud.answer("c")
            _ = try await queue.result(of: id)
        }
        try await bench.expectEmpty()
    }

    @Test(arguments: [1, 8, 0])
    func `C38 as many run as may, and the limit can be raised`(limit: Int) async throws {
        let bench = try Workbench()
        let queue = try bench.queue(maxConcurrent: limit)
        let names = (1...20).map { "\($0)" }
        try await bench.store.write { transaction in
            for name in names { try transaction.enqueue(Upload(name: name)) }
        }
        let first = limit == 0 ? 20 : limit
        try await queue.running {
            await bench.cloud.starts(first)
            #expect(queue.summary.running == first)
            queue.setMaxConcurrent(12)
            await bench.cloud.starts(max(0, 12 - first))
            #expect(queue.summary.running == max(first, 12))
            for name in names { bench.cloud.answer(name) }
            try await queue.finish(through: .init(rawValue: .max))
        }
        try await bench.expectEmpty()
    }

    @Test func `C39★ a backlog in flat order is as concurrent as it may be at once`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        for number in 1...10 { try await bench.enqueue("\(number)") }
        try await queue.running {
            #expect(await bench.cloud.starts(8) == Set((1...8).map { "\($0)" }))
        }
    }

    @Test func `C40 in flat order the earlier of equal ones goes first`() async throws {
        let started = try await order(.flat, ["a", "b", "c"]) { bench in
            try await bench.enqueue("a")
            try await bench.enqueue("b", placement: Placement(priority: 1))
            try await bench.enqueue("c", placement: Placement(priority: 1))
        }
        #expect(started == ["b", "c", "a"])
    }

    @Test func `C41 in flat order a dependency on an earlier commit holds`() async throws {
        let started = try await order(.flat, maxConcurrent: 0, ["a", "b"]) { bench in
            let a = try await bench.enqueue("a")[0]
            try await bench.store.write {
                try $0.enqueue(Upload(name: "b"), after: [a], Placement(priority: 9))
            }
        }
        #expect(started == ["a", "b"])
    }

    @Test func `C42★ in flat order a dependency on a later commit holds`() async throws {
        let started = try await order(.flat, maxConcurrent: 0, ["a", "b"]) { bench in
            let a = try await bench.enqueue("a")[0]
            let b = try await bench.enqueue("b")[0]
            try await bench.store.write { transaction in
                _ = try transaction.modifyOperation(a) { $0.dependencies = [.on(b)] }
            }
        }
        #expect(started == ["b", "a"])
    }

    @Test func `C42★ in commit order such a dependency is a circle`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let a = try await bench.enqueue("a")[0]
        let b = try await bench.enqueue("b")[0]
        await #expect(throws: QueueError.circularDependency([a, b])) {
            try await bench.store.write { transaction in
                _ = try transaction.modifyOperation(a) { $0.dependencies = [.on(b)] }
            }
        }
    }

    @Test func `C43 what depends on itself does not wait for itself`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        try await bench.store.write {
            try $0.enqueue(Upload(name: "a"), after: [.number(1)], Placement(id: .number(1)))
        }
        let found1 = try await bench.store.read { try $0.dependencies(of: .number(1)) }
        #expect(found1 == [])
    }

    @Test func `C44★ a circle of new operations is an error that names it`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let circle = [OperationID.number(2), .number(1)]
        await #expect(throws: QueueError.circularDependency(circle)) {
            try await bench.store.write { transaction in
                let first = Placement(id: .number(1))
                try transaction.enqueue(Upload(name: "a"), after: [.number(2)], first)
                let second = Placement(id: .number(2))
                try transaction.enqueue(Upload(name: "b"), after: [.number(1)], second)
            }
        }
        try await bench.expectEmpty()
    }

    @Test(arguments: [Dependency.Policy.ignore, .skip, .fail, .wait], [false, true])
    func `a policy counts as well for what was refused or skipped before`(
        policy: Dependency.Policy,
        isSkipped: Bool
    ) async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        try await queue.running {
            let need = try await bench.enqueue("need")[0]
            await bench.cloud.starts()
            if isSkipped {
                try await bench.store.write { try $0.skipOperation(need) }
            } else {
                bench.cloud.answer("need", .refused(reason: "no"))
                try await queue.statuses(of: need).reaches { $0 == .deadLetter }
            }
            let id = try await bench.store.write { transaction in
                let placement = Placement(dependencies: [.on(need, otherwise: policy)])
                return try transaction.enqueue(Upload(name: "a"), placement)
            }
            switch policy {
            case .skip:
                #expect(
                    try await queue.status(of: id)
                        == .finished(.skipped(reason: "it depends on \(need)"))
                )
            case .fail:
                #expect(try await queue.status(of: id) == .deadLetter)
            case .wait where !isSkipped:
                #expect(!(try await queue.status(of: id).reasons.isEmpty))
            case .wait, .ignore:
                await bench.cloud.starts()
                bench.cloud.answer("a")
                #expect(try await queue.result(of: id) == .completed)
            }
            let audit = try await queue.audit()
            #expect(audit.isSound, "\(audit.problems)")
        }
    }

    @Test func `a refusal goes through a long chain`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        try await queue.running {
            let ids = try await bench.store.write { transaction in
                var ids = [try transaction.enqueue(Upload(name: "first"))]
                for number in 0..<20_000 {
                    let placement = Placement(dependencies: [.on(ids[number], otherwise: .fail)])
                    ids.append(try transaction.enqueue(Upload(name: "\(number)"), placement))
                }
                return ids
            }
            await bench.cloud.starts()
            bench.cloud.answer("first", .refused(reason: "no"))
            try await queue.statuses(of: ids[20_000]).reaches { $0 == .deadLetter }
        }
    }

    @Test func `C45★ a circle by modifying, inserting or over commits is one as well`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let a = try await bench.enqueue("a")[0]
        let b = try await bench.store.write { try $0.enqueue(Upload(name: "b"), after: [a]) }
        await #expect(throws: QueueError.circularDependency([a, b])) {
            try await bench.store.write { transaction in
                _ = try transaction.modifyOperation(a) { $0.dependencies = [.on(b)] }
            }
        }

        let ordered = try Workbench()
        _ = try ordered.queue()
        try await ordered.enqueue("first")
        let later = try await ordered.enqueue("later")[0]
        let commit = try await ordered.first().commit
        await #expect(throws: QueueError.self) {
            try await ordered.store.write { transaction in
                let joined = Placement(commit: commit)
                _ = try transaction.enqueue(Upload(name: "joined"), after: [later], joined)
            }
        }
    }

    /// A search that looks at an operation once for each path to it would never end: the original
    /// takes 4 million steps for 40 operations in 20 layers.
    @Test func `C46★ a circle is found in a graph with 2 to the 50,000 paths`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let last = try await bench.store.write { transaction in
            var layer: [OperationID] = []
            for _ in 0..<50_000 {
                layer = try (0..<2).map { _ in
                    try transaction.enqueue(Upload(name: ""), after: layer)
                }
            }
            return layer[0]
        }
        let first = try await bench.store.read { try $0.operations()[0].id }
        await #expect(throws: QueueError.self) {
            try await bench.store.write { transaction in
                _ = try transaction.modifyOperation(first) { $0.dependencies = [.on(last)] }
            }
        }
    }

    @Test func `C47★ 100,000 commits in flat order need no stack`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat, maxConcurrent: 1)
        for _ in 0..<100 {
            let tickets = try (0..<1_000).map { _ in
                try bench.store.writeLater { try $0.enqueue(Upload(name: "x")) }
            }
            for ticket in tickets { _ = try await ticket.finish() }
        }
        try await queue.running {
            #expect(await bench.cloud.starts() == ["x"])
            #expect(queue.summary.unfinished == 100_000)
        }
    }
}
