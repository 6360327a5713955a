internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of objects that a comparison has found on the server, until it ends.
///
/// A first download that is cut off goes on where it was.
enum FetchedTable {
    static func hasAny(of replica: DeviceNumber, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT EXISTS (SELECT 1 FROM godwit_device_fetched WHERE replica = ?)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    /// The server's objects; nil where it had none.
    ///
    /// A damaged row is left out: the comparison finds its object again.
    static func all(
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [ObjectKey: VersionedValue?] {
        let statement = try PreparedStatement(
            "SELECT collection, key, version, value FROM godwit_device_fetched WHERE replica = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        var objects: [ObjectKey: VersionedValue?] = [:]
        while try statement.step() {
            let key = statement.objectKey(0, 1)
            if statement.isNull(2) {
                objects[key] = .some(nil)
            } else if let object = try? statement.object(version: 2, value: 3) {
                objects[key] = object
            }
        }
        return objects
    }

    static func insert(
        _ objects: [ObjectKey: VersionedValue?],
        of replica: DeviceNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR REPLACE INTO godwit_device_fetched
                (replica, collection, key, version, value)
            VALUES (?, ?, ?, ?, ?)
            """,
            in: database
        )
        for (key, object) in objects {
            try statement.bind(replica.rawValue, at: 1)
            try statement.bind(key.collection, at: 2)
            try statement.bind(key.key, at: 3)
            try statement.bind(optional: object.map { Int64($0.version) }, at: 4)
            try statement.bind(object?.value.canonicalBytes, at: 5)
            try statement.execute()
        }
    }

    static func removeAll(of replica: DeviceNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_device_fetched WHERE replica = ?",
            in: database
        )
        try statement.bind(replica.rawValue, at: 1)
        try statement.execute()
    }
}
