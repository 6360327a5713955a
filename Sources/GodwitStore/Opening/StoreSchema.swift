internal import GRDB

/// The store's own tables.
enum StoreSchema {
    static let schema = TableSchema(name: "store", steps: [.change(create)])

    private static func create(in database: Database) throws {
        let tables = [
            ObjectTable.schema, Ledger.schema, IndexTable.schema, RetentionTable.schema,
            ChangeLog.schema,
        ]
        for table in tables { try database.execute(sql: table) }
        try Ledger.create(Ledger.State(), in: database)
    }
}
