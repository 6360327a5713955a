internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of what clients give back in several pieces, until the last one is there.
enum LineStagingTable {
    /// - Parameter count: How many of the objects to read.
    static func staging(
        of client: ClientID,
        first count: Int64,
        _ line: LineNumber,
        in database: Database
    ) throws -> LineStaging? {
        let statement = try PreparedStatement(
            """
            SELECT epoch, base, baseID, comparedWith, comparedWithID, count
            FROM godwit_line_staging WHERE line = ? AND client = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(client, of: line)
        guard try statement.step() else { return nil }
        return LineStaging(
            purpose: LineStaging.Purpose(
                epoch: Epoch(stored: statement.integer(0)),
                base: LineState(serial: statement.integer(1), id: try statement.stateID(2)),
                comparedWith: LineState(
                    serial: statement.integer(3),
                    id: try statement.stateID(4)
                )
            ),
            count: statement.integer(5),
            objects: try objects(of: client, first: count, line, in: database)
        )
    }

    private static func objects(
        of client: ClientID,
        first count: Int64,
        _ line: LineNumber,
        in database: Database
    ) throws -> [ObjectKey: VersionedValue?] {
        guard count > 0 else { return [:] }
        let statement = try PreparedStatement(
            """
            SELECT collection, key, version, value FROM godwit_line_staged
            WHERE line = ? AND client = ? ORDER BY collection, key LIMIT ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(client, of: line)
        try statement.bind(count, at: 3)
        return try statement.givenObjects()
    }

    static func write(
        _ write: LineStagingWrite,
        replacing old: LineStaging?,
        of client: ClientID,
        _ line: LineNumber,
        in database: Database
    ) throws {
        switch write {
        case .none: break
        case .remove:
            if old != nil { try remove(of: client, line, in: database) }
        case .append(let objects, let count, let purpose):
            if let old, old.count > count {
                try removeObjects(of: client, after: count, line, in: database)
            }
            try insert(objects, of: client, line, in: database)
            let staging = LineStaging(purpose: purpose, count: count + Int64(objects.count))
            try set(staging, of: client, line, in: database)
        }
    }

    static func remove(
        of client: ClientID,
        _ line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_line_staging WHERE line = ? AND client = ?",
            in: database
        )
        try statement.bind(client, of: line)
        try statement.execute()
        try removeObjects(of: client, after: 0, line, in: database)
    }

    private static func removeObjects(
        of client: ClientID,
        after count: Int64,
        _ line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            DELETE FROM godwit_line_staged
            WHERE line = ?1 AND client = ?2 AND (collection, key) IN (
                SELECT collection, key FROM godwit_line_staged
                WHERE line = ?1 AND client = ?2 ORDER BY collection, key LIMIT -1 OFFSET ?3
            )
            """,
            in: database
        )
        try statement.bind(client, of: line)
        try statement.bind(count, at: 3)
        try statement.execute()
    }

    private static func insert(
        _ objects: [ObjectKey: VersionedValue?],
        of client: ClientID,
        _ line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR REPLACE INTO godwit_line_staged
                (line, client, collection, key, version, value)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            in: database
        )
        for (key, object) in objects {
            try statement.bind(client, of: line)
            try statement.bind(given: object, at: key)
            try statement.execute()
        }
    }

    private static func set(
        _ staging: LineStaging,
        of client: ClientID,
        _ line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR REPLACE INTO godwit_line_staging
                (line, client, epoch, base, baseID, comparedWith, comparedWithID, count)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            in: database
        )
        try statement.bind(client, of: line)
        try statement.bind(staging.purpose.epoch.stored, at: 3)
        try statement.bind(staging.purpose.base.serial, at: 4)
        try statement.bind(staging.purpose.base.id.bytes, at: 5)
        try statement.bind(staging.purpose.comparedWith.serial, at: 6)
        try statement.bind(staging.purpose.comparedWith.id.bytes, at: 7)
        try statement.bind(staging.count, at: 8)
        try statement.execute()
    }
}

extension PreparedStatement {
    fileprivate func bind(_ client: ClientID, of line: LineNumber) throws {
        try bind(line.rawValue, at: 1)
        try bind(client.identifier.bytes, at: 2)
    }
}
