import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// Operations that were not started take later ones on the same thing in.
@Suite struct MergeTests {
    private func left(_ bench: Workbench) async throws -> [Effect?] {
        try await bench.store.read { transaction in
            try transaction.operations().map { try $0.decoded(as: ChangeThing.self).effect }
        }
    }

    private func enqueue(
        _ effects: Effect...,
        in bench: Workbench,
        _ placement: Placement = Placement()
    ) async throws -> [OperationID] {
        var ids: [OperationID] = []
        for effect in effects {
            ids.append(
                try await bench.store.write {
                    try $0.enqueue(ChangeThing(effect: effect), placement)
                }
            )
        }
        return ids
    }

    @Test(arguments: [Pipeline.Order.commit, .flat])
    func `ten edits without a network are one upload`(order: Pipeline.Order) async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: order)
        for _ in 0..<10 { _ = try await enqueue(.write("x"), .write("y"), in: bench) }
        #expect(try await left(bench) == [.write("x"), .write("y")])
    }

    @Test(arguments: [Pipeline.Order.commit, .flat])
    func `what was made and deleted again never reaches the cloud`(
        order: Pipeline.Order
    )
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue(order: order)
        _ = try await enqueue(.create("x", at: "a"), .write("x"), in: bench)
        _ = try await enqueue(.delete("x", at: "a"), in: bench)
        try await bench.expectEmpty()
    }

    @Test func `a row of renames is one`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        _ = try await enqueue(
            .move("x", from: "a", to: "b"),
            .move("x", from: "b", to: "c"),
            .move("x", from: "c", to: "d"),
            in: bench
        )
        #expect(try await left(bench) == [.move("x", from: "a", to: "d")])
    }

    @Test func `the merged operation keeps the oldest old value and gets the newest new one`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue()
        let things = Store.Collection<Int>("things")
        try await bench.store.write { try $0.set(0, for: "x", in: things) }
        var ids: [OperationID] = []
        for number in 1...3 {
            let id = try await bench.store.write { transaction in
                try transaction.set(number, for: "x", in: things)
                return try transaction.enqueue(ChangeThing(effect: .write("x")))
            }
            ids.append(id)
        }
        let first = ids[0]
        let changes = try await bench.store.read { try $0.recordedChanges(of: first) }
        #expect(changes.map(\.old) == [.int(0)])
        #expect(changes.map(\.new) == [.int(3)])
    }

    @Test func `whoever waits for the merged one waits for the one that does its work`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        let ids = try await enqueue(.write("x"), .write("x"), in: bench)
        let after = try await bench.store.write {
            try $0.enqueue(Upload(name: "after"), after: [ids[1]])
        }
        #expect(try await bench.store.read { try $0.dependencies(of: after) } == [ids[0]])
        #expect(try await queue.status(of: ids[1]) == .finished(.merged(into: ids[0])))
        try await bench.store.write { try $0.completeOperation(ids[0]) }
        #expect(try await queue.result(of: ids[1]) == .completed)
    }

    @Test func `a hold on the merged one holds the one that does its work`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let ids = try await enqueue(.write("x"), .write("x"), in: bench)
        try await bench.store.write { try $0.holdOperation(ids[1], until: nil, context: "login") }
        #expect(
            try await queue.status(of: ids[0]).reasons.contains(.held(context: "login", until: nil))
        )
        try await bench.store.write { try $0.releaseOperation(ids[1], context: "login") }
        #expect(try await bench.store.read { try $0.rowCount(of: "godwit_hold") } == 0)
    }

    @Test func `an operation that runs, that was tried, or that is apart, takes nothing in`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        _ = try await enqueue(.write("x"), in: bench, Placement(mayMerge: false))
        _ = try await enqueue(.write("x"), in: bench)
        #expect(try await left(bench).count == 2)
        let all = try await bench.store.read { try $0.operations() }
        let needs = try await bench.store.read { try $0.dependencies(of: all[1].id) }
        #expect(needs == [all[0].id], "but they have an order")
    }

    @Test func `things of the same name in two collections are not one thing`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let effects: [Effect] = [
            .write("7", of: "customers"), .delete("7", of: "orders"), .create("8", of: "customers"),
            .delete("8", of: "orders"),
        ]
        for effect in effects {
            try await bench.store.write { try $0.enqueue(ChangeThing(effect: effect)) }
        }
        let kept = try await bench.store.read { transaction in
            try transaction.operations().map { try $0.decoded(as: ChangeThing.self).effect }
        }
        #expect(kept == effects)
        try bench.store.close()
    }

    @Test func `things of one name in two collections do not wait for each other`() {
        #expect(
            Effect.write("7", of: "customers").footprint
                != Effect.write("7", of: "orders").footprint
        )
        #expect(
            Footprint.thing("b c", of: "a", .write) != Footprint.thing("c", of: "a b", .write)
        )
    }

    @Test func `nothing is merged across an operation that has an order with both`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        _ = try await enqueue(.write("x"), in: bench)
        try await bench.store.write { try $0.enqueue(LookAtThing(thing: "x", place: nil)) }
        _ = try await enqueue(.write("x"), in: bench)
        #expect(try await bench.store.read { try $0.operations().count } == 3)
    }

    @Test func `nothing is merged into an operation that may go with what it needs`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let need = try await bench.enqueue("need")[0]
        let dependent = Placement(dependencies: [.on(need, otherwise: .skip)])
        _ = try await enqueue(.write("x"), in: bench, dependent)
        _ = try await enqueue(.write("x"), in: bench)
        try await bench.store.write { try $0.skipOperation(need) }
        #expect(try await left(bench) == [.write("x")], "the second edit reaches the cloud")
    }

    @Test func `two kinds of writing one thing stay two`() async throws {
        struct UploadAvatar: PushOperation {
            static let kind = "upload-avatar"
            let thing: String
            var effect: Effect? { .write(thing) }
        }
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        _ = try await enqueue(.write("x"), in: bench)
        try await bench.store.write { try $0.enqueue(UploadAvatar(thing: "x")) }
        #expect(try await bench.store.read { try $0.operations().count } == 2)
    }

    @Test func `nothing is merged into an operation that somebody waits for`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let first = try await enqueue(.write("x"), in: bench)
        try await bench.store.write { try $0.enqueue(Upload(name: "after"), after: first) }
        _ = try await enqueue(.write("x"), in: bench)
        #expect(try await bench.store.read { try $0.operations().count } == 3)
    }

    @Test func `in commit order the cloud never sees half of a commit`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .commit)
        try await bench.store.write { transaction in
            try transaction.enqueue(ChangeThing(effect: .create("x", at: "a")))
            try transaction.enqueue(ChangeThing(effect: .create("y", at: "a")))
        }
        _ = try await enqueue(.delete("x", at: "a"), in: bench)
        #expect(try await left(bench).count == 3)
    }

    @Test func `nor does it when a launch enqueues before it has a queue`() async throws {
        let folder = try TemporaryFolder()
        let location = Store.Location.file(folder.path("store.sqlite"))
        let first = try Workbench(location)
        let queue = try first.queue(order: .commit)
        try await first.store.write { transaction in
            try transaction.enqueue(ChangeThing(effect: .create("x", at: "a")))
            try transaction.enqueue(ChangeThing(effect: .create("y", at: "a")))
        }
        withExtendedLifetime(queue) {}
        try first.store.close()
        let second = try Workbench(location)
        _ = try await enqueue(.delete("x", at: "a"), in: second)
        #expect(try await left(second).count == 3)
        try second.store.close()
    }

    @Test(arguments: [Pipeline.Order.commit, .flat])
    func `the cloud ends with what the app has, merged or not, and has refused nothing`(
        order: Pipeline.Order
    ) async throws {
        var (enqueued, run) = (0, 0)
        for seed in 0..<UInt64(100 * Soak.factor) {
            let world = try MergeWorld(seed: seed, order: order)
            try await world.run(steps: 24)
            #expect(world.problems.isEmpty, "seed \(seed): \(world.problems)")
            (enqueued, run) = (enqueued + world.enqueueCount, run + world.runCount)
            let apart = try MergeWorld(seed: seed, order: order, mayMerge: false)
            try await apart.run(steps: 24)
            #expect(apart.problems.isEmpty, "seed \(seed), apart: \(apart.problems)")
            #expect(apart.runCount == apart.enqueueCount)
        }
        #expect(run < enqueued * 4 / 5, "something is merged: \(run) of \(enqueued) run")
    }
}
