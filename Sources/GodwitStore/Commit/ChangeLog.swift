internal import GRDB
internal import GodwitTree

/// What recent commits have changed, for the other processes that have the store open.
///
/// Written only where several processes share a store. Each row has what the object was before,
/// so that another process's views can stay frozen at their commits.
enum ChangeLog {
    static let schema = """
        CREATE TABLE godwit_change (
            commit_number INTEGER NOT NULL,
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            kind INTEGER NOT NULL,
            value BLOB,
            metadata BLOB,
            version INTEGER,
            old_commit INTEGER,
            seal BLOB,
            PRIMARY KEY (commit_number, collection, key)
        ) STRICT, WITHOUT ROWID;
        """

    /// How many commits are kept.
    static let commitMax: Int64 = 10_000

    enum Kind: Int64 {
        case commit, inserted, updated, removed, touched
    }

    struct Row {
        let commit: CommitNumber
        let kind: Kind
        let key: ObjectKey
        let old: StoredObject?
    }

    static func append(_ row: Row, in database: Database) throws {
        let statement = try PreparedStatement(
            "INSERT INTO godwit_change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            in: database
        )
        try statement.bind(row.commit.rawValue, at: 1)
        try statement.bind(row.key.collection, at: 2)
        try statement.bind(row.key.key, at: 3)
        try statement.bind(row.kind.rawValue, at: 4)
        if let old = row.old {
            try statement.bind(old.bytes, at: 5)
            try statement.bind(old.metadata, at: 6)
            try statement.bind(Int64(old.version), at: 7)
            try statement.bind(old.commit.rawValue, at: 8)
            try statement.bind(old.seal.bytes, at: 9)
        }
        try statement.execute()
    }

    static func rows(after commit: CommitNumber, in database: Database) throws -> [Row] {
        let statement = try PreparedStatement(
            """
            SELECT commit_number, collection, key, kind, value, metadata, version, old_commit, seal
            FROM godwit_change WHERE commit_number > ? ORDER BY commit_number
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(commit.rawValue, at: 1)
        var rows: [Row] = []
        while try statement.step() {
            let key = ObjectKey(
                collection: Key(statement.text(1)),
                key: Key(statement.text(2))
            )
            let old =
                statement.isNull(4)
                ? nil : try ObjectTable.object(at: key, in: statement, from: 4)
            let row = Row(
                commit: CommitNumber(rawValue: statement.integer(0)),
                kind: Kind(rawValue: statement.integer(3)) ?? .updated,
                key: key,
                old: old
            )
            rows.append(row)
        }
        return rows
    }

    static func trim(at commit: CommitNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_change WHERE commit_number <= ?",
            in: database
        )
        try statement.bind(commit.rawValue - commitMax, at: 1)
        try statement.execute()
    }
}
