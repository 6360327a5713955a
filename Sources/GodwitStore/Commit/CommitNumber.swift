internal import GRDB

/// The number of a commit: it only grows, across launches too.
///
/// A write transaction that changes nothing is no commit and takes no number.
public struct CommitNumber: Hashable, Comparable, Sendable, Codable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The number of a store that nobody has written to.
    public static let none = CommitNumber(rawValue: 0)

    public var next: CommitNumber { CommitNumber(rawValue: rawValue + 1) }

    public static func < (left: CommitNumber, right: CommitNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension CommitNumber: CustomStringConvertible {
    public var description: String { String(rawValue) }
}

/// The one row that remembers the last commit.
enum CommitTable {
    static let schema = [
        """
        CREATE TABLE godwit_commit (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            number INTEGER NOT NULL
        ) STRICT;
        INSERT INTO godwit_commit (only, number) VALUES (1, 0);
        """
    ]

    static func last(in database: Database) throws -> CommitNumber {
        let statement = try database.cachedStatement(sql: "SELECT number FROM godwit_commit")
        return CommitNumber(rawValue: try Int64.fetchOne(statement) ?? 0)
    }

    static func record(_ number: CommitNumber, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "UPDATE godwit_commit SET number = ? WHERE number < ?"
        )
        try statement.execute(arguments: [number.rawValue, number.rawValue])
    }
}
