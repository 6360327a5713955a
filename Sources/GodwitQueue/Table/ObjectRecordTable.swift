internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// What an operation pushes: the objects, as they were before the change and after it.
///
/// The oldest old value is the base of a merge; the cloud has not seen anything newer from here.
enum ObjectRecordTable {
    static let schema = """
        CREATE TABLE godwit_operation_object (
            operation INTEGER NOT NULL,
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            old BLOB,
            new BLOB,
            PRIMARY KEY (operation, collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_operation_object_key ON godwit_operation_object (collection, key);
        """

    struct Row {
        let key: ObjectKey
        let old: [UInt8]?
        let new: [UInt8]?
    }

    /// Adds a row; where there is one, its old value stays.
    static func add(
        _ row: Row,
        to operation: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_operation_object (operation, collection, key, old, new)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET new = excluded.new
            """,
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        try statement.bind(row.key.collection, at: 2)
        try statement.bind(row.key.key, at: 3)
        try statement.bind(row.old, at: 4)
        try statement.bind(row.new, at: 5)
        try statement.execute()
        try OperationTable.add(.objects, to: operation, in: database)
    }

    /// What was merged is the base from now on.
    static func setBase(
        _ base: [UInt8]?,
        of key: ObjectKey,
        for operation: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_operation_object SET old = ?4
            WHERE operation = ?1 AND collection = ?2 AND key = ?3
            """,
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        try statement.bind(key.collection, at: 2)
        try statement.bind(key.key, at: 3)
        try statement.bind(base, at: 4)
        try statement.execute()
    }

    static func rows(of operation: OperationNumber, in database: Database) throws -> [Row] {
        let statement = try PreparedStatement(
            """
            SELECT collection, key, old, new FROM godwit_operation_object WHERE operation = ?1
            ORDER BY collection, key
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(operation.rawValue, at: 1)
        var rows: [Row] = []
        while try statement.step() {
            let key = ObjectKey(collection: Key(statement.text(0)), key: Key(statement.text(1)))
            rows.append(
                Row(
                    key: key,
                    old: statement.isNull(2) ? nil : Array(statement.blob(2)),
                    new: statement.isNull(3) ? nil : Array(statement.blob(3))
                )
            )
        }
        return rows
    }

    /// The unfinished operations that push an object, in the order of enqueuing.
    static func operations(
        pushing key: ObjectKey,
        in database: Database
    ) throws -> [OperationNumber] {
        let statement = try PreparedStatement(
            """
            SELECT operation FROM godwit_operation_object WHERE collection = ?1 AND key = ?2
            ORDER BY operation
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(key.collection, at: 1)
        try statement.bind(key.key, at: 2)
        var numbers: [OperationNumber] = []
        while try statement.step() {
            numbers.append(OperationNumber(rawValue: statement.integer(0)))
        }
        return numbers
    }

    /// What the first dead letter that pushes an object was built on, `nil` without one: the cloud
    /// has nothing newer.
    static func failedBase(of key: ObjectKey, in database: Database) throws -> [UInt8]?? {
        let statement = try PreparedStatement(
            """
            SELECT object.old FROM godwit_operation_object AS object
            JOIN godwit_operation AS operation ON operation.number = object.operation
            WHERE object.collection = ?1 AND object.key = ?2
                AND operation.state NOT IN (\(QueuedOperation.State.inLine))
            ORDER BY object.operation LIMIT 1
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(key.collection, at: 1)
        try statement.bind(key.key, at: 2)
        guard try statement.step() else { return nil }
        return .some(statement.isNull(0) ? nil : Array(statement.blob(0)))
    }

    static func remove(
        _ key: ObjectKey,
        of operation: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            DELETE FROM godwit_operation_object
            WHERE operation = ?1 AND collection = ?2 AND key = ?3
            """,
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        try statement.bind(key.collection, at: 2)
        try statement.bind(key.key, at: 3)
        try statement.execute()
    }

    static func remove(_ operation: OperationNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_operation_object WHERE operation = ?1",
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        try statement.execute()
    }
}
