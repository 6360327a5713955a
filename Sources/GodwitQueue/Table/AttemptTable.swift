public import Foundation
internal import GRDB
internal import GodwitStore

/// One try of an operation that did not complete it.
public struct Attempt: Hashable, Sendable {
    /// Counted from 1.
    public let number: Int
    public let ended: Date
    /// `retry`, `conflict`, `refused`, `interrupted` or `interrupted beside others`.
    public let outcome: String
    public let reason: String
    /// What was sent and what came back, as far as the executor has told, and without what is
    /// secret.
    public let request: String?
    public let response: String?
}

extension Attempt {
    /// The process ended while this operation ran, and no other one.
    static let interrupted = "interrupted"
    static let interruptedBesideOthers = "interrupted beside others"
}

/// The last attempts of each operation.
enum AttemptTable {
    static let schema = """
        CREATE TABLE godwit_attempt (
            operation INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            ended INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            reason TEXT NOT NULL,
            request TEXT,
            response TEXT,
            PRIMARY KEY (operation, attempt)
        ) STRICT, WITHOUT ROWID;
        """

    /// How many are remembered of one operation.
    static let countMax = 20
    /// How much of a request or a response is remembered.
    static let textSizeMax = 4_096

    static func add(
        _ attempt: Attempt,
        of operation: OperationNumber,
        in database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO godwit_attempt
                    (operation, attempt, ended, outcome, reason, request, response)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                operation.rawValue, attempt.number,
                Int64(attempt.ended.timeIntervalSince1970 * 1_000), attempt.outcome,
                attempt.reason, attempt.request.map { String($0.prefix(textSizeMax)) },
                attempt.response.map { String($0.prefix(textSizeMax)) },
            ]
        )
        try database.execute(
            sql: "DELETE FROM godwit_attempt WHERE operation = ? AND attempt <= ?",
            arguments: [operation.rawValue, attempt.number - countMax]
        )
        try OperationTable.add(.attempts, to: operation, in: database)
    }

    static func attempts(
        of operation: OperationNumber,
        in database: Database
    ) throws -> [Attempt] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT attempt, ended, outcome, reason, request, response FROM godwit_attempt
                WHERE operation = ? ORDER BY attempt
                """,
            arguments: [operation.rawValue]
        ).map { row in
            Attempt(
                number: try row.cell(0),
                ended: Date(timeIntervalSince1970: Double(try row.cell(1) as Int64) / 1_000),
                outcome: try row.cell(2),
                reason: try row.cell(3),
                request: try row.cell(4),
                response: try row.cell(5)
            )
        }
    }

    /// Forgets how often the process has ended while an operation ran.
    static func forgive(_ operation: OperationNumber, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM godwit_attempt WHERE operation = ? AND outcome IN (?, ?)",
            arguments: [
                operation.rawValue, Attempt.interrupted, Attempt.interruptedBesideOthers,
            ]
        )
    }

    static func remove(_ operation: OperationNumber, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM godwit_attempt WHERE operation = ?",
            arguments: [operation.rawValue]
        )
    }
}
