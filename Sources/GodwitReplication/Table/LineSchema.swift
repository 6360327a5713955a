package import GodwitStore

/// The tables of a server's lines.
///
/// Each table begins with the number of the replica, so that what belongs together lies together.
enum LineSchema {
    /// The tables whose rows belong to a line.
    static let parts = [
        "opening", "collection", "object", "entry", "state", "peer", "restoration", "lost",
        "staging",
        "staged",
    ].map { "godwit_line_\($0)" }

    static let schema = TableSchema(
        name: "line",
        steps: [
            .sql(
                """
                CREATE TABLE godwit_line (
                    number INTEGER PRIMARY KEY,
                    name TEXT NOT NULL UNIQUE,
                    epoch INTEGER NOT NULL,
                    serial INTEGER NOT NULL,
                    id BLOB NOT NULL,
                    sum BLOB NOT NULL,
                    start INTEGER
                ) STRICT;
                CREATE TABLE godwit_line_opening (
                    line INTEGER NOT NULL,
                    serial INTEGER NOT NULL,
                    id BLOB NOT NULL,
                    start INTEGER NOT NULL,
                    PRIMARY KEY (line, serial)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_line_collection (
                    line INTEGER NOT NULL,
                    collection TEXT NOT NULL,
                    count INTEGER NOT NULL,
                    sum BLOB NOT NULL,
                    PRIMARY KEY (line, collection)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_line_object (
                    line INTEGER NOT NULL,
                    collection TEXT NOT NULL,
                    key TEXT NOT NULL,
                    version INTEGER NOT NULL,
                    value BLOB NOT NULL,
                    hash BLOB NOT NULL,
                    PRIMARY KEY (line, collection, key)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_line_entry (
                    line INTEGER NOT NULL,
                    collection TEXT NOT NULL,
                    key TEXT NOT NULL,
                    serial INTEGER NOT NULL,
                    forward BLOB,
                    backward BLOB,
                    PRIMARY KEY (line, collection, key, serial)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX godwit_line_entry_serial ON godwit_line_entry (line, serial);
                CREATE TABLE godwit_line_state (
                    line INTEGER NOT NULL,
                    serial INTEGER NOT NULL,
                    id BLOB NOT NULL,
                    PRIMARY KEY (line, serial)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_line_peer (
                    line INTEGER NOT NULL,
                    client BLOB NOT NULL,
                    nonce INTEGER NOT NULL,
                    acked INTEGER NOT NULL,
                    sent INTEGER NOT NULL,
                    sentMax BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    name INTEGER,
                    rejections BLOB,
                    seen INTEGER NOT NULL,
                    PRIMARY KEY (line, client)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX godwit_line_peer_acked ON godwit_line_peer (line, acked);
                CREATE INDEX godwit_line_peer_sent ON godwit_line_peer (line, sent);
                CREATE TABLE godwit_line_restoration (
                    line INTEGER NOT NULL,
                    epoch INTEGER NOT NULL,
                    reference INTEGER NOT NULL,
                    referenceID BLOB NOT NULL,
                    lost INTEGER NOT NULL,
                    lostID BLOB NOT NULL,
                    passed BLOB NOT NULL,
                    PRIMARY KEY (line, epoch)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_line_lost (
                    line INTEGER NOT NULL,
                    epoch INTEGER NOT NULL,
                    collection TEXT NOT NULL,
                    key TEXT NOT NULL,
                    version INTEGER,
                    value BLOB,
                    PRIMARY KEY (line, epoch, collection, key)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_line_staging (
                    line INTEGER NOT NULL,
                    client BLOB NOT NULL,
                    epoch INTEGER NOT NULL,
                    base INTEGER NOT NULL,
                    baseID BLOB NOT NULL,
                    comparedWith INTEGER NOT NULL,
                    comparedWithID BLOB NOT NULL,
                    count INTEGER NOT NULL,
                    PRIMARY KEY (line, client)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_line_staged (
                    line INTEGER NOT NULL,
                    client BLOB NOT NULL,
                    collection TEXT NOT NULL,
                    key TEXT NOT NULL,
                    version INTEGER NOT NULL,
                    value BLOB,
                    PRIMARY KEY (line, client, collection, key)
                ) STRICT, WITHOUT ROWID;
                """
            ),
            .sql(
                """
                ALTER TABLE godwit_line ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
                UPDATE godwit_line SET size = (
                    SELECT coalesce(sum(length(CAST(collection AS BLOB)) + length(CAST(key AS BLOB))
                        + length(value)), 0)
                    FROM godwit_line_object WHERE line = godwit_line.number);
                ALTER TABLE godwit_line_object ADD COLUMN client BLOB;
                ALTER TABLE godwit_line_object ADD COLUMN serial INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE godwit_line_object ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
                """
            ),
        ]
    )
}

/// The tables of a server's lines, for what reads and writes them without a server.
package enum LineTables {
    /// Makes them in a store, where there are none.
    package static func make(in store: Store) throws { try store.prepare(LineSchema.schema) }
}
