#if PostgreSQL
import Dispatch
import Foundation
import GodwitReplication
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitPostgreSQL

/// What a connection waits for, and for how long.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct PostgreSQLSessionTests {
    @Test func `a wake-up that comes while the thread does something else is not lost`()
        async throws
    {
        let database = try await newDatabase(migrated: false)
        let lane = try await SessionThread.connect(to: database.address, database.options)
        defer { lane.end() }
        lane.wake()
        try await lane.run { session in Result { try session.execute("SELECT 1") } }.get()
        let isSilent = await lane.run { $0.waitForNotifications(atMost: .seconds(20)) }
        #expect(!isSilent)
        // It wakes once.
        let staysSilent = await lane.run { $0.waitForNotifications(atMost: .milliseconds(1)) }
        #expect(staysSilent)
    }

    @Test func `a task that is cancelled before it waits for notices does not wait`() async throws {
        let database = try await newDatabase(migrated: false)
        let lane = try await SessionThread.connect(to: database.address, database.options)
        defer { lane.end() }
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let isDone = DispatchSemaphore(value: 0)
        async let first: Void = lane.run { _ in
            start.yield()
            isDone.wait()
        }
        for await _ in starts { break }
        let task = Task { await lane.run { $0.waitForNotifications(atMost: .seconds(20)) } }
        task.cancel()
        // The interrupt comes before the work that it is for.
        await Task.yield()
        isDone.signal()
        await first
        #expect(await task.value == false)
    }

    @Test func `a server that takes no more bytes holds a task no longer than a statement`()
        async throws
    {
        let database = try await newDatabase(migrated: false) {
            ($0.connectionMax, $0.attemptMax) = (1, 1)
            ($0.statementMax, $0.cancelMax) = (.milliseconds(300), .milliseconds(200))
        }
        try await withStoppedServer(of: database) {
            await #expect {
                try await database.length(of: 32 << 20)
            } throws: { error in
                if case PostgreSQLError.connectionLost = error { true } else { false }
            }
        }
        #expect(try await database.length(of: 3) == 3)
    }

    @Test func `a task that is cancelled while it sends ends at once`() async throws {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        try await withStoppedServer(of: database) {
            let task = Task { try await database.length(of: 32 << 20) }
            for _ in 0..<20 { _ = try await database.again().integer("SELECT 1::BIGINT") }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try await database.length(of: 3) == 3)
    }

    @Test func `a statement of a cancelled task ends although the server begins it later`()
        async throws
    {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        let process = pid_t(try await database.integer("SELECT pg_backend_pid()::BIGINT"))
        @Sendable func sleep(_ milliseconds: Int64) async throws {
            try await database.pool.run { session in
                try session.query(
                    "SELECT 1 FROM pg_sleep($1::BIGINT / 1000.0)",
                    [.integer(milliseconds)]
                )
                return
            }
        }
        // It is prepared: what follows is one message.
        try await sleep(1)
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        let task = Task { try await sleep(600_000) }
        for _ in 0..<20 { _ = try await database.again().integer("SELECT 1::BIGINT") }
        task.cancel()
        // The first request to end the statement arrives before the statement does.
        for _ in 0..<20 { _ = try await database.again().integer("SELECT 1::BIGINT") }
        kill(process, SIGCONT)
        try await database.again().within {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `a statement whose answer is not asked for fails its commit`() async throws {
        let database = try await newDatabase { ($0.connectionMax, $0.attemptMax) = (1, 1) }
        let insert = "INSERT INTO godwit_schema (name, step) VALUES ($1, 1)"
        for isAsked in [false, true] {
            await #expect {
                try await database.write { session in
                    try session.send(insert, [.text("a")])
                    try session.send(insert, [.text("a")])
                    // The server leaves out what comes after it.
                    let last = try session.send(insert, [.text("b")])
                    if isAsked { #expect(throws: PostgreSQLError.self) { try last.rows() } }
                }
            } throws: { error in
                if case PostgreSQLError.refused("23505", _) = error { true } else { false }
            }
        }
        let count = "SELECT count(*) FROM godwit_schema WHERE name IN ('a', 'b')"
        #expect(try await database.integer(count) == 0)
        try await database.write { session in
            for name in ["a", "b"] { try session.send(insert, [.text(name)]) }
        }
        #expect(try await database.integer(count) == 2)
    }

    @Test func `a commit says why the first statement has failed, though the body went on`()
        async throws
    {
        let database = try await newDatabase { $0.connectionMax = 1 }
        await #expect {
            try await database.write { session in
                _ = try? session.query("SELECT 1 / 0")
                try session.send("INSERT INTO godwit_schema (name, step) VALUES ('a', 1)")
            }
        } throws: { error in
            if case PostgreSQLError.refused("22012", _) = error { true } else { false }
        }
    }

    @Test func `a failure that a read has not asked for is no failure of the next work`()
        async throws
    {
        let database = try await newDatabase { ($0.connectionMax, $0.attemptMax) = (1, 1) }
        for _ in 0..<2 {
            _ = try await database.read { session in
                try session.send("SELECT 1 / 0")
                return 0
            }
            try await database.write { try $0.execute("SELECT 1") }
        }
    }

    @Test func `a node that stops in the midst of its statements keeps no lock`() async throws {
        let database = try await newDatabase {
            ($0.statementMax, $0.attemptMax) = (.milliseconds(300), 1)
        }
        let other = database.again { $0.statementMax = .seconds(60) }
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let isReleased = DispatchSemaphore(value: 0)
        defer { isReleased.signal() }
        let lock = "SELECT step FROM godwit_schema WHERE name = 'line' FOR UPDATE"
        let task = Task {
            try await database.write { session in
                try session.query(lock)
                try session.send(
                    "SELECT length($1::BYTEA)",
                    [.bytes([UInt8](repeating: 7, count: 2 << 20))]
                )
                start.finish()
                // As if the machine had stopped.
                isReleased.wait()
            }
        }
        for await _ in starts {}
        let began = ContinuousClock.now
        _ = try await other.write { try $0.query(lock).count }
        #expect(ContinuousClock.now - began < .seconds(20))
        isReleased.signal()
        await #expect(throws: PostgreSQLError.self) { try await task.value }
    }

    @Test func `a statement that the server left out is prepared when it is sent again`()
        async throws
    {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        for round in 0..<2 {
            try await database.pool.run { session in
                let answers = [
                    try session.send("SELECT 1::BIGINT"), try session.send("SELECT nothing"),
                    try session.send("SELECT 2::BIGINT"),
                ]
                #expect(try answers[0].rows().integer(0, 0) == 1, "round \(round)")
                #expect(throws: PostgreSQLError.self) { try answers[1].rows() }
                #expect(throws: PostgreSQLError.self) { try answers[2].rows() }
                #expect(try session.query("SELECT 2::BIGINT").integer(0, 0) == 2)
            }
        }
    }

    @Test func `a transaction that was left open after a read is rolled back`() async throws {
        let database = try await newDatabase { $0.connectionMax = 1 }
        _ = try await database.read { try $0.query("SELECT 1::BIGINT").integer(0, 0) }
        await #expect(throws: CancellationError.self) {
            try await database.pool.run { session in
                try session.execute("BEGIN")
                try session.execute("INSERT INTO godwit_schema (name, step) VALUES ('left', 1)")
                throw CancellationError()
            }
        }
        try await database.check()
        let count = "SELECT count(*) FROM godwit_schema WHERE name = 'left'"
        #expect(try await database.integer(count) == 0)
    }

    @Test func `a read with a statement that failed leaves no transaction behind`() async throws {
        let database = try await newDatabase { ($0.connectionMax, $0.attemptMax) = (1, 1) }
        for _ in 0..<2 {
            _ = try? await database.read { session in
                try session.send("SELECT 1 / 0")
                return 0
            }
            try await database.check()
        }
    }

    @Test func `a failure is told by whatever waits for it`() async throws {
        let database = try await newDatabase { $0.connectionMax = 1 }
        try await database.pool.run { session in
            try session.execute("CREATE TABLE parent (number BIGINT PRIMARY KEY)")
            try session.execute(
                "CREATE TABLE child (parent BIGINT REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
            )
            try session.send("SELECT 1 / 0")
            #expect(throws: PostgreSQLError.self) { try session.execute("SELECT 1") }
            // Without a transaction, this fails when the batch is committed.
            #expect(throws: PostgreSQLError.self) {
                try session.query("INSERT INTO child VALUES (7)")
            }
            #expect(try session.query("SELECT count(*) FROM child").integer(0, 0) == 0)
        }
    }

    @Test func `a cancelled task waits for nothing that it has sent`() async throws {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        for isAsked in [false, true] {
            let (starts, start) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await database.write { session in
                    try session.query("SELECT 1")
                    for _ in 0..<3 { try session.send("SELECT pg_sleep(600)") }
                    start.finish()
                    if isAsked { try session.query("SELECT 1") }
                    // The task is cancelled while this goes on.
                    while true { try session.send("SELECT 1") }
                }
            }
            for await _ in starts {}
            task.cancel()
            try await database.again().within {
                await #expect(throws: (any Error).self) { try await task.value }
            }
        }
        #expect(try await database.integer("SELECT 8::BIGINT") == 8)
    }

    @Test func `large statements and large answers do not wait for each other`() async throws {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        let sizes = try await database.pool.run { session in
            let bytes = [UInt8](repeating: 7, count: 4 << 20)
            let answers = try (0..<6).map { _ in
                try session.send("SELECT $1::BYTEA || $1::BYTEA", [.bytes(bytes)])
            }
            return try answers.map { try $0.rows().sizeInBytes(0, 0) }
        }
        #expect(sizes == Array(repeating: 8 << 20, count: 6))
    }

    @Test func `an exchange of an edit waits for the database a few times`() async throws {
        let database = try await newDatabase { $0.connectionMax = 1 }
        let storage = try await PostgreSQLLineStorage(database)
        let device = try await newDevices(1, on: ReplicaServer(storage))[0]
        for edit in 0..<8 {
            try await device.add(edit)
            let before = try await database.pool.run(\.batchCount)
            try await device.synchronize(with: ReplicaServer(storage))
            let after = try await database.pool.run(\.batchCount)
            if edit > 4 { #expect(after > before && after - before <= 8, "edit \(edit)") }
        }
    }

    @Test func `of several hosts the one that may be written to is taken`() async throws {
        let standby = try await PostgreSQLCluster(["default_transaction_read_only=on"])
        let primary = try await PostgreSQLCluster()
        let hosts = [standby, primary].map { cluster in
            String(cluster.address(of: "postgres").split(separator: "=")[1])
        }
        let both = "postgres://godwit@/postgres?host=\(hosts.joined(separator: ","))"
        let database = PostgreSQLDatabase(try PostgreSQLAddress(both))
        #expect(try await database.integer(Self.isReadOnly) == 0)
        try await database.migrate()
        // An address says more than the program.
        let any = try PostgreSQLAddress(both + "&target_session_attrs=any")
        #expect(try await PostgreSQLDatabase(any).integer(Self.isReadOnly) == 1)
    }

    @Test func `a connection to a server that is no primary any more is left for another one`()
        async throws
    {
        let first = try await PostgreSQLCluster()
        let second = try await PostgreSQLCluster()
        let hosts = [first, second].map { cluster in
            String(cluster.address(of: "postgres").split(separator: "=")[1])
        }
        let both = "postgres://godwit@/postgres?host=\(hosts.joined(separator: ","))"
        let database = PostgreSQLDatabase(try PostgreSQLAddress(both))
        for host in hosts {
            let address = try PostgreSQLAddress("postgres://godwit@/postgres?host=\(host)")
            try await PostgreSQLDatabase(address).migrate()
        }
        try await database.check()
        try await first.query("ALTER SYSTEM SET default_transaction_read_only = on")
        try await first.query("SELECT pg_reload_conf()")
        // Its connections stay, and are told when they write.
        try await database.wait(for: Self.isReadOnly) { $0 == 1 }
        try await database.write { session in
            _ = try session.query("INSERT INTO godwit_schema (name, step) VALUES ('other', 1)")
        }
        let rows = try await second.query("SELECT name FROM godwit_schema WHERE name = 'other'")
        #expect(rows == "other")
    }

    private static let isReadOnly =
        "SELECT current_setting('transaction_read_only')::BOOLEAN::INT::BIGINT"

    /// Stops the process that serves a database's connection while a body runs.
    ///
    /// It goes on after a few seconds, so that no test hangs that waits for it.
    private func withStoppedServer(
        of database: PostgreSQLDatabase,
        _ body: () async throws -> Void
    ) async throws {
        // What is sent while it is stopped is prepared.
        #expect(try await database.length(of: 1) == 1)
        let process = pid_t(try await database.integer("SELECT pg_backend_pid()::BIGINT"))
        kill(process, SIGSTOP)
        let resumption = Resumption()
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        async let timer: Void = {
            let other = database.again { $0.statementMax = .seconds(30) }
            try? await other.pool.run { _ = try $0.query("SELECT 1 FROM pg_sleep(4)") }
            resumption.end()
            kill(process, SIGCONT)
            for await _ in ends {}
        }()
        defer { kill(process, SIGCONT) }
        try await body()
        #expect(!resumption.isOver, "it waited for the server")
        end.finish()
        await timer
    }
}

/// Whether a process that was stopped goes on.
private final class Resumption: Sendable {
    private let state = Mutex(false)

    var isOver: Bool { state.withLock(\.self) }

    func end() { state.withLock { $0 = true } }
}

extension PostgreSQLDatabase {
    /// Sends so many bytes, and has the database count them.
    fileprivate func length(of count: Int) async throws -> Int64 {
        try await pool.run { session in
            let bytes = [UInt8](repeating: 7, count: count)
            return try session.query("SELECT octet_length($1)::BIGINT", [.bytes(bytes)])
                .integer(0, 0)
        }
    }
}
#endif
