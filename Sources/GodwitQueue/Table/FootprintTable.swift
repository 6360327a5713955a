internal import GRDB
internal import GodwitStore

// The things that unfinished operations touch, with an index that finds the last of them.
//
//   (1) A row says what an operation does to one thing. What it does below a folder follows from the
//       paths in it, and has no row of its own.
//   (2) An operation on a whole folder meets those on things inside by a look at one range of keys,
//       and those on folders around by a look at each of them.
//   (3) A later row that makes another one superfluous hides it: a search finds only the rows that
//       it needs. What the hidden row has an order with, the later one has an order with, too.
//   (4) The index keeps the rows behind each operation apart, and those that are in view from them.
//       So a search among hidden rows costs as little as one among those in view.

/// The rows that the unfinished operations touch.
enum FootprintTable {
    /// A touch as the table has it.
    struct Row: Hashable, Comparable {
        let key: FootprintKey
        let intent: Footprint.Intent

        init(_ key: FootprintKey, _ intent: Footprint.Intent) {
            (self.key, self.intent) = (key, intent)
        }

        static func < (left: Row, right: Row) -> Bool {
            (left.key, left.intent.rawValue) < (right.key, right.intent.rawValue)
        }

        /// Whether this has an order with a row of another operation.
        func conflicts(with other: Row) -> Bool {
            if key == other.key { return intent.conflicts.contains(other.intent) }
            if key.isAbove(other.key) { return intent.conflictsBelow.contains(other.intent) }
            return other.key.isAbove(key) && other.intent.conflictsBelow.contains(intent)
        }
    }

    static let schema = """
        CREATE TABLE godwit_footprint (
            operation INTEGER NOT NULL,
            resource BLOB NOT NULL,
            intent INTEGER NOT NULL,
            shadow INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (operation, resource, intent)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_footprint_search ON godwit_footprint (shadow, intent, resource);
        """

    static func add(_ row: Row, of operation: OperationNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR IGNORE INTO godwit_footprint (resource, intent, operation)
            VALUES (?1, ?2, ?3)
            """,
            in: database
        )
        try statement.bind(row.key.bytes, at: 1)
        try statement.bind(row.intent.rawValue, at: 2)
        try statement.bind(operation.rawValue, at: 3)
        try statement.execute()
    }

    /// The rows of an operation.
    static func rows(of operation: OperationNumber, in database: Database) throws -> Set<Row> {
        let found = try found(
            "SELECT operation, resource, intent FROM godwit_footprint WHERE operation = ?1",
            in: database
        ) { try $0.bind(operation.rawValue, at: 1) }
        return Set(found.map(\.row))
    }

    /// Hides a row behind another operation.
    static func shadow(
        _ found: Found,
        by operation: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_footprint SET shadow = ?4
            WHERE operation = ?1 AND resource = ?2 AND intent = ?3
            """,
            in: database
        )
        try statement.bind(found.operation.rawValue, at: 1)
        try statement.bind(found.row.key.bytes, at: 2)
        try statement.bind(found.row.intent.rawValue, at: 3)
        try statement.bind(operation.rawValue, at: 4)
        try statement.execute()
    }

    /// The operations that an operation stands for, in their order.
    static func shadowed(
        by operation: OperationNumber,
        in database: Database
    ) throws -> [OperationNumber] {
        Set(try rows(behind: operation, in: database).map(\.operation)).sorted()
    }

    /// Forgets an operation; what it stood for is in view again, or behind the one that stood for
    /// it.
    static func remove(_ operation: OperationNumber, in database: Database) throws {
        try passOnTrees(of: operation, in: database)
        let unshadow = try PreparedStatement(
            """
            UPDATE godwit_footprint AS hidden SET shadow = coalesce((
                SELECT own.shadow FROM godwit_footprint AS own
                WHERE own.operation = ?1 AND own.resource = hidden.resource
                    AND own.intent = \(Footprint.Intent.write.rawValue)
                    AND hidden.intent IN (\(SearchText.list(Footprint.Intent.write.shadows)))), 0)
            WHERE shadow = ?1
            """,
            in: database
        )
        try unshadow.bind(operation.rawValue, at: 1)
        try unshadow.execute()
        let statement = try PreparedStatement(
            "DELETE FROM godwit_footprint WHERE operation = ?1",
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        try statement.execute()
    }
}

