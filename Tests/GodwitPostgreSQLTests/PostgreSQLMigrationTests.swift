#if PostgreSQL
import GodwitReplication
import GodwitTestKit
import Testing

@testable import GodwitPostgreSQL

/// Tables come about once, whichever node makes them.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct PostgreSQLMigrationTests {
    @Test func `of several nodes that start at once, one makes the tables`() async throws {
        let database = try await newDatabase(migrated: false)
        let nodes = (0..<6).map { _ in database.again() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { try await node.migrate() } }
            try await group.waitForAll()
        }
        #expect(try await database.migrate() == 0)
        #expect(
            try await database.integer("SELECT step FROM godwit_schema")
                == Int64(PostgreSQLSchema.steps.count)
        )
    }

    @Test func `a node waits for another one's migration longer than a statement may take`()
        async throws
    {
        let database = try await newDatabase(migrated: false)
        let late = database.again { $0.statementMax = .milliseconds(400) }
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        async let first: Void = database.withLock { session in
            started.finish()
            _ = try session.query("SELECT 1 FROM pg_sleep(1.5)")
        }
        for await _ in starts {}
        #expect(try await late.migrate() == PostgreSQLSchema.steps.count)
        try await first
    }

    @Test func `a step of a migration may take longer than a statement`() async throws {
        let database = try await newDatabase()
        try await database.pool.run { try $0.execute("UPDATE godwit_schema SET step = 0") }
        let late = database.again {
            ($0.statementMax, $0.cancelMax) = (.milliseconds(100), .milliseconds(100))
        }
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        async let other: Void = database.write { session in
            try session.execute("LOCK TABLE godwit_line_entry IN ACCESS EXCLUSIVE MODE")
            started.finish()
            _ = try session.query("SELECT 1 FROM pg_sleep(1.5)")
        }
        for await _ in starts {}
        // A step makes an index of this table, and waits for it.
        #expect(try await late.migrate() == PostgreSQLSchema.steps.count)
        try await other
        // Its connection is like the other ones afterwards.
        await #expect(throws: PostgreSQLError.timedOut) {
            try await late.integer("SELECT 8::BIGINT FROM pg_sleep(60)")
        }
    }

    @Test func `a check of the database writes`() async throws {
        let database = try await newDatabase()
        for count in 1...2 {
            try await database.check()
            let sql = "SELECT step FROM godwit_schema WHERE name = 'health'"
            #expect(try await database.integer(sql) == Int64(count))
        }
        #expect(try await database.migrate() == 0)
    }

    @Test func `a step that was cut off is run again`() async throws {
        let database = try await newDatabase()
        for step in 0..<Int64(PostgreSQLSchema.steps.count) {
            _ = try await database.write { session in
                try session.query("UPDATE godwit_schema SET step = $1", [.integer(step)])
                return 0
            }
            #expect(try await database.migrate() == PostgreSQLSchema.steps.count - Int(step))
        }
    }

    @Test func `a database of an earlier version learns how large its replicas are`() async throws {
        let database = try await newDatabase()
        let server = try await PostgreSQLNode(database).server
        let device = try await newDevices(1, on: server)[0]
        try await device.add(1)
        try await device.synchronize(with: server)
        let size = try await server.summary(of: .tested).sizeInBytes
        _ = try await database.write { session in
            try session.query("ALTER TABLE godwit_line DROP COLUMN size")
            try session.query("UPDATE godwit_schema SET step = 2 WHERE name = 'line'")
            return 0
        }
        #expect(try await database.migrate() == 1)
        #expect(size > 0)
        #expect(try await server.summary(of: .tested).sizeInBytes == size)
    }

    @Test func `a node refuses tables that are older or newer than itself`() async throws {
        let known = PostgreSQLSchema.steps.count
        let database = try await newDatabase(migrated: false)
        await #expect(throws: PostgreSQLError.schemaIsOlder(step: 0, known: known)) {
            _ = try await PostgreSQLNode(database)
        }
        try await database.migrate()
        _ = try await database.write { session in
            try session.query("UPDATE godwit_schema SET step = step + 1")
            return 0
        }
        let newer = PostgreSQLError.schemaIsNewer(step: known + 1, known: known)
        await #expect(throws: newer) { try await database.migrate() }
        await #expect(throws: newer) { _ = try await PostgreSQLNode(database) }
    }

    @Test func `every table begins with the number of a replica`() async throws {
        let database = try await newDatabase()
        let others = """
            SELECT count(*) FROM information_schema.key_column_usage
            WHERE table_name LIKE 'godwit_line%' AND ordinal_position = 1
            AND column_name NOT IN ('line', 'number')
            """
        #expect(try await database.integer(others) == 0)
    }
}
#endif
