internal import GodwitStore

/// The tables of a device's replicas.
///
/// Triggers on the store's objects note the base of each object at its first change. So a change is
/// noted in the transaction that makes it, whichever program writes it. The object itself says what
/// it was changed to; `tail` has the change only where an app has recorded how it was made.
enum DeviceSchema {
    static let schema = TableSchema(name: "device", steps: [.sql(tables + triggers), .sql(left)])

    /// What the device has sent last to replicas that it has left, under an id that others still have.
    private static let left = """
        CREATE TABLE godwit_device_left (
            server INTEGER NOT NULL,
            name TEXT NOT NULL,
            sequence INTEGER NOT NULL,
            batch INTEGER,
            PRIMARY KEY (server, name)
        ) STRICT, WITHOUT ROWID;
        """

    private static let tables = """
        CREATE TABLE godwit_device_server (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            client BLOB NOT NULL,
            nonce INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE godwit_device_replica (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            server INTEGER NOT NULL,
            name TEXT NOT NULL,
            epoch INTEGER,
            serial INTEGER NOT NULL,
            id BLOB NOT NULL,
            sum BLOB NOT NULL,
            starts BLOB NOT NULL DEFAULT x'',
            sequence INTEGER NOT NULL,
            batch INTEGER,
            is_frozen INTEGER NOT NULL,
            frozen_as BLOB,
            former BLOB,
            is_salvaged INTEGER NOT NULL,
            UNIQUE (server, name)
        ) STRICT;
        CREATE TABLE godwit_device_collection (
            replica INTEGER NOT NULL,
            collection TEXT NOT NULL,
            count INTEGER NOT NULL,
            sum BLOB NOT NULL,
            PRIMARY KEY (collection, replica)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE godwit_device_pending (
            replica INTEGER NOT NULL,
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            version INTEGER,
            base BLOB,
            frozen BLOB,
            batch INTEGER,
            tail BLOB,
            rejection TEXT,
            is_doubtful INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (replica, collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_device_pending_held ON godwit_device_pending (replica)
            WHERE batch IS NOT NULL OR is_doubtful;
        CREATE INDEX godwit_device_pending_rejected ON godwit_device_pending (replica, rejection)
            WHERE rejection IS NOT NULL;
        CREATE TABLE godwit_device_adopted (
            replica INTEGER NOT NULL,
            number INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            serial INTEGER NOT NULL,
            id BLOB NOT NULL,
            PRIMARY KEY (replica, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE godwit_device_fetched (
            replica INTEGER NOT NULL,
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            version INTEGER,
            value BLOB,
            PRIMARY KEY (replica, collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE godwit_device_undo (
            replica INTEGER NOT NULL,
            step INTEGER NOT NULL,
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            before_version INTEGER,
            before BLOB,
            after_version INTEGER,
            after BLOB,
            recorded BLOB,
            is_undone INTEGER NOT NULL,
            PRIMARY KEY (replica, step, collection, key)
        ) STRICT, WITHOUT ROWID;

        """

    private static let triggers = [
        ("insert", "INSERT", "NEW", version: "NULL", base: "NULL", condition: ""),
        (
            "update", "UPDATE", "NEW", version: "OLD.version", base: "OLD.value",
            condition: "(OLD.value IS NOT NEW.value OR OLD.version IS NOT NEW.version) AND "
        ),
        ("delete", "DELETE", "OLD", version: "OLD.version", base: "OLD.value", condition: ""),
    ].map { name, event, row, version, base, condition in
        """
        CREATE TRIGGER godwit_device_\(name) AFTER \(event) ON godwit_object
        WHEN \(condition)EXISTS (
            SELECT 1 FROM godwit_device_collection WHERE collection = \(row).collection)
        BEGIN
            INSERT INTO godwit_device_pending (replica, collection, key, version, base)
            SELECT replica, \(row).collection, \(row).key, \(version), \(base)
            FROM godwit_device_collection WHERE collection = \(row).collection
            ON CONFLICT (replica, collection, key) DO UPDATE
            SET rejection = CASE WHEN rejection IN ('refusedHere', 'editedHere')
                THEN 'editedHere' END
            WHERE rejection IS NOT NULL;
        END;

        """
    }.joined()
}
