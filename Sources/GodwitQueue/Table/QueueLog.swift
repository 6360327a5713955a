internal import GRDB
internal import GodwitStore

/// Which operations recent commits have changed, for the other processes that share the store.
///
/// Written only where there may be others.
enum QueueLog {
    static let schema = """
        CREATE TABLE godwit_queue_change (
            commit_number INTEGER NOT NULL,
            operation INTEGER NOT NULL,
            PRIMARY KEY (commit_number, operation)
        ) STRICT, WITHOUT ROWID;
        """

    /// How many commits are kept; who has missed more reads everything.
    static let commitMax: Int64 = 10_000
    /// Stands for the suspensions of pipelines.
    static let suspensions = OperationNumber(rawValue: 0)
    /// Stands for the order of pipelines; commits begin with 1.
    static let orders = OperationNumber(rawValue: 1)

    static func append(
        _ changes: [QueueChange],
        of commit: CommitNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "INSERT OR IGNORE INTO godwit_queue_change (commit_number, operation) VALUES (?1, ?2)",
            in: database
        )
        for change in changes {
            try statement.bind(commit.rawValue, at: 1)
            try statement.bind(change.number.rawValue, at: 2)
            try statement.execute()
        }
        let trim = try PreparedStatement(
            "DELETE FROM godwit_queue_change WHERE commit_number <= ?1",
            in: database
        )
        try trim.bind(commit.rawValue - commitMax, at: 1)
        try trim.execute()
    }

    /// The operations that some commits have changed.
    static func numbers(
        of commits: ClosedRange<CommitNumber>,
        in database: Database
    ) throws -> [OperationNumber] {
        let statement = try PreparedStatement(
            """
            SELECT DISTINCT operation FROM godwit_queue_change
            WHERE commit_number BETWEEN ?1 AND ?2 ORDER BY operation
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(commits.lowerBound.rawValue, at: 1)
        try statement.bind(commits.upperBound.rawValue, at: 2)
        var numbers: [OperationNumber] = []
        while try statement.step() {
            numbers.append(OperationNumber(rawValue: statement.integer(0)))
        }
        return numbers
    }
}

extension QueueLog {
    /// Whether a later commit has changed an operation, too.
    static func hasLater(
        than commit: CommitNumber,
        _ operation: OperationNumber,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            SELECT EXISTS (
                SELECT 1 FROM godwit_queue_change WHERE commit_number > ?1 AND operation = ?2
            )
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(commit.rawValue, at: 1)
        try statement.bind(operation.rawValue, at: 2)
        return try statement.step() && statement.integer(0) != 0
    }
}

/// What others have done to the queue, as one transaction shows it.
///
/// Of an operation that a later commit has ended, the news of that commit tell.
struct QueueNews: Sendable {
    enum Item: Sendable {
        case unfinished(QueueChange.Enqueued, epoch: Int64?, holds: [HoldTable.Row])
        case gone(OperationNumber, OperationID?, OperationResult?)
    }

    let items: [Item]
    /// nil when they are what they were.
    let suspensions: Set<StoredSuspension>?

    init(of commits: ClosedRange<CommitNumber>, in database: Database) throws {
        let numbers = try QueueLog.numbers(of: commits, in: database)
        let others: Set = [QueueLog.suspensions, QueueLog.orders]
        items = try numbers.filter { !others.contains($0) }.compactMap { number -> Item? in
            guard let operation = try OperationTable.operation(number, in: database) else {
                guard try !QueueLog.hasLater(than: commits.upperBound, number, in: database) else {
                    return nil
                }
                let (id, fate) = try ResultTable.result(of: number, in: database) ?? (nil, nil)
                return .gone(number, id, fate)
            }
            let change = QueueChange.Enqueued(
                outline: OperationTable.Outline(operation),
                id: operation.id,
                needs: try DependencyTable.needs(of: number, in: database).map(\.need)
            )
            let holds = try HoldTable.rows(of: number, in: database)
            return .unfinished(change, epoch: operation.epoch, holds: holds)
        }
        suspensions =
            numbers.contains(QueueLog.suspensions)
            ? Set(
                try SuspensionTable.all(in: database).map {
                    StoredSuspension(pipeline: $0, reason: $1)
                }
            ) : nil
    }
}
