#if PostgreSQL
import Testing

@testable import GodwitPostgreSQL

/// What this program takes an error of the database for.
@Suite struct PostgreSQLErrorTests {
    private static func refused(_ state: String) -> PostgreSQLError {
        .refused(sqlState: state, message: "no")
    }

    @Test func `a command is unknown where the database has no such feature or no such syntax`() {
        let states = ["0A000", "42601", "42883", "42704", "22023", "42P01", "25006", "42501"]
        #expect(states.filter { Self.refused($0).isUnknownCommand } == ["0A000", "42601"])
        #expect(states.filter { Self.refused($0).isUnknownFunction } == ["0A000", "42883"])
        let others: [PostgreSQLError] = [.timedOut, .connectionLost(reason: "0A000"), .closed]
        #expect(others.allSatisfy { !$0.isUnknownCommand && !$0.isUnknownFunction })
    }

    @Test func `only a lock that the database does not know is done without`() async throws {
        let database = try await newDatabase(migrated: false)
        // A body that meets such an error under the lock is not run again without it.
        for state in ["0A000", "42883", "42601", "42704", "22023"] {
            await #expect(throws: Self.refused(state)) {
                try await database.withLock { _ in throw Self.refused(state) }
            }
        }
        try await database.withLock { session in
            let locks = try session.query(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
            )
            #expect(try locks.integer(0, 0) == 1)
        }
    }
}
#endif
