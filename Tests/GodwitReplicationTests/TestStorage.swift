import GodwitStore
import GodwitTestKit
import Testing

@testable import GodwitReplication

#if PostgreSQL
@testable import GodwitPostgreSQL
#endif

/// Where the lines of a test are.
enum TestStorage: String, CaseIterable, CustomTestStringConvertible {
    case sqlite = "SQLite"
    #if PostgreSQL
    case postgreSQL = "PostgreSQL"
    #endif

    var testDescription: String { rawValue }

    /// Of how many worlds a test tells the storage: a commit to a disk takes its time.
    var worldCount: Int {
        switch self {
        case .sqlite: 20
        #if PostgreSQL
        case .postgreSQL: 4
        #endif
        }
    }

    /// An empty storage.
    func nodes() async throws -> TestNodes {
        switch self {
        case .sqlite:
            let store = try Store(.memory)
            return TestNodes { try await SQLiteLineStorage(store) }
        #if PostgreSQL
        case .postgreSQL:
            let address = try await PostgreSQLAddress(PostgreSQLCluster.shared().database())
            let database = PostgreSQLDatabase(address)
            try await database.migrate()
            return TestNodes { try await PostgreSQLLineStorage(database) }
        #endif
        }
    }
}

/// Servers that share a storage.
struct TestNodes: Sendable {
    private let open: @Sendable () async throws -> any LineStorage

    init(_ open: @escaping @Sendable () async throws -> any LineStorage) { self.open = open }

    /// Starts another one.
    func node() async throws -> any LineStorage { try await open() }
}
