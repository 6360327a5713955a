package import GRDB

/// The tables of one part of Godwit, and the steps in which they came to be.
///
/// Each part counts its own steps in `godwit_schema`, beside an app's GRDB migrations and not
/// among them: GRDB's `DatabaseMigrator` takes migrations that it does not know for those of a
/// newer app. A step that was released is never edited again; a change is a new step.
package struct TableSchema: Sendable {
    /// One step; all missing ones run in one transaction.
    package enum Step: Sendable {
        case sql(String)
        case change(@Sendable (Database) throws -> Void)
    }

    package let name: String
    /// The version that the first step makes; tables of an older one are refused.
    private let oldest: Int
    private let steps: [Step]

    /// - Parameter oldest: The version that the first step makes. A part that no longer upgrades
    ///   tables from before some version begins with that one.
    package init(name: String, oldest: Int = 1, steps: [Step]) {
        self.name = name
        self.oldest = oldest
        self.steps = steps
    }

    private var latest: Int { oldest + steps.count - 1 }

    /// Brings the tables up to date, within the current transaction.
    ///
    /// - Throws: ``StoreError/newerSchema(name:found:known:)`` when a newer program was here,
    ///   ``StoreError/olderSchema(name:found:oldest:)`` when the tables are too old.
    package func prepare(_ database: Database) throws {
        try refuseOther(database)
        let found = try version(in: database)
        guard found < latest else { return }
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS godwit_schema (
                    name TEXT PRIMARY KEY,
                    version INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID
                """
        )
        for step in steps[max(0, found - oldest + 1)...] {
            switch step {
            case .sql(let sql): try database.execute(sql: sql)
            case .change(let change): try change(database)
            }
        }
        try database.execute(
            sql: """
                INSERT INTO godwit_schema (name, version) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET version = excluded.version
                """,
            arguments: [name, latest]
        )
    }

    /// Refuses tables of versions that this program cannot bring up to date.
    func refuseOther(_ database: Database) throws {
        let found = try version(in: database)
        guard found <= latest else {
            throw StoreError.newerSchema(name: name, found: found, known: latest)
        }
        guard found == 0 || found >= oldest else {
            throw StoreError.olderSchema(name: name, found: found, oldest: oldest)
        }
    }

    /// For those who only read: the tables must be as this program knows them.
    func check(_ database: Database) throws {
        try refuseOther(database)
        guard try isPrepared(in: database) else {
            let reason = "its \(name) is of an older version; open it for writing once"
            throw StoreError.unusable(reason: reason)
        }
    }

    /// Whether nothing is left to be done.
    func isPrepared(in database: Database) throws -> Bool {
        try version(in: database) == latest
    }

    private func version(in database: Database) throws -> Int {
        guard try database.tableExists("godwit_schema") else { return 0 }
        return try Int.fetchOne(
            database,
            sql: "SELECT version FROM godwit_schema WHERE name = ?",
            arguments: [name]
        ) ?? 0
    }
}
