internal import GRDB
internal import GodwitTree

/// How many objects each collection has, a checksum over all of them, and the last commit.
///
/// The rows lie together in one page, so that each commit writes this one page more and not two.
/// They make counting O(1), and tell when a walk over a collection has not seen all of it:
/// damage inside a B-tree can hide rows without SQLite noticing.
enum Ledger {
    /// The sum of a collection's objects.
    struct Total: Hashable, Sendable {
        var count: Int64 = 0
        /// The first words of all seals, combined by exclusive or.
        var checksum: UInt64 = 0

        mutating func add(_ object: StoredObject) {
            count += 1
            checksum ^= object.seal.high
        }

        mutating func remove(_ object: StoredObject) {
            count -= 1
            checksum ^= object.seal.high
        }
    }

    /// The whole ledger in memory: the one who writes it need not read it.
    struct State: Sendable {
        struct Slot: Sendable {
            let number: Int64
            var total = Total()
            /// Whether the row is there, or still to be inserted.
            var isStored = true
        }

        var last: CommitNumber = .none
        fileprivate(set) var collections: [Key: Slot] = [:]

        func total(of collection: Key) -> Total { collections[collection]?.total ?? Total() }

        mutating func set(_ total: Total, of collection: Key) {
            let next = Slot(number: Int64(collections.count + 1), isStored: false)
            collections[collection, default: next].total = total
        }
    }

    /// Slot 0 is the store itself: it has no collection, and the token of the last commit for a
    /// checksum.
    static let schema = """
        CREATE TABLE godwit_ledger (
            slot INTEGER PRIMARY KEY,
            collection TEXT UNIQUE,
            commit_number INTEGER NOT NULL,
            object_count INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            seal BLOB NOT NULL
        ) STRICT;
        """

    static func last(in database: Database) throws -> CommitNumber {
        try head(in: database).last
    }

    /// The last commit, and which transaction has made it.
    struct Head {
        let last: CommitNumber
        /// Zero where it was one of the store's own.
        let token: UInt64
    }

    static func head(in database: Database) throws -> Head {
        let statement = try PreparedStatement(
            """
            SELECT commit_number, object_count, checksum, seal FROM godwit_ledger WHERE slot = 0
            """,
            in: database
        )
        defer { statement.reset() }
        guard try statement.step() else { throw damage("the row of the last commit is missing") }
        let numbers = (0..<3).map { statement.integer($0) }
        guard Seal(collection: nil, numbers).matches(statement.blob(3)) else {
            throw damage("the number of the last commit is damaged")
        }
        return Head(
            last: CommitNumber(rawValue: numbers[0]),
            token: UInt64(bitPattern: numbers[2])
        )
    }

    static func total(of collection: Key, in database: Database) throws -> Total {
        let statement = try PreparedStatement(
            """
            SELECT commit_number, object_count, checksum, seal FROM godwit_ledger
            WHERE collection = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(collection, at: 1)
        guard try statement.step() else { return Total() }
        let numbers = (0..<3).map { statement.integer($0) }
        guard Seal(collection: collection, numbers).matches(statement.blob(3)) else {
            throw damage("the total of \(collection) is damaged")
        }
        return Total(count: numbers[1], checksum: UInt64(bitPattern: numbers[2]))
    }

    static func collections(in database: Database) throws -> [Key] {
        let statement = try PreparedStatement(
            """
            SELECT collection FROM godwit_ledger WHERE slot > 0 AND object_count > 0
            ORDER BY collection
            """,
            in: database
        )
        defer { statement.reset() }
        var collections: [Key] = []
        while try statement.step() { collections.append(Key(statement.text(0))) }
        return collections
    }

    /// All collections as the database has them.
    static func state(in database: Database) throws -> State {
        var state = State(last: try last(in: database))
        let statement = try PreparedStatement(
            "SELECT slot, collection FROM godwit_ledger WHERE slot > 0",
            in: database
        )
        defer { statement.reset() }
        while try statement.step() {
            let collection = Key(statement.text(1))
            let total = try total(of: collection, in: database)
            state.collections[collection] = State.Slot(number: statement.integer(0), total: total)
        }
        return state
    }

    /// Writes down all of it, into an empty table.
    static func create(_ state: State, in database: Database) throws {
        try insert(State.Slot(number: 0), nil, state.last, in: database)
        for (collection, slot) in state.collections {
            try insert(slot, collection, state.last, in: database)
        }
    }

    /// Writes down the last commit, and what it has made of some collections.
    ///
    /// - Parameter token: A number of the transaction's own, if the app has begun it.
    static func record(
        _ state: inout State,
        changed: some Sequence<Key>,
        token: UInt64,
        in database: Database
    ) throws {
        let total = Total(checksum: token)
        try update(State.Slot(number: 0, total: total), nil, state.last, in: database)
        for collection in changed {
            guard let slot = state.collections[collection] else { continue }
            if slot.isStored {
                try update(slot, collection, state.last, in: database)
            } else {
                try insert(slot, collection, state.last, in: database)
                state.collections[collection]?.isStored = true
            }
        }
    }

    /// Writes the row of the last commit anew, as another row: SQLite leaves a page alone that is
    /// given what it holds.
    static func rewrite(_ last: CommitNumber, in database: Database) throws {
        let count = try Int64.fetchOne(
            database,
            sql: "SELECT object_count FROM godwit_ledger WHERE slot = 0"
        )
        let total = Total(count: (count ?? 0) == 0 ? 1 : 0)
        try update(State.Slot(number: 0, total: total), nil, last, in: database)
    }

    private static func update(
        _ slot: State.Slot,
        _ collection: Key?,
        _ commit: CommitNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_ledger SET commit_number = ?2, object_count = ?3, checksum = ?4, seal = ?5
            WHERE slot = ?1
            """,
            in: database
        )
        try bind(slot, collection, commit, to: statement)
        try statement.execute()
        guard statement.changedRowCount == 1 else { throw damage("a row is missing") }
    }

    private static func insert(
        _ slot: State.Slot,
        _ collection: Key?,
        _ commit: CommitNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_ledger
                (slot, commit_number, object_count, checksum, seal, collection)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            in: database
        )
        try bind(slot, collection, commit, to: statement)
        if let collection { try statement.bind(collection, at: 6) }
        try statement.execute()
    }

    private static func bind(
        _ slot: State.Slot,
        _ collection: Key?,
        _ commit: CommitNumber,
        to statement: PreparedStatement
    ) throws {
        let total = slot.total
        let numbers = [commit.rawValue, total.count, Int64(bitPattern: total.checksum)]
        try statement.bind(slot.number, at: 1)
        for (index, number) in numbers.enumerated() {
            try statement.bind(number, at: Int32(index + 2))
        }
        try statement.bind(Seal(collection: collection, numbers).bytes, at: 5)
    }

    private static func damage(_ reason: String) -> StoreError {
        .damagedLedger(reason: reason)
    }
}
