internal import GRDB
internal import GodwitQueue
internal import GodwitTree

/// The tables of one CloudCore extension, as version 2 or 3 of CloudCore has made them.
struct CloudCoreTables {
    static let versions = 2...3
    private static let queuePrefix = "cloudcore_queue2_"
    private static let oldQueuePrefix = "cloudcore_queue_"

    let name: String
    let hasTags: Bool
    let hasAttachments: Bool
    /// The names of the pipelines, by their rows.
    private let pipelines: [Int64: String]

    /// The extension of a name, or the only one.
    ///
    /// - Returns: nil when the file has none, and none was asked for.
    static func find(_ name: String?, in database: Database) throws -> CloudCoreTables? {
        let tables = try String.fetchAll(
            database,
            sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        )
        let names = tables.compactMap { table in
            [queuePrefix, oldQueuePrefix].first { table.hasPrefix($0) }
                .map { String(table.dropFirst($0.count)) }
        }
        let found = Array(Set(names)).sorted()
        if let name, !found.contains(name) {
            throw YapDatabaseError.noCloudCore(name: name, found: found)
        }
        guard let chosen = name ?? found.first else { return nil }
        guard name != nil || found.count == 1 else {
            throw YapDatabaseError.severalCloudCores(found)
        }
        return try CloudCoreTables(chosen, tables: Set(tables), in: database)
    }

    private init(_ name: String, tables: Set<String>, in database: Database) throws {
        self.name = name
        let version = try Self.version(of: name, in: database)
        let hasQueue = tables.contains(Self.queuePrefix + name)
        let found = version ?? (hasQueue ? Self.versions.upperBound : 1)
        guard found >= Self.versions.lowerBound else {
            let oldest = Self.versions.lowerBound
            throw YapDatabaseError.olderQueue(name: name, found: found, oldest: oldest)
        }
        guard found <= Self.versions.upperBound else {
            let known = Self.versions.upperBound
            throw YapDatabaseError.newerQueue(name: name, found: found, known: known)
        }
        let pipelineTable = (found == 2 ? "cloudcore_pipeline_" : "cloudcore_pipeline3_") + name
        for table in [Self.queuePrefix + name, pipelineTable] where !tables.contains(table) {
            throw YapDatabaseError.unusableQueue(name: name, reason: "it has no table \(table)")
        }
        hasTags = tables.contains("cloudcore_tag_" + name)
        hasAttachments = tables.contains("cloudcore_mapping_" + name)
        pipelines = try Self.naming(name) {
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT rowid, CAST(name AS BLOB) FROM \(Self.quoted(pipelineTable))"
            )
            return rows.map(\.cells).reduce(into: [:]) { pipelines, cells in
                guard let rowid = cells[0].integer, let name = cells[1].wholeText else { return }
                pipelines[rowid] = name
            }
        }
    }

    private static func version(of name: String, in database: Database) throws -> Int? {
        let cell = try Row.fetchOne(
            database,
            sql: "SELECT data FROM yap2 WHERE extension = ? AND key = 'classVersion'",
            arguments: [name]
        )?.cells.first
        switch cell?.storage {
        case .int64(let version): return Int(exactly: version)
        case .string, .blob: return cell?.wholeText.flatMap { Int($0) }
        case .double, .null, nil: return nil
        }
    }

    private static func quoted(_ table: String) -> String {
        "\"" + table.replacing("\"", with: "\"\"") + "\""
    }

    /// Names the extension in what SQLite says about columns that are not there.
    private static func naming<Result>(
        _ name: String,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            let reason = error.message ?? "a table has other columns"
            throw YapDatabaseError.unusableQueue(name: name, reason: reason)
        }
    }

    private func table(_ prefix: String) -> String { Self.quoted(prefix + name) }

    private func rows(_ sql: String, in database: Database) throws -> RowCursor {
        try Self.naming(name) { try Row.fetchCursor(database, sql: sql) }
    }
}

// MARK: - The queue

