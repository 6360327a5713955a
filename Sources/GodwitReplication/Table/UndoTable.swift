internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// An object that a step of the device has changed.
struct UndoneChange: Hashable, Sendable {
    let key: ObjectKey
    var before: VersionedValue?
    var after: VersionedValue?
    /// How the object was changed, where the app has recorded that.
    var recorded: ObjectDelta?
}

/// The rows of a device's own steps, which can be undone or redone.
///
/// A step is numbered by the commit that made it, undid it or redid it last: the newest of those that
/// are not undone is undone next, the newest of those that are is redone next.
enum UndoTable {
    /// The newest step that is undone, or is not.
    static func last(
        of replica: DeviceNumber,
        isUndone: Bool,
        in database: Database
    ) throws -> Int64? {
        let statement = try PreparedStatement(
            "SELECT max(step) FROM godwit_device_undo WHERE replica = ? AND is_undone = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(isUndone, at: 2)
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }

    /// How many steps are undone, or are not.
    static func count(
        of replica: DeviceNumber,
        isUndone: Bool,
        in database: Database
    ) throws -> Int {
        let statement = try PreparedStatement(
            """
            SELECT count(DISTINCT step) FROM godwit_device_undo WHERE replica = ? AND is_undone = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(isUndone, at: 2)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    static func changes(
        of step: Int64,
        _ replica: DeviceNumber,
        in database: Database
    ) throws -> [UndoneChange] {
        let statement = try PreparedStatement(
            """
            SELECT collection, key, before_version, before, after_version, after, recorded
            FROM godwit_device_undo WHERE replica = ? AND step = ? ORDER BY collection, key
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(step, at: 2)
        var changes: [UndoneChange] = []
        while try statement.step() {
            var change = UndoneChange(key: statement.objectKey(0, 1))
            if !statement.isNull(2) { change.before = try statement.object(version: 2, value: 3) }
            if !statement.isNull(4) { change.after = try statement.object(version: 4, value: 5) }
            change.recorded = try statement.delta(6)
            changes.append(change)
        }
        return changes
    }

    static func set(
        _ change: UndoneChange,
        step: Int64,
        isUndone: Bool,
        of replica: DeviceNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR REPLACE INTO godwit_device_undo
                (replica, step, collection, key, before_version, before, after_version, after,
                    recorded, is_undone)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            in: database
        )
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(step, at: 2)
        try statement.bind(change.key.collection, at: 3)
        try statement.bind(change.key.key, at: 4)
        try statement.bind(optional: change.before.map { Int64($0.version) }, at: 5)
        try statement.bind(change.before?.value.canonicalBytes, at: 6)
        try statement.bind(optional: change.after.map { Int64($0.version) }, at: 7)
        try statement.bind(change.after?.value.canonicalBytes, at: 8)
        try statement.bind(change.recorded?.storedBytes, at: 9)
        try statement.bind(isUndone, at: 10)
        try statement.execute()
    }

    static func remove(
        _ step: Int64,
        of replica: DeviceNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_device_undo WHERE replica = ? AND step = ?",
            in: database
        )
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(step, at: 2)
        try statement.execute()
    }

    /// Removes all steps that are undone, and the oldest ones beyond a number.
    static func trim(
        to countMax: Int,
        of replica: DeviceNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            DELETE FROM godwit_device_undo WHERE replica = ?1 AND (is_undone OR step NOT IN (
                SELECT DISTINCT step FROM godwit_device_undo WHERE replica = ?1 AND NOT is_undone
                ORDER BY step DESC LIMIT ?2))
            """,
            in: database
        )
        try statement.bind(replica.rawValue, at: 1)
        try statement.bind(Int64(countMax), at: 2)
        try statement.execute()
    }
}
