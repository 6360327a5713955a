import Foundation
import GodwitConnectors
import GodwitQueue
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// `godwit top`: a store, its queue and its replicas at a glance.
@Suite struct TopTests {
    private struct Upload: PushOperation {
        static let kind = "up\u{1b}[2J\nload"
        var file: String
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with contacts, a queue of twelve uploads of which one is a dead letter, and a replica.
    private func app() async throws -> String {
        let path = folder.path("app.sqlite")
        let store = try Store(.file(path))
        let contacts = Store.Collection<Value>("contacts")
        let pipeline = Pipeline("files").on(Upload.self) { _, _ in .refused(reason: "too large") }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let id = try await store.write { transaction in
            try transaction.set(["name": "Robbie"], for: "r", in: contacts)
            return try transaction.enqueue(Upload(file: "0"), Placement(pipeline: "files"))
        }
        let running = Task { try await queue.run() }
        for await status in queue.statuses(of: id) where status == .deadLetter { break }
        running.cancel()
        _ = await running.result
        try await store.write { try $0.suspendPipeline("files", reason: "no space") }
        for number in 1...11 {
            try await store.write {
                try $0.enqueue(Upload(file: "\(number)"), Placement(pipeline: "files"))
            }
        }
        _ = try await Replica.open(ReplicaName("shared"), in: store, collections: ["contacts"])
        try store.close()
        return path
    }

    @Test func `top shows collections, what the queue waits for, and replicas`() async throws {
        let path = try await app()
        let top = try Godwit.run("top", path)
        #expect(top.status == 0, "\(top.errors)")
        for text in [
            "app.sqlite", "commit 13", "COLLECTIONS", "contacts", "11 waiting", "1 dead letters",
            "files suspended: no space", "and 2 more", "REPLICAS", "shared", "1 to send",
        ] {
            #expect(top.output.contains(text), "\(text): \(top.output)")
        }
        #expect(
            !top.output.contains("\u{1b}"),
            "no colours without a terminal, and nothing of the file's own"
        )
        #expect(top.output.contains("up\\u001b[2J\\nload"))
    }

    @Test func `top prints one object a line, as often as it is asked to`() async throws {
        let path = try await app()
        let top = try Godwit.run("top", path, "--count", "3", "--every", "0.1", "--json")
        let lines = top.output.split(separator: "\n")
        #expect(lines.count == 3)
        for line in lines {
            let look = try Value(json: String(line))
            #expect(look["collections"]?["contacts"] == 1)
            #expect(look["queue"]?["waiting"] == 11 && look["queue"]?["deadLetters"] == 1)
            #expect(look["replicas"]?.list?.first?["pending"] == 1)
        }
    }

    @Test func `top refuses what it cannot look at`() throws {
        let missing = try Godwit.run("top", folder.path("none.sqlite"))
        #expect(missing.status == 1 && missing.errors.contains("none.sqlite"))
        #expect(try Godwit.run("top", "x", "--every", "0").status == 64)
        #expect(try Godwit.run("top", "x", "--count", "0").status == 64)
    }
}