/// A row of CloudCore's queue.
struct QueueRow {
    let rowid: Int64
    let pipeline: String
    /// nil in a damaged row.
    let snapshot: Int64?
    /// nil in a damaged row.
    let operation: [UInt8]?
}

extension CloudCoreTables {
    /// Calls `body` with the operations of each graph, from the oldest to the newest, in the order in
    /// which they were added.
    ///
    /// One graph is in memory at a time.
    func forEachGraph(in database: Database, _ body: ([QueueRow]) throws -> Void) throws {
        let sql = """
            SELECT rowid, pipelineID, graphID, operation FROM \(table(Self.queuePrefix))
            ORDER BY graphID, rowid
            """
        let cursor = try rows(sql, in: database)
        var graph: [QueueRow] = []
        while let row = try cursor.next() {
            let cells = row.cells
            let next = QueueRow(
                rowid: cells[0].integer ?? 0,
                pipeline: pipeline(cells[1]),
                snapshot: cells[2].integer,
                operation: cells[3].bytes
            )
            if let last = graph.last, last.snapshot != next.snapshot {
                try body(graph)
                graph = []
            }
            graph.append(next)
        }
        if !graph.isEmpty { try body(graph) }
    }

    func operationCount(in database: Database) throws -> Int {
        try Self.naming(name) {
            let sql = "SELECT COUNT(*) FROM \(table(Self.queuePrefix))"
            return try Int.fetchOne(database, sql: sql) ?? 0
        }
    }

    /// CloudCore runs what has no pipeline, or one that is gone, in the default one.
    private func pipeline(_ cell: DatabaseValue) -> String {
        cell.integer.flatMap { pipelines[$0] } ?? Pipeline.defaultName
    }
}

// MARK: - Tags and attachments

extension CloudCoreTables {
    /// Calls `body` with each tag; nil for one that cannot be read.
    func forEachTag(in database: Database, _ body: (CloudTag?) throws -> Void) throws {
        guard hasTags else { return }
        let sql = """
            SELECT CAST(key AS BLOB), CAST(identifier AS BLOB), tag
            FROM \(table("cloudcore_tag_"))
            """
        let cursor = try rows(sql, in: database)
        while let row = try cursor.next() {
            let cells = row.cells
            guard let key = cells[0].wholeText, let identifier = cells[1].wholeText,
                let value = Self.value(of: cells[2])
            else {
                try body(nil)
                continue
            }
            try body(CloudTag(value, for: key, identifier: identifier))
        }
    }

    private static func value(of cell: DatabaseValue) -> Value? {
        switch cell.storage {
        case .int64(let integer): .int(integer)
        case .double(let double): Finite(double).map { .double($0) }
        case .string(let text): .string(Key(text))
        case .blob(let data): .bytes(Array(data))
        case .null: nil
        }
    }

    /// An object, in YapDatabase's own names, and a place in the cloud.
    struct Attachment {
        /// The object's row.
        let row: Int64
        let collection: String
        let key: String
        let uri: String
    }

    /// Calls `body` with each attachment; nil for one of an object that is gone.
    func forEachAttachment(in database: Database, _ body: (Attachment?) throws -> Void) throws {
        guard hasAttachments else { return }
        let sql = """
            SELECT CAST(object.collection AS BLOB), CAST(object.key AS BLOB),
                CAST(mapping.cloudURI AS BLOB), object.rowid
            FROM \(table("cloudcore_mapping_")) AS mapping
            LEFT JOIN database2 AS object ON object.rowid = mapping.database_rowid
            """
        let cursor = try rows(sql, in: database)
        while let row = try cursor.next() {
            let cells = row.cells
            guard let collection = cells[0].wholeText, let key = cells[1].wholeText,
                let uri = cells[2].wholeText, let row = cells[3].integer
            else {
                try body(nil)
                continue
            }
            try body(Attachment(row: row, collection: collection, key: key, uri: uri))
        }
    }
}
