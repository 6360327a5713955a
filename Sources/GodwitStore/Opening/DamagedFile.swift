internal import Foundation
internal import GRDB
internal import GodwitTree

/// What was done about a damaged file.
public struct RecoveryReport: Hashable, Sendable {
    /// Why the file was given up.
    public let reason: StoreError
    /// Where the damaged file is now; its `-wal` is beside it.
    public let quarantine: String
    /// How many objects were taken over from it.
    public let objectCount: Int
    /// How many rows of other tables were taken over: operations that wait, and the app's own.
    public let rowCount: Int
}

/// Sets a damaged file aside, and saves what is readable.
enum DamagedFile {
    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    /// Whatever ends this halfway, the next opening goes on: the damaged file stays where it is until
    /// all that could be saved is in another one, under a name that only a whole one has.
    ///
    /// The caller is the only one that has the store open.
    static func recover(
        _ path: String,
        by recovery: StoreOptions.Recovery,
        because reason: StoreError
    ) throws -> RecoveryReport {
        var salvage = Salvage()
        if recovery == .salvage {
            let unfinished = path + "-salvaging"
            try removeAll(unfinished)
            try removeAll(saved(path))
            do {
                try salvage.run(from: path, to: unfinished)
            } catch {
                try? removeAll(unfinished)
                throw error
            }
            if FileManager.default.fileExists(atPath: unfinished) {
                try FileManager.default.moveItem(atPath: unfinished, toPath: saved(path))
            }
        }
        let quarantine = try setAside(path)
        try finishRecovery(of: path)
        return RecoveryReport(
            reason: reason,
            quarantine: quarantine,
            objectCount: salvage.objectCount,
            rowCount: salvage.rowCount
        )
    }

    /// Whether an earlier recovery has ended before what it had saved was in its place.
    static func hasUnfinishedRecovery(of path: String) -> Bool {
        let files = FileManager.default
        return files.fileExists(atPath: saved(path)) && !files.fileExists(atPath: path)
    }

    /// Puts what was saved in the place of a damaged file that is set aside, wholly or in part.
    static func finishRecovery(of path: String) throws {
        let files = FileManager.default
        guard hasUnfinishedRecovery(of: path) else { return }
        // The log of the damaged file must not be taken for the new one's.
        if suffixes.contains(where: { files.fileExists(atPath: path + $0) }) {
            _ = try setAside(path)
        }
        try files.moveItem(atPath: saved(path), toPath: path)
    }

    private static func saved(_ path: String) -> String { path + "-salvaged" }

    private static func removeAll(_ path: String) throws {
        for suffix in suffixes where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Renames the file and what belongs to it; nothing is deleted.
    private static func setAside(_ path: String) throws -> String {
        let files = FileManager.default
        var number = 1
        while suffixes.contains(where: {
            files.fileExists(atPath: "\(path)-damaged-\(number)\($0)")
        }) {
            number += 1
        }
        let quarantine = "\(path)-damaged-\(number)"
        for suffix in suffixes where files.fileExists(atPath: path + suffix) {
            try files.moveItem(atPath: path + suffix, toPath: quarantine + suffix)
        }
        return quarantine
    }
}

/// Copies the readable rows of a damaged file into a new one.
///
/// Each table is walked from its first key on, and from its last key back, until SQLite meets
/// the damage; what lies between is lost. Objects are taken over only with an intact seal. The rows
/// of a table with a column `is_salvaged` say so afterwards.
private struct Salvage {
    var objectCount = 0
    var rowCount = 0
    private var seen: Set<[DatabaseValue]> = []

    /// Without a file at `path`, nothing could be read.
    mutating func run(from damaged: String, to path: String) throws {
        guard let source = try? DatabaseQueue(path: damaged),
            let tables = try? source.read({ try Self.tables(in: $0) })
        else { return }
        // A row whose parent is lost is saved, too.
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let target = try DatabasePool(path: path, configuration: configuration)
        try target.write { database in
            try StoreSchema.schema.prepare(database)
            for table in tables where !table.isTrigger { try? database.execute(sql: table.sql) }
        }
        for table in tables where table.isTable { try copy(table, from: source, to: target) }
        try target.write { database in
            // No trigger takes what is saved for something new.
            for table in tables where table.isTrigger { try? database.execute(sql: table.sql) }
            try mark(tables, in: database)
            try rebuildLedger(in: database)
        }
        try target.close()
        try source.close()
    }

    private struct Table {
        let name: String
        let sql: String

        var isTable: Bool { sql.hasPrefix("CREATE TABLE") }
        var isTrigger: Bool { sql.hasPrefix("CREATE TRIGGER") }
    }

