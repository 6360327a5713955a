internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of objects with changes that the server has not taken yet.
enum PendingTable {
    private static let columns = "version, base, frozen, batch, tail, rejection, is_doubtful"

    static func all(
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [ObjectKey: PendingObject] {
        try rows(of: replica, where: "TRUE", countMax: .max, in: database)
    }

    /// The objects of the frozen batch, and those whose changes may have reached the server before.
    static func held(
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [ObjectKey: PendingObject] {
        let condition = "(batch IS NOT NULL OR is_doubtful)"
        return try rows(of: replica, where: condition, countMax: .max, in: database)
    }

    /// Some of the other objects that are to be sent, Godwit's own among the first.
    static func others(
        of replica: DeviceNumber,
        countMax: Int64,
        in database: Database
    ) throws -> [ObjectKey: PendingObject] {
        let waiting = "batch IS NULL AND NOT is_doubtful AND rejection IS NULL"
        let reserved = "\(waiting) AND collection >= 'godwit.' AND collection < 'godwit/'"
        let own = try rows(of: replica, where: reserved, countMax: countMax, in: database)
        let some = try rows(of: replica, where: waiting, countMax: countMax, in: database)
        return own.merging(some) { own, _ in own }
    }

    private static func rows(
        of replica: DeviceNumber,
        where condition: String,
        countMax: Int64,
        in database: Database
    ) throws -> [ObjectKey: PendingObject] {
        let statement = try PreparedStatement(
            """
            SELECT \(columns), collection, key FROM godwit_device_pending
            WHERE replica = ? AND \(condition) LIMIT ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(countMax, at: 2)
        var rows: [ObjectKey: PendingObject] = [:]
        while try statement.step() { rows[statement.objectKey(7, 8)] = try statement.pending() }
        return rows
    }

    static func row(
        _ key: ObjectKey,
        of replica: DeviceNumber,
        in database: Database
    ) throws -> PendingObject? {
        let statement = try PreparedStatement(
            """
            SELECT \(columns) FROM godwit_device_pending
            WHERE replica = ? AND collection = ? AND key = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica, key)
        return try statement.step() ? try statement.pending() : nil
    }

    /// Whether an object waits to be sent, or may have been sent by a clone.
    static func isDirty(_ replica: DeviceNumber, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            """
            SELECT EXISTS (
                SELECT 1 FROM godwit_device_pending
                WHERE replica = ? AND (rejection IS NULL OR rejection = 'editedHere'))
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    /// Whether any object has changes that the server has not taken.
    static func hasAny(of replica: DeviceNumber, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT EXISTS (SELECT 1 FROM godwit_device_pending WHERE replica = ?)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    /// Whether any object of a collection has.
    static func hasAny(
        of replica: DeviceNumber,
        in collection: Key,
        _ database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            SELECT EXISTS (
                SELECT 1 FROM godwit_device_pending WHERE replica = ? AND collection = ?)
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(collection, at: 2)
        return try statement.step() && statement.integer(0) != 0
    }

    /// Has those sent again that the device was not allowed to write, or for which the server had no room.
    ///
    /// - Returns: Whether there were any.
    static func releaseHeld(of replica: DeviceNumber, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_device_pending SET rejection = NULL
            WHERE replica = ? AND rejection IN ('denied', 'overQuota')
            """,
            in: database
        )
        try statement.bind(replica.rawValue, at: 1)
        try statement.execute()
        return statement.changedRowCount > 0
    }

    /// How many objects have changes that the server has not taken.
    static func count(of replica: DeviceNumber, in database: Database) throws -> Int {
        let statement = try PreparedStatement(
            "SELECT count(*) FROM godwit_device_pending WHERE replica = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    /// The objects that the server has refused, and why.
    static func rejections(
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [ObjectKey: Rejection.Reason] {
        let statement = try PreparedStatement(
            """
            SELECT collection, key, rejection FROM godwit_device_pending
            WHERE replica = ? AND rejection IS NOT NULL
                AND rejection NOT IN ('refusedHere', 'editedHere')
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        var rejections: [ObjectKey: Rejection.Reason] = [:]
        while try statement.step() {
            rejections[statement.objectKey(0, 1)] = try statement.rejection(2)
        }
        return rejections
    }

    /// The objects that a hook of the app refuses, in the order of their keys.
    static func refused(
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [ObjectKey] {
        try keys(.refusedHere, of: replica, in: database)
    }

    /// Those that the app has written since.
    static func editedAfterRefusal(
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [ObjectKey] {
        try keys(.editedHere, of: replica, in: database)
    }

    private static func keys(
        _ reason: Rejection.Reason,
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [ObjectKey] {
        let statement = try PreparedStatement(
            """
            SELECT collection, key FROM godwit_device_pending
            WHERE replica = ? AND rejection = ? AND rejection IS NOT NULL ORDER BY collection, key
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(reason.rawValue, at: 2)
        var keys: [ObjectKey] = []
        while try statement.step() { keys.append(statement.objectKey(0, 1)) }
        return keys
    }

    /// - Parameter row: nil to remove it.
    static func set(
        _ row: PendingObject?,
        _ key: ObjectKey,
        of replica: DeviceNumber,
        in database: Database
    ) throws {
        guard let row else { return try remove(key, of: replica, in: database) }
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_device_pending (replica, collection, key, \(columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (replica, collection, key) DO UPDATE
            SET version = excluded.version, base = excluded.base, frozen = excluded.frozen,
                batch = excluded.batch, tail = excluded.tail, rejection = excluded.rejection,
                is_doubtful = excluded.is_doubtful
            """,
            in: database
        )
        try statement.bind(replica, key)
        try statement.bind(optional: row.base.map { Int64($0.version) }, at: 4)
        try statement.bind(row.base?.value.canonicalBytes, at: 5)
        try statement.bind(row.frozen?.storedBytes, at: 6)
        try statement.bind(optional: row.batch, at: 7)
        try statement.bind(row.tail?.storedBytes, at: 8)
        if let rejection = row.rejection {
            try statement.bind(rejection.rawValue, at: 9)
        } else {
            try statement.bind(nil as [UInt8]?, at: 9)
        }
        try statement.bind(row.isDoubtful, at: 10)
        try statement.execute()
    }

    private static func remove(
        _ key: ObjectKey,
        of replica: DeviceNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            DELETE FROM godwit_device_pending WHERE replica = ? AND collection = ? AND key = ?
            """,
            in: database
        )
        try statement.bind(replica, key)
        try statement.execute()
    }
}

extension PreparedStatement {
    /// Binds the first three arguments.
    fileprivate func bind(_ replica: DeviceNumber, _ key: ObjectKey) throws {
        try bind(replica.rawValue, at: 1)
        try bind(key.collection, at: 2)
        try bind(key.key, at: 3)
    }

    /// The row in the first columns.
    fileprivate func pending() throws -> PendingObject {
        var row = PendingObject()
        if !isNull(0) { row.base = try object(version: 0, value: 1) }
        row.frozen = try delta(2)
        row.batch = isNull(3) ? nil : integer(3)
        row.tail = try delta(4)
        if !isNull(5) { row.rejection = try rejection(5) }
        row.isDoubtful = integer(6) != 0
        return row
    }

    fileprivate func rejection(_ column: Int32) throws -> Rejection.Reason {
        guard let reason = Rejection.Reason(rawValue: text(column)) else {
            throw ReplicationError.damagedHistory(reason: "a rejection is damaged")
        }
        return reason
    }
}
