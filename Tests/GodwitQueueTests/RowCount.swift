import GRDB
import GodwitStore

extension ReadTransaction {
    borrowing func rowCount(of table: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
    }
}
