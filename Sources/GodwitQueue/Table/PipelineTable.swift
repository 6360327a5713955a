internal import GRDB
internal import GodwitStore

/// The pipelines that the app has, and those that are suspended over launches.
enum PipelineTable {
    static let schema = """
        CREATE TABLE godwit_pipeline (
            name TEXT PRIMARY KEY,
            keeps_order INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// The name under which all pipelines are suspended.
    static let all = ""

    /// The pipelines of the last launch, and whether each keeps the order of commits.
    static func pipelines(in database: Database) throws -> [String: Bool] {
        try Row.fetchAll(database, sql: "SELECT name, keeps_order FROM godwit_pipeline")
            .reduce(into: [:]) { $0[try $1.cell(0)] = try $1.cell(1) as Bool }
    }

    /// Whether a pipeline kept the order of commits at its last launch; not, if there was none.
    static func keepsOrder(_ name: String, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT keeps_order FROM godwit_pipeline WHERE name = ?1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(name, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    static func set(_ name: String, keepsOrder: Bool, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO godwit_pipeline (name, keeps_order) VALUES (?, ?)
                ON CONFLICT DO UPDATE SET keeps_order = excluded.keeps_order
                """,
            arguments: [name, keepsOrder]
        )
    }

    static func remove(_ name: String, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM godwit_pipeline WHERE name = ?",
            arguments: [name]
        )
    }

    /// Remembers a pipeline that this process does not run.
    static func mention(_ name: String, keepsOrder: Bool = false, in database: Database) throws {
        let statement = try PreparedStatement(
            "INSERT OR IGNORE INTO godwit_pipeline (name, keeps_order) VALUES (?1, ?2)",
            in: database
        )
        try statement.bind(name, at: 1)
        try statement.bind(keepsOrder, at: 2)
        try statement.execute()
    }
}

enum SuspensionTable {
    static let schema = """
        CREATE TABLE godwit_suspension (
            pipeline TEXT NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (pipeline, reason)
        ) STRICT, WITHOUT ROWID;
        """

    /// - Returns: Whether it is new.
    static func add(_ pipeline: String, reason: String, in database: Database) throws -> Bool {
        try database.execute(
            sql: "INSERT OR IGNORE INTO godwit_suspension (pipeline, reason) VALUES (?, ?)",
            arguments: [pipeline, reason]
        )
        return database.changesCount == 1
    }

    /// - Returns: Whether it was there.
    static func remove(_ pipeline: String, reason: String, in database: Database) throws -> Bool {
        try database.execute(
            sql: "DELETE FROM godwit_suspension WHERE pipeline = ? AND reason = ?",
            arguments: [pipeline, reason]
        )
        return database.changesCount == 1
    }

    static func all(in database: Database) throws -> [(pipeline: String, reason: String)] {
        try Row.fetchAll(
            database,
            sql: "SELECT pipeline, reason FROM godwit_suspension ORDER BY pipeline, reason"
        ).map { (try $0.cell(0), try $0.cell(1)) }
    }
}

/// A suspension that outlives the launch; one reason counts once.
struct StoredSuspension: Hashable {
    let pipeline: String
    let reason: String

    var isOfAll: Bool { pipeline == PipelineTable.all }
}
