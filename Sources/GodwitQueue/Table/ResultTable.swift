internal import GRDB
internal import GodwitStore

/// What became of the operations that have left the queue; the last few thousand of them.
enum ResultTable {
    static let schema = """
        CREATE TABLE godwit_fate (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            is_named INTEGER NOT NULL,
            fate TEXT NOT NULL,
            reason TEXT,
            successor INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX godwit_fate_name ON godwit_fate (id) WHERE is_named = 1;
        """

    static func add(
        _ fate: OperationResult,
        of operation: QueuedOperation,
        successor: OperationNumber? = nil,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR REPLACE INTO godwit_fate (number, id, is_named, fate, reason, successor)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            in: database
        )
        try statement.bind(operation.number.rawValue, at: 1)
        try statement.bind(operation.id.description, at: 2)
        try statement.bind(operation.isNamed, at: 3)
        switch fate {
        case .completed: try statement.bind("completed", at: 4)
        case .skipped(let reason):
            try statement.bind("skipped", at: 4)
            try statement.bind(optional: reason, at: 5)
        case .merged(let successor):
            try statement.bind("merged", at: 4)
            try statement.bind(successor.description, at: 5)
        }
        if let successor { try statement.bind(successor.rawValue, at: 6) }
        try statement.execute()
    }

    static func result(of id: OperationID, in database: Database) throws -> OperationResult? {
        let statement = try PreparedStatement(
            """
            SELECT fate, reason FROM godwit_fate WHERE number = ?2 AND id = ?1
            UNION ALL SELECT fate, reason FROM godwit_fate WHERE id = ?1 AND is_named = 1
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(id.description, at: 1)
        try statement.bind(id.suggestedNumber.rawValue, at: 2)
        guard try statement.step() else { return nil }
        let reason = statement.isNull(1) ? nil : statement.text(1)
        switch statement.text(0) {
        case "completed": return .completed
        case "merged": return reason.flatMap(OperationID.init).map(OperationResult.merged)
        default: return .skipped(reason: reason)
        }
    }

    /// What became of the operations that a commit enqueued.
    static func results(
        of commit: CommitNumber,
        in database: Database
    ) throws -> [(OperationID, OperationResult)] {
        let range = OperationNumber.numbers(of: commit)
        let names = try String.fetchAll(
            database,
            sql: "SELECT id FROM godwit_fate WHERE number >= ? AND number < ? ORDER BY number",
            arguments: [range.lowerBound, range.upperBound]
        )
        return try names.compactMap { name in
            guard let id = OperationID(name) else { return nil }
            return try result(of: id, in: database).map { (id, $0) }
        }
    }

    static func result(
        of number: OperationNumber,
        in database: Database
    ) throws -> (OperationID?, OperationResult?)? {
        let id = try String.fetchOne(
            database,
            sql: "SELECT id FROM godwit_fate WHERE number = ?",
            arguments: [number.rawValue]
        ).flatMap(OperationID.init)
        return try id.map { ($0, try result(of: $0, in: database)) }
    }

    /// Forgets all but the last ones, and those whose work is still to be done by others.
    static func trim(to countMax: Int, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM godwit_fate WHERE number <= (
                        SELECT number FROM godwit_fate ORDER BY number DESC LIMIT 1 OFFSET ?)
                    AND NOT EXISTS (
                        SELECT 1 FROM godwit_operation AS doer
                        WHERE doer.number = godwit_fate.successor)
                """,
            arguments: [countMax]
        )
    }
}
