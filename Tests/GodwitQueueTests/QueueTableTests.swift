import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// What operations leave behind when they are gone, and small promises of the queue's values.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct QueueTableTests {
    /// An operation with all that one can have.
    private struct Upload: PushOperation {
        static let kind = "upload"
        let name: String

        var objects: [ObjectKey] { [ObjectKey(collection: "things", key: Key(name))] }
        var footprint: Footprint { .put(RemotePath("/\(name)")) }
        var effect: Effect? { .write(name, of: "things") }
    }

    private static let tables = [
        "operation", "operation_object", "dependency", "hold", "attempt", "conflict", "effect",
    ]

    private func rows(_ store: Store) async throws -> [String: Int] {
        try await store.read { transaction in
            try Self.tables.reduce(into: [:]) { rows, table in
                let sql = "SELECT COUNT(*) FROM godwit_\(table)"
                rows[table] = try Int.fetchOne(transaction.database, sql: sql)
            }
        }
    }

    @Test func `a finished operation leaves no row behind`() async throws {
        let store = try Store(.memory)
        let attempts = Mutex<[String: Int]>([:])
        var pipeline = Pipeline(order: .flat).on(Upload.self) { upload, _ in
            let attempt = attempts.withLock { attempts in
                attempts[upload.name, default: 0] += 1
                return attempts[upload.name] ?? 0
            }
            switch attempt {
            case 1: return .retry(after: .zero, reason: "once more")
            case 2: return .conflict(theirs: 1, reason: "newer")
            default: return .completed
            }
        }
        pipeline.resolve = { _ in nil }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let ids = try await store.write { transaction in
            let first = try transaction.enqueue(Upload(name: "a"))
            let second = try transaction.enqueue(Upload(name: "b"), after: [first])
            try transaction.holdOperation(first, until: nil, context: "login")
            return [first, second]
        }
        let before = try await rows(store)
        for table in Self.tables where !["attempt", "conflict"].contains(table) {
            #expect(before[table, default: 0] > 0, "\(table)")
        }
        try await queue.running {
            try await store.write { try $0.releaseOperation(ids[0], context: "login") }
            for id in ids {
                try await queue.statuses(of: id).reaches { $0 == .conflict }
                let middle = try await rows(store)
                #expect(middle["attempt", default: 0] > 0 && middle["conflict"] == 1)
                try await store.write { _ = try $0.retryOperation(id) }
            }
            for id in ids { #expect(try await queue.result(of: id) == .completed) }
        }
        #expect(try await rows(store) == Self.tables.reduce(into: [:]) { $0[$1] = 0 })
        try store.close()
    }

    @Test func `a pipeline with requirements starts where the device has them all`() async throws {
        for number in 0..<8 {
            let conditions = Conditions(
                isOnline: number & 1 != 0,
                isMetered: number & 2 != 0,
                isOnExternalPower: number & 4 != 0
            )
            var has: Requirements = []
            if conditions.isOnline { has.insert(.network) }
            if conditions.isOnline, !conditions.isMetered { has.insert(.unmeteredNetwork) }
            if conditions.isOnExternalPower { has.insert(.externalPower) }
            for rawValue in 0..<8 {
                let needs = Requirements(rawValue: rawValue)
                let store = try Store(.memory)
                var pipeline = Pipeline().on(Upload.self) { _, _ in .completed }
                pipeline.requirements = needs
                var options = PushQueue.Options()
                options.monitor = ConstantConditions(conditions)
                let queue = try PushQueue(store, options: options, pipelines: [pipeline])
                let id = try await store.write { try $0.enqueue(Upload(name: "a")) }
                try await queue.running {
                    let missing = needs.subtracting(has)
                    guard missing.isEmpty else {
                        let status = try await queue.status(of: id)
                        return #expect(status.reasons.contains(.lacks(missing)))
                    }
                    #expect(try await queue.result(of: id) == .completed)
                }
                try store.close()
            }
        }
    }

    @Test func `a queue runs although its monitor ends without a word`() async throws {
        struct Silence: ConditionsMonitor {
            func conditions() -> AsyncStream<Conditions> { AsyncStream { $0.finish() } }
        }
        var options = PushQueue.Options()
        options.monitor = Silence()
        let store = try Store(.memory)
        let pipeline = Pipeline().on(Upload.self) { _, _ in .completed }
        let queue = try PushQueue(store, options: options, pipelines: [pipeline])
        try await queue.running {
            let id = try await store.write { try $0.enqueue(Upload(name: "a")) }
            #expect(try await queue.result(of: id) == .completed)
        }
        try store.close()
    }

    @Test func `conditions that never change are told once`() async {
        var told: [Conditions] = []
        let offline = Conditions(isOnline: false)
        for await conditions in ConstantConditions(offline).conditions() { told.append(conditions) }
        #expect(told == [offline])
    }

    @Test(arguments: [
        "", ".", "1", "1.", ".2", "1..2", ".1.2", "1.2.", "1.2.3", "1.0", "-1.2", "a.2",
    ])
    func `what is no operation number is not read as one`(text: String) {
        #expect(OperationNumber(text) == nil)
        #expect(OperationNumber("1.2")?.description == "1.2")
    }
}
