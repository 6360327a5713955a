import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// What can be done to operations in a transaction.
///
/// The numbers are those of the list that YapDatabaseCloudCore's documentation comes to; a star
/// marks what the original gets wrong.
@Suite struct OperationConformanceTests {
    @Test func `C1 what is added runs once, and its row is gone`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            bench.cloud.answer("a")
            #expect(try await queue.result(of: id) == .completed)
        }
        #expect(bench.cloud.started == ["a"])
        try await bench.expectEmpty()
    }

    @Test func `C2 an operation is added once, in one transaction or in two`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let placement = Placement(id: .number(1))
        try await bench.enqueue("a", placement: placement)

        await #expect(throws: QueueError.duplicateOperation(.number(1))) {
            try await bench.enqueue("a", placement: placement)
        }
        await #expect(throws: QueueError.duplicateOperation(.number(2))) {
            try await bench.enqueue("b", "c", placement: Placement(id: .number(2)))
        }
        #expect(try await bench.names() == ["a"])
    }

    @Test func `C3 a store that is closed takes no operation`() throws {
        // What is no operation, and a transaction that only reads, do not compile.
        let store = try Store(.memory)
        try store.close()
        #expect(throws: StoreError.closed) {
            try store.writeLater { try $0.enqueue(Upload(name: "a")) }
        }
    }

    @Test func `C4 an operation is stored as it was when it was enqueued`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        var upload = UploadDraft(name: "before")
        let first = upload
        try await bench.store.write { try $0.enqueue(first) }
        upload.name = "after"
        let stored = try await bench.store.read { try $0.operations()[0] }
        #expect(try stored.decoded(as: UploadDraft.self).name == "before")
    }

    @Test func `C5 an unknown pipeline is the default one`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        try await bench.enqueue("a", placement: Placement(pipeline: "nobody's"))
        #expect(try await bench.names(in: "default") == ["a"])
    }

    @Test func `C6 a rollback leaves the queue as it was`() async throws {
        struct Refusal: Error {}
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let kept = try await bench.enqueue("kept", placement: Placement(id: .number(1)))[0]
            await #expect(throws: Refusal.self) {
                try await bench.store.write { transaction in
                    try transaction.enqueue(Upload(name: "lost"))
                    try transaction.skipOperation(kept)
                    throw Refusal()
                }
            }
            await bench.cloud.starts()
            bench.cloud.answer("kept")
            #expect(try await queue.result(of: kept) == .completed)
        }
        #expect(bench.cloud.started == ["kept"])
        try await bench.expectEmpty()
    }

    @Test func `C7 what is not there is not modified`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let isModified = try await bench.store.write {
            try $0.modifyOperation(.number(1)) { $0.priority = 1 }
        }
        #expect(!isModified)
    }

    @Test func `C8 modifying changes neither commit nor pipeline`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let id = try await bench.enqueue("a")[0]
        let before = try await bench.store.read { try $0.operation(id) }
        try await bench.store.write { transaction in
            _ = try transaction.modifyOperation(id) { try $0.replace(with: Upload(name: "b")) }
        }
        let after = try await bench.store.read { try $0.operation(id) }
        #expect(after?.commit == before?.commit && after?.pipeline == before?.pipeline)
        #expect(try await bench.names() == ["b"])
    }

    @Test func `C9★ a modification survives a relaunch`() async throws {
        let folder = try TemporaryFolder()
        let location = Store.Location.file(folder.path("store.sqlite"))
        let first = try Workbench(location)
        _ = try first.queue()
        let id = try await first.enqueue("a")[0]
        try await first.store.write { transaction in
            _ = try transaction.modifyOperation(id) { edit in
                try edit.replace(with: Upload(name: "b"))
                edit.priority = 7
                edit.userInfo = ["why": "because"]
            }
        }
        try first.store.close()

        let second = try Workbench(location)
        let found = try await second.store.read { try $0.operation(id) }
        #expect(found?.priority == 7 && found?.userInfo == ["why": "because"])
        #expect(try await second.names() == ["b"])
        try second.store.close()
    }

    @Test func `C10★ what was modified and completed does not come back`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let id = try await bench.enqueue("a")[0]
        try await bench.store.write { transaction in
            _ = try transaction.modifyOperation(id) { $0.priority = 1 }
            try transaction.completeOperation(id)
        }
        try await bench.expectEmpty()
    }

    @Test func `C11 completing what is not there is nothing`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        try await bench.store.write { try $0.completeOperation(.number(1)) }
        try await bench.expectEmpty()
    }

    @Test(arguments: [true, false])
    func `C12★ what is added and dropped in one transaction never runs`(
        isCompleted: Bool
    ) async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.store.write { transaction in
                let id = try transaction.enqueue(Upload(name: "a"))
                if isCompleted {
                    try transaction.completeOperation(id)
                } else {
                    try transaction.skipOperation(id)
                }
                return id
            }
            #expect(try await queue.status(of: id).isFinal)
        }
        #expect(bench.cloud.started.isEmpty)
        try await bench.expectEmpty()
    }

    @Test func `C13★ what is inserted and dropped in one transaction never runs`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let first = try await bench.enqueue("a")[0]
        let commit = try await bench.operation(first).commit
        try await queue.running {
            try await bench.store.write { transaction in
                let id = try transaction.enqueue(Upload(name: "b"), Placement(commit: commit))
                try transaction.skipOperation(id)
            }
            bench.cloud.answer("a")
            #expect(try await queue.result(of: first) == .completed)
        }
        #expect(bench.cloud.started == ["a"])
        try await bench.expectEmpty()
    }

    @Test func `C14 the first that ends an operation decides, skipping or completing`() async throws
    {
        // The original lets a completion override an earlier skip of the same transaction. Here
        // an operation that has ended is gone, and what comes later finds nothing.
        let bench = try Workbench()
        let queue = try bench.queue()
        let ids = try await bench.enqueue("a", "b")
        try await bench.store.write { transaction in
            try transaction.completeOperation(ids[0])
            try transaction.skipOperation(ids[0])
            try transaction.skipOperation(ids[1])
            try transaction.completeOperation(ids[1])
        }
        #expect(try await queue.status(of: ids[0]) == .finished(.completed))
        #expect(try await queue.status(of: ids[1]) == .finished(.skipped(reason: nil)))
    }

    @Test func `C15★ skipping by a test goes over all pipelines, or over one`() async throws {
        let bench = try Workbench()
        _ = try bench.queue([bench.cloud.pipeline(), bench.cloud.pipeline("photos")])
        try await bench.enqueue("a", "b", "c")
        try await bench.enqueue("d", "e", placement: Placement(pipeline: "photos"))
        let count = try await bench.store.write { transaction in
            try transaction.skipOperations { operation in
                ["b", "d"].contains(try operation.decoded(as: Upload.self).name)
            }
        }
        #expect(count == 2)
        #expect(try await bench.names() == ["a", "c", "e"])
        try await bench.store.write { transaction in
            _ = try transaction.skipOperations(in: "photos") { _ in true }
        }
        #expect(try await bench.names() == ["a", "c"])
    }

    @Test func `C16★ C17 a transaction sees what it has done, and can tell it from the rest`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue()
        let old = try await bench.enqueue("old", "gone")
        try await bench.store.write { transaction in
            let commit = transaction.commit
            try transaction.enqueue(Upload(name: "new"))
            try transaction.skipOperation(old[1])
            _ = try transaction.modifyOperation(old[0]) { $0.priority = 3 }
            let seen = try transaction.operations()
            #expect(try seen.map { try $0.decoded(as: Upload.self).name } == ["old", "new"])
            #expect(seen[0].priority == 3)
            let added = seen.filter { $0.number.commit == commit }
            #expect(try added.map { try $0.decoded(as: Upload.self).name } == ["new"])
        }
    }

    @Test func `C18 C19 what is inserted joins an earlier commit, if anything is left of it`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue(maxConcurrent: 1)
        let first = try await bench.enqueue("a", "b")
        let commit = try await bench.operation(first[0]).commit
        try await bench.enqueue("later")
        try await bench.enqueue("joined", placement: Placement(commit: commit))
        let gone = CommitNumber(rawValue: 9_999)
        try await bench.enqueue("own", placement: Placement(commit: gone))
        for name in ["a", "b", "joined", "later", "own"] { bench.cloud.answer(name) }
        try await queue.running { try await queue.finish(through: gone) }
        #expect(bench.cloud.started == ["a", "b", "joined", "later", "own"])
        try await bench.expectEmpty()
    }

    @Test func `C20 all that an operation depends on, directly or not`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let ids = try await bench.store.write { transaction in
            let a = try transaction.enqueue(Upload(name: "a"))
            let b = try transaction.enqueue(Upload(name: "b"), after: [a])
            let c = try transaction.enqueue(Upload(name: "c"), after: [a])
            let d = try transaction.enqueue(Upload(name: "d"), after: [b, c])
            #expect(try transaction.recursiveDependencies(of: d) == [a, b, c])
            return [a, b, c, d]
        }
        let found = try await bench.store.read { try $0.dependencies(of: ids[3]) }
        #expect(found == [ids[1], ids[2]])
    }

    @Test func `C21★ transactions of operations alone are commits of their own`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await bench.enqueue("a")
        try await bench.enqueue("b")
        let commits = try await bench.store.read { try $0.operations().map(\.commit) }
        #expect(commits[0] < commits[1])
        try await queue.running {
            #expect(await bench.cloud.starts() == ["a"])
            let id = try await bench.store.read { try $0.operations()[1].id }
            #expect(try await queue.status(of: id).reasons == [.commitOrder(commits[1])])
        }
    }

    @Test func `C22★ an identifier is taken in all pipelines at once`() async throws {
        let bench = try Workbench()
        _ = try bench.queue([bench.cloud.pipeline(), bench.cloud.pipeline("photos")])
        try await bench.enqueue("a", placement: Placement(id: .number(1)))
        await #expect(throws: QueueError.duplicateOperation(.number(1))) {
            try await bench.enqueue("a", placement: Placement(pipeline: "photos", id: .number(1)))
        }
    }

    @Test func `C23★ what is not committed is not started`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await bench.store.write { transaction in
            try transaction.database.execute(
                sql: """
                    CREATE TABLE child (parent INTEGER
                        REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    """
            )
        }
        try await queue.running {
            await #expect(throws: (any Error).self) {
                try await bench.store.write { transaction in
                    try transaction.enqueue(Upload(name: "a"))
                    try transaction.database.execute(sql: "INSERT INTO child VALUES (1)")
                }
            }
            let id = try await bench.enqueue("b")[0]
            bench.cloud.answer("b")
            #expect(try await queue.result(of: id) == .completed)
        }
        #expect(bench.cloud.started == ["b"])
        try await bench.expectEmpty()
    }
}

struct UploadDraft: PushOperation {
    static let kind = "upload-draft"
    var name: String
}
