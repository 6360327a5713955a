public import GRDB

/// A migration of the app's own tables.
///
/// ```swift
/// var options = Store.Options()
/// options.migrations = [
///     .sql("create price", "CREATE TABLE price (item TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT"),
///     .change("price in cents") { try $0.execute(sql: "UPDATE price SET amount = amount * 100") },
/// ]
/// let store = try Store(.file(path), options: options)
/// ```
///
/// A store that opens runs the migrations that its file has not had yet, in the order of the list and in one
/// transaction. The file remembers them by name: a migration that another branch of the app's code adds in
/// the middle is run, too. Foreign keys are checked when all have run. Never edit a migration that was released, nor its name; add another one. Objects
/// need no migration of this kind; see ``StoreCollection/upgraded(to:_:)``.
public struct StoreMigration: Sendable {
    public let name: String
    fileprivate let body: @Sendable (Database) throws -> Void

    /// One or more statements of SQL.
    public static func sql(_ name: String, _ sql: String) -> StoreMigration {
        change(name) { try $0.execute(sql: sql) }
    }

    /// Whatever the app does to its tables.
    public static func change(
        _ name: String,
        _ body: @escaping @Sendable (Database) throws -> Void
    ) -> StoreMigration {
        StoreMigration(name: name, body: body)
    }
}

/// The migrations of an app, as a file has had them.
struct StoreMigrations {
    private let migrations: [StoreMigration]

    init(_ migrations: [StoreMigration]) {
        precondition(
            Set(migrations.map(\.name)).count == migrations.count,
            "Two migrations have one name"
        )
        self.migrations = migrations
    }

    /// Runs the missing migrations in a transaction.
    ///
    /// Foreign keys are checked at its end: a migration may drop a table that others refer to, and make it
    /// anew, without the rows that refer to it being deleted.
    ///
    /// - Throws: ``StoreError/newerMigrations(_:)`` if a newer app has run others.
    func run(outsideOfTransactionsOf database: Database) throws {
        guard try !missing(in: database).isEmpty else { return }
        // SQLite ignores this within a transaction.
        let isChecking = try Bool.fetchOne(database, sql: "PRAGMA foreign_keys") ?? false
        if isChecking { try database.execute(sql: "PRAGMA foreign_keys = OFF") }
        defer { if isChecking { try? database.execute(sql: "PRAGMA foreign_keys = ON") } }
        try database.inTransaction(.immediate) {
            try run(in: database)
            if isChecking { try database.checkForeignKeys() }
            return .commit
        }
    }

    private func run(in database: Database) throws {
        let missing = try missing(in: database)
        guard !missing.isEmpty else { return }
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS godwit_migration (name TEXT PRIMARY KEY)
                STRICT, WITHOUT ROWID
                """
        )
        for migration in missing {
            try migration.body(database)
            try database.execute(
                sql: "INSERT INTO godwit_migration (name) VALUES (?)",
                arguments: [migration.name]
            )
        }
    }

    /// For those who only read.
    func check(_ database: Database) throws {
        guard let first = try missing(in: database).first else { return }
        let reason = "it lacks the migration '\(first.name)'; open it for writing once"
        throw StoreError.unusable(reason: reason)
    }

    private func missing(in database: Database) throws -> [StoreMigration] {
        let done = try Self.done(in: database)
        let unknown = done.subtracting(migrations.map(\.name))
        // An app without migrations looks at its objects alone: a tool, for instance.
        guard unknown.isEmpty || migrations.isEmpty else {
            throw StoreError.newerMigrations(unknown.sorted())
        }
        return migrations.filter { !done.contains($0.name) }
    }

    private static func done(in database: Database) throws -> Set<String> {
        guard try database.tableExists("godwit_migration") else { return [] }
        return try String.fetchSet(database, sql: "SELECT name FROM godwit_migration")
    }
}
