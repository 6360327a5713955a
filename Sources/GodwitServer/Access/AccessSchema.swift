#if Server
internal import GodwitStore

/// The tables of who may do what, in the store of the server's lines.
enum AccessSchema {
    static let schema = TableSchema(
        name: "access",
        steps: [
            .sql(
                """
                CREATE TABLE godwit_access_key (
                    id TEXT PRIMARY KEY,
                    name TEXT NOT NULL,
                    hash BLOB NOT NULL,
                    rights TEXT NOT NULL,
                    created INTEGER NOT NULL,
                    used INTEGER,
                    expires INTEGER
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_access_client (
                    replica TEXT NOT NULL,
                    client BLOB NOT NULL,
                    principal TEXT NOT NULL,
                    PRIMARY KEY (replica, client)
                ) STRICT, WITHOUT ROWID;
                """
            )
        ]
    )
}
#endif
