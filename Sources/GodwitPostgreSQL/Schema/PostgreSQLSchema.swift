#if PostgreSQL
/// The tables of servers' lines, as steps that are never edited again.
///
/// Each table begins with the number of a replica, so that Citus, YugabyteDB and CockroachDB can keep
/// what belongs together in one place. The number is a hash of the replica's name: no sequence gives it
/// out, and no table of all replicas has to be asked for it. Names of collections and keys are bytes:
/// they are ordered as devices order them, whatever the collation is, and may have a zero in them.
enum PostgreSQLSchema {
    /// Each step may be run again after it was cut off.
    static let steps: [[String]] = [lines, access, sizesAndLastChanges]

    /// The tables whose rows belong to a line.
    static let parts = [
        "opening", "collection", "object", "entry", "state", "peer", "restoration", "lost",
        "staging",
        "staged",
    ].map { "godwit_line_\($0)" }

    private static let lines = [
        """
        CREATE TABLE IF NOT EXISTS godwit_line (
            number BIGINT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            epoch BIGINT NOT NULL,
            serial BIGINT NOT NULL,
            id BYTEA NOT NULL,
            sum BYTEA NOT NULL,
            start BIGINT
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_opening (
            line BIGINT NOT NULL,
            serial BIGINT NOT NULL,
            id BYTEA NOT NULL,
            start BIGINT NOT NULL,
            PRIMARY KEY (line, serial)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_collection (
            line BIGINT NOT NULL,
            collection BYTEA NOT NULL,
            count BIGINT NOT NULL,
            sum BYTEA NOT NULL,
            PRIMARY KEY (line, collection)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_object (
            line BIGINT NOT NULL,
            collection BYTEA NOT NULL,
            key BYTEA NOT NULL,
            version BIGINT NOT NULL,
            value BYTEA NOT NULL,
            hash BYTEA NOT NULL,
            PRIMARY KEY (line, collection, key)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_entry (
            line BIGINT NOT NULL,
            collection BYTEA NOT NULL,
            key BYTEA NOT NULL,
            serial BIGINT NOT NULL,
            forward BYTEA,
            backward BYTEA,
            PRIMARY KEY (line, collection, key, serial)
        )
        """,
        """
        CREATE INDEX IF NOT EXISTS godwit_line_entry_serial
        ON godwit_line_entry (line, serial, collection, key)
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_state (
            line BIGINT NOT NULL,
            serial BIGINT NOT NULL,
            id BYTEA NOT NULL,
            PRIMARY KEY (line, serial)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_peer (
            line BIGINT NOT NULL,
            client BYTEA NOT NULL,
            nonce BIGINT NOT NULL,
            acked BIGINT NOT NULL,
            sent BIGINT NOT NULL,
            sent_max BYTEA NOT NULL,
            sequence BIGINT NOT NULL,
            name BIGINT,
            rejections BYTEA,
            seen BIGINT NOT NULL,
            decision BIGINT NOT NULL,
            PRIMARY KEY (line, client)
        )
        """,
        "CREATE INDEX IF NOT EXISTS godwit_line_peer_acked ON godwit_line_peer (line, acked)",
        "CREATE INDEX IF NOT EXISTS godwit_line_peer_sent ON godwit_line_peer (line, sent)",
        """
        CREATE TABLE IF NOT EXISTS godwit_line_restoration (
            line BIGINT NOT NULL,
            epoch BIGINT NOT NULL,
            reference BIGINT NOT NULL,
            reference_id BYTEA NOT NULL,
            lost BIGINT NOT NULL,
            lost_id BYTEA NOT NULL,
            passed BYTEA NOT NULL,
            PRIMARY KEY (line, epoch)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_lost (
            line BIGINT NOT NULL,
            epoch BIGINT NOT NULL,
            collection BYTEA NOT NULL,
            key BYTEA NOT NULL,
            version BIGINT NOT NULL,
            value BYTEA,
            PRIMARY KEY (line, epoch, collection, key)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_staging (
            line BIGINT NOT NULL,
            client BYTEA NOT NULL,
            epoch BIGINT NOT NULL,
            base BIGINT NOT NULL,
            base_id BYTEA NOT NULL,
            compared_with BIGINT NOT NULL,
            compared_with_id BYTEA NOT NULL,
            count BIGINT NOT NULL,
            PRIMARY KEY (line, client)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_line_staged (
            line BIGINT NOT NULL,
            client BYTEA NOT NULL,
            collection BYTEA NOT NULL,
            key BYTEA NOT NULL,
            version BIGINT NOT NULL,
            value BYTEA,
            PRIMARY KEY (line, client, collection, key)
        )
        """,
    ]

    private static let access = [
        """
        CREATE TABLE IF NOT EXISTS godwit_access_key (
            id TEXT NOT NULL PRIMARY KEY,
            name TEXT NOT NULL,
            hash BYTEA NOT NULL,
            rights TEXT NOT NULL,
            created BIGINT NOT NULL,
            used BIGINT,
            expires BIGINT
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS godwit_access_client (
            line BIGINT NOT NULL,
            client BYTEA NOT NULL,
            principal BYTEA NOT NULL,
            PRIMARY KEY (line, client)
        )
        """,
    ]

    private static let sizesAndLastChanges = [
        "ALTER TABLE godwit_line ADD COLUMN IF NOT EXISTS size BIGINT NOT NULL DEFAULT 0",
        """
        UPDATE godwit_line SET size = (
            SELECT coalesce(
                sum(octet_length(collection) + octet_length(key) + octet_length(value)), 0)
            FROM godwit_line_object WHERE line = godwit_line.number)
        """,
        "ALTER TABLE godwit_line_object ADD COLUMN IF NOT EXISTS client BYTEA",
        "ALTER TABLE godwit_line_object ADD COLUMN IF NOT EXISTS serial BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE godwit_line_object ADD COLUMN IF NOT EXISTS changed BIGINT NOT NULL DEFAULT 0",
    ]

    /// What keeps tables small whose rows are written again and again: PostgreSQL's own settings, without
    /// which everything works.
    static let tuning =
        ["godwit_line", "godwit_line_peer", "godwit_line_collection"].map {
            "ALTER TABLE \($0) SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)"
        }
        + ["godwit_line_state", "godwit_line_entry", "godwit_line_object", "godwit_line_opening"]
        .map {
            "ALTER TABLE \($0) SET (autovacuum_vacuum_scale_factor = 0.05)"
        }
}
#endif
