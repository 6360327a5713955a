internal import GRDB
internal import GodwitTree

/// The rows behind the objects: canonical bytes under a seal that is checked on every read.
enum ObjectTable {
    static let schema = """
        CREATE TABLE godwit_object (
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            value BLOB NOT NULL,
            metadata BLOB,
            version INTEGER NOT NULL,
            commit_number INTEGER NOT NULL,
            seal BLOB NOT NULL,
            PRIMARY KEY (collection, key)
        ) STRICT, WITHOUT ROWID;
        """

    static func object(at key: ObjectKey, in database: Database) throws -> StoredObject? {
        let statement = try PreparedStatement(
            """
            SELECT value, metadata, version, commit_number, seal FROM godwit_object
            WHERE collection = ? AND key = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(key.collection, at: 1)
        try statement.bind(key.key, at: 2)
        if try statement.step() { return try object(at: key, in: statement, from: 0) }
        try confirmAbsence(of: key, in: database)
        return nil
    }

    /// Looks at the rows beside the place where a row would be.
    ///
    /// A damaged key leads SQLite's search astray, and to the damaged row's side: all others are
    /// in order. So what is not found is believed only if its neighbours are sound.
    private static func confirmAbsence(of key: ObjectKey, in database: Database) throws {
        for (side, order) in [(">", "ASC"), ("<", "DESC")] {
            let statement = try PreparedStatement(
                """
                SELECT collection, key, value, metadata, version, commit_number, seal
                FROM godwit_object WHERE (collection, key) \(side) (?, ?)
                ORDER BY collection \(order), key \(order) LIMIT 1
                """,
                in: database
            )
            defer { statement.reset() }
            try statement.bind(key.collection, at: 1)
            try statement.bind(key.key, at: 2)
            guard try statement.step() else { continue }
            let neighbour = ObjectKey(
                collection: Key(statement.text(0)),
                key: Key(statement.text(1))
            )
            guard statement.isText(0), statement.isText(1) else {
                throw StoreError.damagedObject(neighbour)
            }
            _ = try object(at: neighbour, in: statement, from: 2)
        }
    }

    static func exists(_ key: ObjectKey, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT 1 FROM godwit_object WHERE collection = ? AND key = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(key.collection, at: 1)
        try statement.bind(key.key, at: 2)
        return try statement.step()
    }

    /// Adds a row unless there is one under this key.
    ///
    /// - Returns: Whether it was added.
    static func insert(
        _ key: ObjectKey,
        _ object: StoredObject,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_object
                (collection, key, value, metadata, version, commit_number, seal)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (collection, key) DO NOTHING
            """,
            in: database
        )
        try statement.bind(key.collection, at: 1)
        try statement.bind(key.key, at: 2)
        try bind(object, to: statement, from: 3)
        try statement.execute()
        return statement.changedRowCount == 1
    }