    /// Our own indexes are built anew, and the ledger is counted anew.
    private static func tables(in database: Database) throws -> [Table] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL
                AND name <> 'godwit_ledger' AND name NOT LIKE 'godwit_index%'
                AND name NOT LIKE 'sqlite%'
                ORDER BY type = 'table' DESC
                """
        ).map { Table(name: try $0.cell(0), sql: try $0.cell(1)) }
    }

    private mutating func copy(
        _ table: Table,
        from source: DatabaseQueue,
        to target: DatabasePool
    ) throws {
        seen = []
        for direction in ["ASC", "DESC"] {
            let isWhole = try walk(table, direction, from: source, to: target)
            if isWhole { return }
        }
    }

    /// - Returns: Whether the table was read to its end.
    private mutating func walk(
        _ table: Table,
        _ direction: String,
        from source: DatabaseQueue,
        to target: DatabasePool
    ) throws -> Bool {
        var rows: [Row] = []
        var isWhole = false
        try? source.read { database in
            let columns = try database.primaryKey(table.name).columns
            let order = columns.map { "\"\($0)\" \(direction)" }.joined(separator: ", ")
            // Generated columns are computed anew.
            let stored = try String.fetchAll(
                database,
                sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden NOT IN (2, 3)",
                arguments: [table.name]
            )
            let names = stored.map { "\"\($0)\"" }.joined(separator: ", ")
            let cursor = try Row.fetchCursor(
                database,
                sql: "SELECT \(names) FROM \"\(table.name)\" ORDER BY \(order)"
            )
            while let row = try cursor.next() { rows.append(row.copy()) }
            isWhole = true
        }
        try insert(rows, into: table, of: target)
        return isWhole
    }

    private mutating func insert(_ rows: [Row], into table: Table, of target: DatabasePool) throws {
        var (objects, others) = (0, 0)
        try target.write { database in
            for row in rows {
                if table.name == "godwit_object", !Self.isSound(row) { continue }
                let names = row.columnNames.map { "\"\($0)\"" }.joined(separator: ", ")
                let marks = row.map { _ in "?" }.joined(separator: ", ")
                try database.execute(
                    sql: "INSERT OR IGNORE INTO \"\(table.name)\" (\(names)) VALUES (\(marks))",
                    arguments: StatementArguments(row.databaseValues)
                )
                guard database.changesCount > 0 else { continue }
                if table.name == "godwit_object" { objects += 1 } else { others += 1 }
            }
        }
        objectCount += objects
        rowCount += others
    }

    private static func isSound(_ row: Row) -> Bool {
        guard let collection = String.fromDatabaseValue(row["collection"]),
            let key = String.fromDatabaseValue(row["key"]),
            let value = Data.fromDatabaseValue(row["value"]),
            let seal = Data.fromDatabaseValue(row["seal"]),
            let version = Int64.fromDatabaseValue(row["version"]),
            let commit = Int64.fromDatabaseValue(row["commit_number"])
        else { return false }
        let metadata = Data.fromDatabaseValue(row["metadata"])
        let computed = Seal(
            ObjectKey(collection: Key(collection), key: Key(key)),
            value: Array(value),
            metadata: metadata.map { Array($0) },
            numbers: (version: version, commit: commit)
        )
        return seal.withUnsafeBytes { computed.matches($0) }
    }

    private func mark(_ tables: [Table], in database: Database) throws {
        for table in tables where table.isTable {
            guard let columns = try? database.columns(in: table.name),
                columns.contains(where: { $0.name == "is_salvaged" })
            else { continue }
            try database.execute(sql: "UPDATE \"\(table.name)\" SET is_salvaged = TRUE")
        }
    }

    private func rebuildLedger(in database: Database) throws {
        try database.execute(sql: "DELETE FROM godwit_ledger")
        let last = try Int64.fetchOne(
            database,
            sql: "SELECT MAX(commit_number) FROM godwit_object"
        )
        // Commits that left no object behind may have had higher numbers: leave room for them.
        var ledger = Ledger.State(last: CommitNumber(rawValue: (last ?? 0) + 1_000_000))
        let names = try String.fetchAll(
            database,
            sql: "SELECT DISTINCT collection FROM godwit_object"
        )
        for name in names {
            var total = Ledger.Total()
            try ObjectTable.forEachObject(of: Key(name), KeyWalk(), in: database) { _, object in
                total.add(object)
                return true
            }
            ledger.set(total, of: Key(name))
        }
        try Ledger.create(ledger, in: database)
    }
}
