internal import Foundation
internal import GRDB
internal import GodwitTree

/// The store's own tables, and how they came to be.
enum StoreSchema {
    static let schema = Schema(
        name: "store",
        steps: [.sql(format1), .change(upgradeToFormat2)]
    )

    private static let format1 = """
        CREATE TABLE godwit_object (
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            value BLOB NOT NULL,
            digest BLOB NOT NULL,
            commit_number INTEGER NOT NULL,
            PRIMARY KEY (collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE godwit_commit (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            number INTEGER NOT NULL
        ) STRICT;
        INSERT INTO godwit_commit (only, number) VALUES (1, 0);
        """

    /// Format 2: metadata, versions of the app's types, seals over whole rows, and the ledger.
    private static func upgradeToFormat2(_ database: Database) throws {
        try database.execute(sql: "ALTER TABLE godwit_object RENAME TO godwit_object_1")
        let tables = [
            ObjectTable.schema, Ledger.schema, IndexTable.schema, RetentionTable.schema,
            ChangeLog.schema,
        ]
        for table in tables { try database.execute(sql: table) }
        var totals: [Key: Ledger.Total] = [:]
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT collection, key, value, digest, commit_number FROM godwit_object_1"
        )
        while let row = try rows.next() {
            let key = ObjectKey(collection: Key(try row.cell(0)), key: Key(try row.cell(1)))
            let bytes = Array(try row.cell(2) as Data)
            let digest = Digest(of: [bytes], purpose: "godwit value 1")
            guard digest.bytes == Array(try row.cell(3) as Data) else {
                throw StoreError.damagedObject(key)
            }
            let object = StoredObject(
                at: key,
                bytes: bytes,
                metadata: nil,
                version: 1,
                commit: CommitNumber(rawValue: try row.cell(4))
            )
            _ = try ObjectTable.insert(key, object, in: database)
            totals[key.collection, default: .init()].add(object)
        }
        let number = try Int64.fetchOne(database, sql: "SELECT number FROM godwit_commit") ?? 0
        let commit = CommitNumber(rawValue: number)
        var ledger = Ledger.State(last: commit)
        for (collection, total) in totals { ledger.set(total, of: collection) }
        try Ledger.create(ledger, in: database)
        try database.execute(sql: "DROP TABLE godwit_object_1; DROP TABLE godwit_commit")
    }
}
