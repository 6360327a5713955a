internal import GRDB

/// A row of YapDatabase's table of objects.
struct YapObjectRow {
    let rowid: Int64
    let collection: DatabaseValue
    let key: DatabaseValue
    let data: DatabaseValue
    let metadata: DatabaseValue

    /// How many rows are read at once, and how many bytes.
    static let batchMax = 500
    static let batchSizeInBytes = 1 << 20

    /// The rows after one, in their order; none at the end.
    static func batch(
        after rowid: Int64?,
        in collections: Set<String>?,
        _ database: Database
    ) throws -> [YapObjectRow] {
        var arguments: [any DatabaseValueConvertible] = []
        var conditions: [String] = []
        if let rowid {
            conditions.append("rowid > ?")
            arguments.append(rowid)
        }
        if let collections {
            let marks = collections.map { _ in "?" }.joined(separator: ", ")
            // The plus keeps SQLite from an index, after which it would sort the rest for each batch.
            conditions.append("+collection IN (\(marks))")
            arguments += collections.sorted()
        }
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let cursor = try Row.fetchCursor(
            database,
            sql: """
                SELECT rowid, CAST(collection AS BLOB), CAST(key AS BLOB), data, metadata
                FROM database2 \(filter) ORDER BY rowid LIMIT \(batchMax)
                """,
            arguments: StatementArguments(arguments)
        )
        var rows: [YapObjectRow] = []
        var size = 0
        while size < batchSizeInBytes, let row = try cursor.next() {
            let cells = row.cells
            guard cells.count == 5, let rowid = cells[0].integer else { continue }
            rows.append(
                YapObjectRow(
                    rowid: rowid,
                    collection: cells[1],
                    key: cells[2],
                    data: cells[3],
                    metadata: cells[4]
                )
            )
            size += (cells[3].bytes?.count ?? 0) + (cells[4].bytes?.count ?? 0)
        }
        return rows
    }

    /// The bytes of one object; nil when it has none.
    static func bytes(of rowid: Int64, in database: Database) throws -> [UInt8]? {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT data FROM database2 WHERE rowid = ?",
            arguments: [rowid]
        )
        return row?.cells.first?.bytes
    }
}
