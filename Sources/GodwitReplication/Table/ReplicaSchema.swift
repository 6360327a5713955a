internal import GodwitStore

/// The tables of replicas, for devices and for the server.
///
/// A state's `parts` are the numbers of the deltas that lead to it from the state before. The
/// row without an id, with serial -1, is the tail.
enum ReplicaSchema {
    static let schema = Schema(
        name: "replication",
        // Before, ids were made of other digests.
        oldest: 3,
        steps: [
            .sql(
                """
                CREATE TABLE godwit_replica (
                    number INTEGER PRIMARY KEY,
                    name TEXT NOT NULL,
                    role TEXT NOT NULL,
                    UNIQUE (name, role)
                ) STRICT;
                CREATE TABLE godwit_state (
                    replica INTEGER NOT NULL,
                    serial INTEGER NOT NULL,
                    id BLOB,
                    parts TEXT NOT NULL,
                    PRIMARY KEY (replica, serial)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_part (
                    replica INTEGER NOT NULL,
                    number INTEGER NOT NULL,
                    delta BLOB NOT NULL,
                    PRIMARY KEY (replica, number)
                ) STRICT;
                CREATE TABLE godwit_device (
                    replica INTEGER PRIMARY KEY,
                    client TEXT NOT NULL,
                    base BLOB NOT NULL,
                    sequence INTEGER NOT NULL,
                    nonce INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE godwit_peer (
                    replica INTEGER NOT NULL,
                    client TEXT NOT NULL,
                    acked BLOB,
                    sent BLOB,
                    nonce INTEGER NOT NULL,
                    sequence INTEGER NOT NULL,
                    PRIMARY KEY (replica, client)
                ) STRICT, WITHOUT ROWID;
                """
            )
        ]
    )
}
