internal import GRDB
internal import GodwitStore
internal import GodwitTree

// The collections of replicas.

extension DeviceTable {
    static func collections(of replica: DeviceNumber, in database: Database) throws -> Set<Key> {
        let statement = try PreparedStatement(
            "SELECT collection FROM godwit_device_collection WHERE replica = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        var collections: Set<Key> = []
        while try statement.step() { collections.insert(Key(statement.text(0))) }
        return collections
    }

    /// Whether a collection is in a replica.
    static func isReplicated(_ collection: Key, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT EXISTS (SELECT 1 FROM godwit_device_collection WHERE collection = ?)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(collection, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    /// Whether a collection has no objects, and is in no replica.
    static func isFree(_ collection: Key, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            """
            SELECT EXISTS (SELECT 1 FROM godwit_object WHERE collection = ?1)
                OR EXISTS (SELECT 1 FROM godwit_device_collection WHERE collection = ?1)
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(collection, at: 1)
        return try statement.step() && statement.integer(0) == 0
    }

    /// Makes a collection part of a replica, with the records of its conflicts and its rules: the objects
    /// that it has are sent as new ones.
    static func join(
        _ collection: Key,
        to replica: DeviceNumber,
        in database: Database
    ) throws {
        for record in ReplicaCollection.records(about: collection) {
            try join(record, to: replica, in: database)
        }
        let insert = try PreparedStatement(
            """
            INSERT INTO godwit_device_collection (replica, collection, count, sum)
            VALUES (?, ?, ?, ?) ON CONFLICT (collection, replica) DO NOTHING
            """,
            in: database
        )
        try insert.bind(replica.rawValue, at: 1)
        try insert.bind(collection, at: 2)
        try insert.bind(CollectionSum.empty.count, at: 3)
        try insert.bind(CollectionSum.empty.sum.bytes, at: 4)
        try insert.execute()
        guard insert.changedRowCount > 0 else { return }
        let objects = try PreparedStatement(
            """
            INSERT INTO godwit_device_pending (replica, collection, key)
            SELECT ?1, collection, key FROM godwit_object WHERE collection = ?2
            ON CONFLICT (replica, collection, key) DO NOTHING
            """,
            in: database
        )
        try objects.bind(replica.rawValue, at: 1)
        try objects.bind(collection, at: 2)
        try objects.execute()
    }

    static func sums(
        of replica: DeviceNumber,
        in database: Database
    ) throws -> [Key: CollectionSum] {
        let statement = try PreparedStatement(
            "SELECT collection, count, sum FROM godwit_device_collection WHERE replica = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        var sums: [Key: CollectionSum] = [:]
        while try statement.step() {
            let sum = CollectionSum(count: statement.integer(1), sum: try statement.setHash(2))
            if sum != .empty { sums[Key(statement.text(0))] = sum }
        }
        return sums
    }

    static func set(
        _ sum: CollectionSum,
        of collection: Key,
        _ replica: DeviceNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_device_collection SET count = ?, sum = ?
            WHERE collection = ? AND replica = ?
            """,
            in: database
        )
        try statement.bind(sum.count, at: 1)
        try statement.bind(sum.sum.bytes, at: 2)
        try statement.bind(collection, at: 3)
        try statement.bind(replica.rawValue, at: 4)
        try statement.execute()
        guard statement.changedRowCount == 1 else { throw damage("a collection is missing") }
    }
}

// MARK: - Objects

extension DeviceTable {
    /// Whether a collection has objects in the store.
    static func hasObjects(_ collection: Key, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT EXISTS (SELECT 1 FROM godwit_object WHERE collection = ?)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(collection, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    /// How many bytes an object has in the store; 0 where there is none.
    static func sizeInBytes(of key: ObjectKey, in database: Database) throws -> Int {
        let statement = try PreparedStatement(
            "SELECT length(value) FROM godwit_object WHERE collection = ? AND key = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(key.collection, at: 1)
        try statement.bind(key.key, at: 2)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }
}
