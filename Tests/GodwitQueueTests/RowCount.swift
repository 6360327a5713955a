import GRDB
import GodwitStore

@testable import GodwitQueue

extension ReadTransaction {
    borrowing func rowCount(of table: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
    }
}

extension Store {
    /// Whether nothing is in memory of what finished operations touched.
    var footprintsAreForgotten: Bool {
        get async throws {
            try await write { transaction in
                try transaction.footprints().update(in: transaction) { $0.isEmpty }
            }
        }
    }
}
