internal import GRDB
public import GodwitStore
internal import GodwitTree

extension Transaction where Self: ~Copyable {
    /// The places in the cloud that an object is attached to.
    public borrowing func attachments(of key: ObjectKey) throws -> Set<String> {
        guard try hasQueue() else { return [] }
        return try AttachmentTable.uris(of: key, in: database)
    }

    /// The objects that are attached to a place in the cloud.
    public borrowing func objects(attachedTo uri: String) throws -> Set<ObjectKey> {
        guard try hasQueue() else { return [] }
        return try AttachmentTable.keys(attachedTo: uri, in: database)
    }
}

extension WriteTransaction {
    /// Says that an object has to do with a place in the cloud; many may have to do with many.
    ///
    /// An object that is not there yet is attached at the end of this transaction, if it is there
    /// then. One that is removed is detached with that. To attach twice is to attach once.
    public borrowing func attach(_ uri: String, to key: ObjectKey) throws {
        if try value(of: key) != nil {
            try journal().update(in: self) { _ in }
            try AttachmentTable.add(uri, to: key, in: database)
        } else {
            try journal().update(in: self) { draft in
                _ = draft.pendingAttachments[key, default: []].insert(uri)
            }
        }
    }

    /// Takes that back; without an attachment nothing happens.
    public borrowing func detach(_ uri: String, from key: ObjectKey) throws {
        try journal().update(in: self) { draft in
            _ = draft.pendingAttachments[key]?.remove(uri)
        }
        try AttachmentTable.remove(uri, from: key, in: database)
    }
}

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