// MARK: - Searches

extension FootprintTable {
    /// Has what an operation hides in whole folders be hidden by the one that hides the folder.
    private static func passOnTrees(of operation: OperationNumber, in database: Database) throws {
        // Each with the operation that hides it, in the place of its own.
        let trees = try found(
            """
            SELECT shadow, resource, intent FROM godwit_footprint
            WHERE operation = ?1 AND intent = \(Footprint.Intent.writeTree.rawValue) AND shadow <> 0
            """,
            in: database
        ) { try $0.bind(operation.rawValue, at: 1) }
        for tree in trees {
            let statement = try PreparedStatement(
                """
                UPDATE godwit_footprint SET shadow = ?2
                WHERE shadow = ?1 AND resource >= ?3 AND resource < ?4
                """,
                in: database
            )
            try statement.bind(operation.rawValue, at: 1)
            try statement.bind(tree.operation.rawValue, at: 2)
            try statement.bind(tree.row.key.bytes, at: 3)
            try statement.bind(tree.row.key.end.bytes, at: 4)
            try statement.execute()
        }
    }

    /// A row, and the operation that it is of.
    struct Found {
        let operation: OperationNumber
        let row: Row
    }

    /// A row of another operation that has an order with a new one.
    struct Conflict {
        /// The new row.
        let row: Row
        let other: Found

        var operation: OperationNumber { other.operation }
        /// Whether the new row hides the other one from later searches.
        var isSuperfluous: Bool {
            !other.row.key.isAbove(row.key) && row.intent.shadows.contains(other.row.intent)
        }
    }

    /// The rows that have an order with those of a new operation.
    ///
    /// - Parameter withShadowed: Whether those count for which a later one stands.
    static func conflicts(
        with rows: [Row],
        withShadowed: Bool,
        in database: Database
    ) throws -> [Conflict] {
        var conflicts: [Conflict] = []
        for row in rows {
            let others = try same(as: row, in: database) + below(row, in: database)
            conflicts += others.map { Conflict(row: row, other: $0) }
        }
        conflicts += try above(rows, in: database)
        return withShadowed ? try conflicts + hidden(behind: conflicts, in: database) : conflicts
    }

    /// The rows at a key that have an order with a row, among those that an operation hides.
    private static func same(
        as row: Row,
        behind operation: OperationNumber? = nil,
        in database: Database
    ) throws -> [Found] {
        try found(SearchText.same(row.intent), behind: operation, in: database) {
            try $0.bind(row.key.bytes, at: 2)
        }
    }

    /// What is done inside a folder that an operation takes as a whole.
    private static func below(
        _ row: Row,
        behind operation: OperationNumber? = nil,
        in database: Database
    ) throws -> [Found] {
        guard row.key.isPath, !row.intent.conflictsBelow.isEmpty else { return [] }
        return try found(SearchText.below(row.intent), behind: operation, in: database) {
            try $0.bind(row.key.bytes, at: 2)
            try $0.bind(row.key.end.bytes, at: 3)
        }
    }

    /// What takes a folder as a whole in which something is done: each folder is looked at once.
    private static func above(
        _ rows: [Row],
        behind operation: OperationNumber? = nil,
        in database: Database
    ) throws -> [Conflict] {
        var conflicts: [Conflict] = []
        var seen: Set<FootprintKey> = []
        // What is written first: it meets more than what is read.
        for row in rows.filter(\.intent.isWriting) + rows.filter(\.intent.isReading) {
            for ancestor in row.key.ancestors where seen.insert(ancestor).inserted {
                let sql = SearchText.above(isWriting: row.intent.isWriting)
                let others = try found(sql, behind: operation, in: database) {
                    try $0.bind(ancestor.bytes, at: 2)
                }
                conflicts += others.map { Conflict(row: row, other: $0) }
            }
        }
        return conflicts
    }

