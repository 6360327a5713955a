internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// Which objects have to do with which places in the cloud.
enum AttachmentTable {
    static let schema = """
        CREATE TABLE godwit_attachment (
            uri TEXT NOT NULL,
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            PRIMARY KEY (uri, collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_attachment_key ON godwit_attachment (collection, key);
        CREATE TRIGGER godwit_attachment_detach AFTER DELETE ON godwit_object BEGIN
            DELETE FROM godwit_attachment WHERE collection = OLD.collection AND key = OLD.key;
        END;
        """

    static func add(_ uri: String, to key: ObjectKey, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO godwit_attachment (uri, collection, key) VALUES (?, ?, ?)",
            arguments: [uri, key.collection.text, key.key.text]
        )
    }

    static func remove(_ uri: String, from key: ObjectKey, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM godwit_attachment WHERE uri = ? AND collection = ? AND key = ?",
            arguments: [uri, key.collection.text, key.key.text]
        )
    }

    static func contains(_ uri: String, of key: ObjectKey, in database: Database) throws -> Bool {
        try Int.fetchOne(
            database,
            sql: "SELECT 1 FROM godwit_attachment WHERE uri = ? AND collection = ? AND key = ?",
            arguments: [uri, key.collection.text, key.key.text]
        ) != nil
    }

    static func uris(of key: ObjectKey, in database: Database) throws -> Set<String> {
        Set(
            try String.fetchAll(
                database,
                sql: "SELECT uri FROM godwit_attachment WHERE collection = ? AND key = ?",
                arguments: [key.collection.text, key.key.text]
            )
        )
    }

    static func keys(attachedTo uri: String, in database: Database) throws -> Set<ObjectKey> {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT collection, key FROM godwit_attachment WHERE uri = ?",
            arguments: [uri]
        )
        return Set(
            try rows.map { row in
                ObjectKey(collection: Key(try row.cell(0)), key: Key(try row.cell(1)))
            }
        )
    }
}
