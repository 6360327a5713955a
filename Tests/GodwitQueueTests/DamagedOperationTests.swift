import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Rows of operations whose bytes are not those that were written.
@Suite struct DamagedOperationTests {
    @Test
    func `a damaged operation is set aside with its reason, and keeps no other one from running`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let bench = try Workbench(.file(path))
        let queue = try bench.queue(order: .flat)
        let ids = try await bench.enqueue("a", "damaged", "c")
        let number = try await bench.operation(ids[1]).number
        try await bench.store.write { transaction in
            try transaction.database.execute(
                sql: "UPDATE godwit_operation SET body = x'a0' WHERE number = ?",
                arguments: [number.rawValue]
            )
        }
        try await queue.running {
            await bench.cloud.starts(2)
            bench.cloud.answer("a")
            bench.cloud.answer("c")
            try await queue.statuses(of: ids[1]).reaches { $0 == .deadLetter }
            let fate = try await queue.result(of: ids[2])
            #expect(fate == .completed)
        }
        #expect(Set(bench.cloud.started) == ["a", "c"])
        let letters = try await bench.store.read { try $0.deadLetters() }
        #expect(letters.map(\.id) == [ids[1]])
        #expect(letters.first?.reason?.contains("damaged") == true)
        try bench.store.close()

        // It does not keep a later launch from running either, and can be skipped.
        let again = try Workbench(.file(path))
        let second = try again.queue()
        try await second.running {
            let next = try await again.enqueue("d")[0]
            await again.cloud.starts()
            again.cloud.answer("d")
            #expect(try await second.result(of: next) == .completed)
            try await again.store.write { try $0.skipOperation(ids[1]) }
        }
        try await again.expectEmpty()
    }

    @Test func `an operation in a state of another version is a dead letter that can be retried`()
        async throws
    {
        let folder = try TemporaryFolder()
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        _ = try bench.queue()
        let ids = try await bench.enqueue("strange", "b")
        try await bench.store.write { transaction in
            try transaction.database.execute(
                sql: "UPDATE godwit_operation SET state = 'later' WHERE id = ?",
                arguments: [ids[0].description]
            )
        }
        try bench.store.close()

        let again = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try again.queue()
        let letters = try await again.store.read { try $0.deadLetters() }
        #expect(letters.map(\.id) == [ids[0]] && letters.first?.state == .deadLetter)
        let listed = try await again.store.read { try $0.operations(where: .deadLetter) }
        #expect(listed == letters)
        try await queue.running {
            await again.cloud.starts()
            again.cloud.answer("b")
            #expect(try await queue.result(of: ids[1]) == .completed)
            #expect(try await queue.audit().isSound)
            try await again.store.write { try $0.retryOperation(ids[0]) }
            await again.cloud.starts()
            again.cloud.answer("strange")
            #expect(try await queue.result(of: ids[0]) == .completed)
        }
        #expect(again.cloud.started == ["b", "strange"])
        try await again.expectEmpty()
    }

    @Test func `what is enqueued beside a damaged operation is enqueued`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let write = ChangeThing(effect: .write("x"))
        let first = try await bench.store.write { try $0.enqueue(write) }
        try await bench.store.write { transaction in
            try transaction.database.execute(sql: "UPDATE godwit_operation SET body = x'a0'")
        }
        let second = try await bench.store.write { try $0.enqueue(write) }
        let found = try await bench.store.read { transaction in
            (
                try transaction.operations().map { $0.body == .null },
                try transaction.dependencies(of: second)
            )
        }
        #expect(found.0 == [true, false], "the damaged one takes nothing in")
        #expect(found.1 == [first])
    }

    @Test(.timeLimit(.minutes(1)))
    func `what waits for an operation that a damaged file has lost goes on`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let bench = try Workbench(.file(path))
        _ = try bench.queue()
        try await bench.store.write { transaction in
            let lost = try transaction.enqueue(Upload(name: "lost"))
            try transaction.enqueue(Upload(name: "kept"), after: [lost])
        }
        try bench.store.close()
        let file = try DatabaseQueue(path: path)
        try await file.write { database in
            try database.execute(
                sql: """
                    DELETE FROM godwit_operation
                    WHERE number = (SELECT MIN(number) FROM godwit_operation);
                    UPDATE godwit_ledger SET commit_number = 77 WHERE slot = 0;
                    """
            )
        }
        try file.close()
        var options = Store.Options()
        options.recovery = .salvage
        let (store, cloud) = (try Store(.file(path), options: options), HandCloud())
        let queue = try PushQueue(store, clock: ManualClock(), pipelines: [cloud.pipeline()])
        try await queue.running { #expect(await cloud.starts() == ["kept"]) }
        try store.close()
    }
}
