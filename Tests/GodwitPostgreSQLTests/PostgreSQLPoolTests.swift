#if PostgreSQL
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitPostgreSQL

/// Connections: how many, in whose turn, and what becomes of those that end.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct PostgreSQLPoolTests {
    @Test func `no more connections are open than may be, and all tasks get their turn`()
        async throws
    {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 3 }
        let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 1...60 {
                group.addTask { try await database.integer("SELECT \(number)::BIGINT") }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 1_830)
        #expect(database.pool.counts == (open: 3, idle: 3, waiting: 0))
        let count = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'godwit'
            """
        #expect(try await database.integer(count) == 3)
    }

    @Test func `tasks get a connection in the order in which they came`() async throws {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        let order = Log()
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await database.pool.run { session in
                    start.yield()
                    try session.query("SELECT 1 FROM pg_sleep(0.3)")
                }
            }
            for await _ in starts { break }
            for number in 1...5 {
                group.addTask {
                    try await database.pool.run { _ in order.add(number) }
                }
                while database.pool.counts.waiting < number { await Task.yield() }
            }
            try await group.waitForAll()
        }
        #expect(order.numbers == [1, 2, 3, 4, 5])
    }

    @Test func `too many who wait are told to come later`() async throws {
        let database = try await newDatabase(migrated: false) {
            ($0.connectionMax, $0.waitingMax) = (1, 0)
        }
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await database.pool.run { session in
                    start.yield()
                    try session.query("SELECT 1 FROM pg_sleep(0.2)")
                }
            }
            for await _ in starts { break }
            await #expect(throws: PostgreSQLError.busy(waitingMax: 0)) {
                try await database.pool.run { _ in }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a task that is cancelled while it waits leaves the others their turn`()
        async throws
    {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await database.pool.run { session in
                start.yield()
                try session.query("SELECT 1 FROM pg_sleep(0.3)")
                return
            }
        }
        for await _ in starts { break }
        let second = Task { try await database.integer("SELECT 2::BIGINT") }
        while database.pool.counts.waiting < 1 { await Task.yield() }
        let third = Task { try await database.integer("SELECT 3::BIGINT") }
        while database.pool.counts.waiting < 2 { await Task.yield() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(try await third.value == 3)
        try await first.value
    }

    @Test func `a task that is cancelled ends its statement, and keeps its connection`()
        async throws
    {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let process = try await database.integer("SELECT pg_backend_pid()::BIGINT")
        let task = Task {
            try await database.pool.run { session in
                start.yield()
                try session.query("SELECT 1 FROM pg_sleep(600)")
                return
            }
        }
        for await _ in starts { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await database.integer("SELECT pg_backend_pid()::BIGINT") == process)
    }

    @Test func `a statement that takes too long is ended by the server`() async throws {
        let database = try await newDatabase(migrated: false) {
            $0.statementMax = .milliseconds(50)
        }
        await #expect(throws: PostgreSQLError.timedOut) {
            try await database.pool.run { _ = try $0.query("SELECT 1 FROM pg_sleep(600)") }
        }
        #expect(try await database.integer("SELECT 1::BIGINT") == 1)
    }

    @Test func `connections that were ended are replaced, and a transaction begins anew`()
        async throws
    {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 4 }
        let other = database.again { $0.connectionMax = 1 }
        let end = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        for _ in 0..<5 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await database.pool.run { session in
                            _ = try session.query("SELECT 1 FROM pg_sleep(0.05)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await other.integer(end) == 4)
            let sum = try await database.read { try $0.query("SELECT 7::BIGINT").integer(0, 0) }
            #expect(sum == 7)
        }
        // In the midst of a transaction, it is lost; another attempt is made by itself.
        let attempts = Log()
        let found = try await database.write { session in
            attempts.add(1)
            if attempts.numbers.count == 1 {
                try session.query("SELECT pg_terminate_backend(pg_backend_pid())")
            }
            return try session.query("SELECT 8::BIGINT").integer(0, 0)
        }
        #expect(found == 8 && attempts.numbers.count == 2)
    }

    @Test func `a transaction with a statement that failed is not told as done`() async throws {
        let database = try await newDatabase()
        await #expect {
            try await database.writeOnce { session in
                try session.query("INSERT INTO godwit_schema (name, step) VALUES ('a', 1)")
                _ = try? session.query("SELECT 1 / 0")
            }
        } throws: { error in
            if case PostgreSQLError.refused("22012", _) = error { true } else { false }
        }
        let sql = "SELECT count(*) FROM godwit_schema WHERE name = 'a'"
        #expect(try await database.integer(sql) == 0)
    }

    @Test func `what goes wrong has a type that says what to do`() async throws {
        for text in ["", "mysql://x", "postgres://[::1/x", "host=localhost"] {
            #expect(throws: PostgreSQLError.self) { try PostgreSQLAddress(text) }
        }
        let secret = try PostgreSQLAddress("postgres://user:secret@host:77/name")
        #expect("\(secret)" == "postgres://user@host:77/name")
        for text in ["postgres://user:sec/ret@host/name", "postgres://user:sec/r@t@host:7/name"] {
            #expect {
                try PostgreSQLAddress(text)
            } throws: { error in
                !"\(error)".contains("ret@") && !"\(error)".contains("sec")
                    && "\(error)".contains("%2F")
            }
        }
        let nowhere = PostgreSQLDatabase(
            try PostgreSQLAddress("postgres://user@/name?host=/nowhere")
        )
        await #expect {
            try await nowhere.integer("SELECT 1::BIGINT")
        } throws: { error in
            if case PostgreSQLError.unreachable = error { true } else { false }
        }
        #expect(nowhere.pool.counts.open == 0)
        let database = try await newDatabase(migrated: false)
        await #expect {
            try await database.integer("SELECT 1::BIGINT / 0")
        } throws: { error in
            if case PostgreSQLError.refused("22012", _) = error { true } else { false }
        }
        database.close()
        await #expect(throws: PostgreSQLError.closed) {
            try await database.integer("SELECT 1::BIGINT")
        }
    }

    @Test func `arguments and cells are what they were`() async throws {
        let database = try await newDatabase(migrated: false)
        let texts: [[UInt8]?] = [
            [], nil, [0], [0, 255, 39, 92], Array(repeating: 7, count: 70_000),
        ]
        let numbers: [Int64?] = [0, nil, .min, .max, -1]
        try await database.pool.run { session in
            for text in texts {
                let rows = try session.query("SELECT $1::BYTEA", [.bytes(text)])
                #expect(rows.optionalBytes(0, 0) == text)
            }
            for number in numbers {
                let rows = try session.query("SELECT $1::BIGINT", [.integer(number)])
                #expect(try rows.optionalInteger(0, 0) == number)
            }
            let rows = try session.query(
                "SELECT a, b FROM unnest($1::BIGINT[], $2::BYTEA[]) AS x (a, b)",
                [.integers(numbers), .byteStrings(texts)]
            )
            #expect(try (0..<5).map { try rows.optionalInteger($0, 0) } == numbers)
            #expect((0..<5).map { rows.optionalBytes($0, 1) } == texts)
            let none = try session.query("SELECT unnest($1::BIGINT[])", [.integers([])])
            #expect(none.count == 0)
        }
    }

    @Test func `statements are prepared once, and anew when there are too many`() async throws {
        let database = try await newDatabase(migrated: false) { $0.connectionMax = 1 }
        try await database.pool.run { session in
            for round in 0..<2 {
                for number in 0..<300 {
                    let rows = try session.query("SELECT \(number)::BIGINT", [])
                    #expect(try rows.integer(0, 0) == Int64(number), "\(round)")
                }
            }
            let rows = try session.query("SELECT count(*) FROM pg_prepared_statements")
            #expect(try rows.integer(0, 0) <= 256)
        }
    }
}

/// What several tasks write down.
private final class Log: Sendable {
    private let entries = Mutex<[Int]>([])

    var numbers: [Int] { entries.withLock { $0 } }

    func add(_ number: Int) { entries.withLock { $0.append(number) } }
}
#endif