    static func update(_ key: ObjectKey, _ object: StoredObject, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_object
            SET value = ?, metadata = ?, version = ?, commit_number = ?, seal = ?
            WHERE collection = ? AND key = ?
            """,
            in: database
        )
        try bind(object, to: statement, from: 1)
        try statement.bind(key.collection, at: 6)
        try statement.bind(key.key, at: 7)
        try statement.execute()
    }

    static func remove(_ key: ObjectKey, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_object WHERE collection = ? AND key = ?",
            in: database
        )
        try statement.bind(key.collection, at: 1)
        try statement.bind(key.key, at: 2)
        try statement.execute()
    }
}

// MARK: - Many rows

extension ObjectTable {
    /// How many objects a range has.
    static func count(of collection: Key, in range: KeyRange, _ database: Database) throws -> Int {
        let statement = try PreparedStatement(
            "SELECT COUNT(*) FROM godwit_object WHERE collection = ?1" + range.condition,
            in: database
        )
        defer { statement.reset() }
        try bind(collection, KeyWalk(range: range), to: statement)
        _ = try statement.step()
        return Int(statement.integer(0))
    }

    /// Walks the keys of a range, without reading the objects, until `body` returns false.
    static func forEachKey(
        of collection: Key,
        _ walk: KeyWalk,
        in database: Database,
        _ body: (String) throws -> Bool
    ) throws {
        let statement = try PreparedStatement(walk.sql(selecting: "key"), in: database)
        defer { statement.reset() }
        try bind(collection, walk, to: statement)
        while try statement.step(), try body(statement.text(0)) {}
    }

    /// Walks the objects of a range until `body` returns false.
    ///
    /// - Parameter total: What a walk to the end of the whole collection must have seen; nil while
    ///   the ledger lags behind, within a write.
    /// - Throws: ``StoreError/damagedCollection(_:)`` when it has not.
    static func forEachObject(
        of collection: Key,
        _ walk: KeyWalk,
        total: Ledger.Total? = nil,
        in database: Database,
        _ body: (String, StoredObject) throws -> Bool
    ) throws {
        let columns = "key, value, metadata, version, commit_number, seal"
        let statement = try PreparedStatement(walk.sql(selecting: columns), in: database)
        defer { statement.reset() }
        try bind(collection, walk, to: statement)
        var seen = Ledger.Total()
        while try statement.step() {
            let key = statement.text(0)
            let place = ObjectKey(collection: collection, key: Key(key))
            // Bytes that became another type read the same, but lead searches astray.
            guard statement.isText(0) else { throw StoreError.damagedObject(place) }
            let object = try object(at: place, in: statement, from: 1)
            seen.add(object)
            guard try body(key, object) else { return }
        }
        guard let total, walk == KeyWalk(order: walk.order) else { return }
        guard seen == total else { throw StoreError.damagedCollection(collection) }
    }

    private static func bind(
        _ collection: Key,
        _ walk: KeyWalk,
        to statement: PreparedStatement
    ) throws {
        try statement.bind(collection, at: 1)
        if let lower = walk.range.lower { try statement.bind(lower, at: 2) }
        if let upper = walk.range.upper { try statement.bind(upper, at: 3) }
        if let limit = walk.limit { try statement.bind(Int64(limit), at: 4) }
    }
}

/// Which keys of a collection are walked, in which direction, and how many.
struct KeyWalk: Equatable {
    var range: KeyRange = .all
    var order: SortDirection = .ascending
    var limit: Int?

    fileprivate func sql(selecting columns: String) -> String {
        "SELECT \(columns) FROM godwit_object WHERE collection = ?1" + range.condition
            + " ORDER BY key" + (order == .descending ? " DESC" : "")
            + (limit == nil ? "" : " LIMIT ?4")
    }
}

extension KeyRange {
    fileprivate var condition: String {
        (lower == nil ? "" : " AND key >= ?2") + (upper == nil ? "" : " AND key < ?3")
    }
}

// MARK: - One row

extension ObjectTable {
    /// The object in the columns value, metadata, version, commit_number, seal.
    static func object(
        at key: ObjectKey,
        in statement: PreparedStatement,
        from column: Int32
    ) throws -> StoredObject {
        try StoredObject(
            at: key,
            value: statement.blob(column),
            metadata: statement.isNull(column + 1) ? nil : statement.blob(column + 1),
            numbers: (
                version: statement.integer(column + 2), commit: statement.integer(column + 3)
            ),
            seal: statement.blob(column + 4)
        )
    }

    private static func bind(
        _ object: StoredObject,
        to statement: PreparedStatement,
        from index: Int32
    ) throws {
        try statement.bind(object.bytes, at: index)
        try statement.bind(object.metadata, at: index + 1)
        try statement.bind(Int64(object.version), at: index + 2)
        try statement.bind(object.commit.rawValue, at: index + 3)
        try statement.bind(object.seal.bytes, at: index + 4)
    }
}
