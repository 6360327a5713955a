import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// `godwit queue`, called as a person would call it.
@Suite struct QueueCommandTests {
    struct Upload: PushOperation {
        static let kind = "upload"
        let path: String
        var footprint: Footprint { .put(RemotePath(path)) }
    }

    let folder: TemporaryFolder
    let store: String

    init() async throws {
        folder = try TemporaryFolder()
        store = folder.path("app.sqlite")
        let open = try Store(.file(store))
        let queue = try PushQueue(open, pipelines: [Pipeline(order: .flat), Pipeline("photos")])
        try await open.write { transaction in
            let customer = try transaction.enqueue(Upload(path: "/customers/7"))
            try transaction.enqueue(Upload(path: "/orders/12"), after: [customer])
        }
        try await open.write { transaction in
            try transaction.enqueue(Upload(path: "/orders/12"), Placement(priority: 3))
        }
        try await open.write { transaction in
            try transaction.enqueue(Upload(path: "/p.jpg"), Placement(pipeline: "photos"))
        }
        #expect(queue.summary.unfinished == 0, "nothing is loaded before it runs")
        try open.close()
    }

    private func run(_ command: String, _ arguments: String...) throws -> Godwit.Result {
        try Godwit.run(["queue", command, store] + arguments)
    }

    @Test func `list shows what waits, in the order of enqueuing, and why`() throws {
        let lines = try run("list").output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0].contains("1.1  default  upload  is ready, and starts when a process"))
        #expect(lines[1].contains("waits for 1.1") && lines[2].contains("waits for 1.2"))
        let photos = try Value(json: run("list", "--pipeline", "photos", "--json").output)
        #expect(photos.list?.count == 1 && photos.list?[0]["number"] == "3.1")
        #expect(try run("list", "--limit", "1").output.contains("and 3 more"))
        #expect(try run("list", "--limit", "0").status == 64)
    }

    @Test func `why goes down to what has to happen first`() throws {
        let expected = """
            2.1 upload: waits for 1.2
              1.2 upload: waits for 1.1
                1.1 upload: is ready, and starts when a process runs the queue

            """
        #expect(try run("why", "2.1").output == expected)
        let json = try Value(json: run("why", "1.1", "--json").output)
        let id = try #require(json["id"]?.text)
        #expect(try run("why", id).output.hasPrefix("1.1 upload"))
        let none = try run("why", "9.1")
        #expect(none.status == 1 && none.errors.contains("there is no operation 9.1"))
    }

    @Test func `graph draws operations, dependencies and commits`() throws {
        let svg = folder.path("queue.svg")
        #expect(try run("graph", "--svg", svg).output == "4 operations drawn in \(svg)\n")
        let text = try String(contentsOf: URL(filePath: svg), encoding: .utf8)
        #expect(text.components(separatedBy: "marker-end").count - 1 == 2)
        #expect(text.contains("stroke-dasharray"), "one of them follows from the paths")
        #expect(text.contains("commit 3") && text.contains("2.1 upload"))
        #expect(text.hasPrefix("<svg") && text.hasSuffix("</svg>\n"))
    }

    @Test func `what is held, suspended and skipped by hand stays so over launches`() throws {
        #expect(try run("hold", "1.1").output == "1.1 held\n")
        #expect(try run("suspend", "--pipeline", "photos", "--reason", "quota").status == 0)
        let list = try run("list").output
        #expect(list.contains("is held by godwit tool until it is released"))
        #expect(list.contains("its pipeline is suspended: quota"))
        #expect(try run("stats").output.contains("suspended: photos (quota)"))

        #expect(try run("hold", "1.1", "--release").output == "1.1 released\n")
        #expect(try run("resume", "--pipeline", "photos", "--reason", "quota").status == 0)
        #expect(try run("skip", "1.1", "1.2", "--json").status == 0)
        let stats = try Value(json: run("stats", "--json").output)
        #expect(stats["unfinished"] == 2 && stats["suspended"] == [:])
        let again = try run("list").output
        #expect(again.contains("2.1  default  upload  is ready, and starts when a process"))
    }

    @Test func `a dead letter is listed with its attempts, and put back in line`() async throws {
        let open = try Store(.file(store))
        let refusing = Pipeline(order: .flat).on(Upload.self) { upload, run in
            run.record(request: "PUT \(upload.path)", response: "403")
            return .refused(reason: "no rights")
        }
        let queue = try PushQueue(open, pipelines: [refusing, Pipeline("photos")])
        let id = try #require(try await open.read { try $0.operations() }.first).id
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.run() }
            try await queue.statuses(of: id).reaches { $0 == .deadLetter }
            group.cancelAll()
        }
        try open.close()

        let letters = try run("dead-letters").output
        #expect(letters.contains("1.1 upload: no rights"))
        let json = try Value(json: run("dead-letters", "--json").output).list ?? []
        #expect(json.first?["attemptLog"]?.list?.first?["response"] == "403")
        #expect(try run("retry", "1.1").output == "1.1 queued again\n")
        let again = try run("retry", "1.1")
        #expect(again.status == 1 && again.errors.contains("is waiting"))
    }
}
