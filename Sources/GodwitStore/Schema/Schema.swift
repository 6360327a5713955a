public import GRDB

/// The tables of one part of Godwit, and the steps in which they came to be.
///
/// Each part counts its own steps in `godwit_schema`, beside the app's migrations and not among
/// them: GRDB's `DatabaseMigrator` takes migrations that it does not know for those of a newer
/// app. A step that was released is never edited again; a change is a new step.
public struct Schema: Sendable {
    public let name: String
    private let steps: [String]

    public init(name: String, steps: [String]) {
        self.name = name
        self.steps = steps
    }

    /// Brings the tables up to date, within the current transaction.
    ///
    /// - Throws: ``StoreError/newerSchema(name:found:known:)`` when a newer program was here.
    public func prepare(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS godwit_schema (
                    name TEXT PRIMARY KEY,
                    version INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID
                """
        )
        let found = try version(in: database)
        guard found <= steps.count else {
            throw StoreError.newerSchema(name: name, found: found, known: steps.count)
        }
        guard found < steps.count else { return }
        for step in steps[found...] { try database.execute(sql: step) }
        try database.execute(
            sql: """
                INSERT INTO godwit_schema (name, version) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET version = excluded.version
                """,
            arguments: [name, steps.count]
        )
    }

    private func version(in database: Database) throws -> Int {
        try Int.fetchOne(
            database,
            sql: "SELECT version FROM godwit_schema WHERE name = ?",
            arguments: [name]
        )
            ?? 0
    }
}
