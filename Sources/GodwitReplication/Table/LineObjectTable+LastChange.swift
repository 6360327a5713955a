internal import GRDB
internal import GodwitStore
internal import GodwitTree

extension LineObjectTable {
    /// Which clients have changed some objects last.
    ///
    /// - Returns: Those of the objects that are there, and were changed by a server that notes it.
    static func lastChanges(
        of keys: [ObjectKey],
        _ line: LineNumber,
        in database: Database
    ) throws -> [ObjectKey: LastChange] {
        var changes: [ObjectKey: LastChange] = [:]
        for key in keys {
            let statement = try PreparedStatement(
                """
                SELECT client, serial, changed FROM godwit_line_object
                WHERE line = ? AND collection = ? AND key = ? AND client IS NOT NULL
                """,
                in: database
            )
            defer { statement.reset() }
            try statement.bind(line, key)
            if try statement.step() { changes[key] = try statement.lastChange(0) }
        }
        return changes
    }

    /// Which clients have changed the objects of a line last, in the order of the objects' keys.
    static func allLastChanges(
        of line: LineNumber,
        in database: Database
    ) throws -> [(key: ObjectKey, change: LastChange)] {
        let statement = try PreparedStatement(
            """
            SELECT client, serial, changed, collection, key FROM godwit_line_object
            WHERE line = ? AND client IS NOT NULL ORDER BY collection, key
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        var changes: [(key: ObjectKey, change: LastChange)] = []
        while try statement.step() {
            changes.append((statement.objectKey(3, 4), try statement.lastChange(0)))
        }
        return changes
    }
}

extension PreparedStatement {
    /// A change from three columns: client, serial and milliseconds.
    fileprivate func lastChange(_ column: Int32) throws -> LastChange {
        LastChange(
            client: try clientID(column),
            serial: integer(column + 1),
            millisecondsSince1970: integer(column + 2)
        )
    }
}