    /// The hidden rows: those behind the operations that were found, and those behind these.
    private static func hidden(
        behind conflicts: [Conflict],
        in database: Database
    ) throws -> [Conflict] {
        struct Place: Hashable {
            let row: Row
            let operation: OperationNumber
        }
        var (left, seen, hidden) = (conflicts, Set<Place>(), [Conflict]())
        while let conflict = left.popLast() {
            // By (3), a row has an order with what an operation hides only if it has one with the
            // operation itself.
            let (row, operation) = (conflict.row, conflict.operation)
            guard seen.insert(Place(row: row, operation: operation)).inserted else { continue }
            let others =
                try same(as: row, behind: operation, in: database)
                + below(row, behind: operation, in: database)
            let found =
                try others.map { Conflict(row: row, other: $0) }
                + above([row], behind: operation, in: database)
            hidden += found
            left += found
        }
        return hidden
    }

    private static func rows(
        behind operation: OperationNumber,
        in database: Database
    ) throws -> [Found] {
        try found(SearchText.behind, behind: operation, in: database) { _ in }
    }

    /// - Parameter operation: What hides the rows; nil for those in view.
    private static func found(
        _ sql: String,
        behind operation: OperationNumber?,
        in database: Database,
        bind: (PreparedStatement) throws -> Void
    ) throws -> [Found] {
        try found(sql, in: database) {
            try $0.bind(operation?.rawValue ?? 0, at: 1)
            try bind($0)
        }
    }

    private static func found(
        _ sql: String,
        in database: Database,
        bind: (PreparedStatement) throws -> Void
    ) throws -> [Found] {
        let statement = try PreparedStatement(sql, in: database)
        defer { statement.reset() }
        try bind(statement)
        var found: [Found] = []
        while try statement.step() {
            guard let intent = Footprint.Intent(rawValue: statement.integer(2)) else { continue }
            let row = Row(FootprintKey(bytes: Array(statement.blob(1))), intent)
            let operation = OperationNumber(rawValue: statement.integer(0))
            found.append(Found(operation: operation, row: row))
        }
        return found
    }
}

/// The searches for what has an order with an intent, among the rows that one operation hides, or
/// that none does.
private enum SearchText {
    static let behind = "SELECT operation, resource, intent FROM godwit_footprint WHERE shadow = ?1"

    /// A compound of equalities costs less than a list, for which SQLite makes a table; and rows of
    /// other intents in the same folder are not read.
    private static func select(_ intents: [Footprint.Intent], _ condition: String) -> String {
        intents.map { "\(behind) AND intent = \($0.rawValue) AND \(condition)" }
            .joined(separator: " UNION ALL ")
    }

    private static let here = "resource = ?2"

    private static let same = Dictionary(
        uniqueKeysWithValues: Footprint.Intent.allCases.map { ($0, select($0.conflicts, here)) }
    )
    private static let below = Dictionary(
        uniqueKeysWithValues: Footprint.Intent.allCases.map { intent in
            (intent, select(intent.conflictsBelow, "resource > ?2 AND resource < ?3"))
        }
    )
    static func list(_ intents: [Footprint.Intent]) -> String {
        intents.map { "\($0.rawValue)" }.joined(separator: ", ")
    }

    private static let aboveReading = select([.writeTree], here)
    private static let aboveWriting = select([.readTree, .writeTree], here)

    static func same(_ intent: Footprint.Intent) -> String { same[intent, default: ""] }
    static func below(_ intent: Footprint.Intent) -> String { below[intent, default: ""] }
    static func above(isWriting: Bool) -> String { isWriting ? aboveWriting : aboveReading }
}
