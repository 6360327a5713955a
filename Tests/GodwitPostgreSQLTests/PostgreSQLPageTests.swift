#if PostgreSQL
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitPostgreSQL
@testable import GodwitReplication

/// Large rows are read in pages, because libpq keeps a whole result in memory.
///
/// Each row of these tests is larger than a page, so that each has one of its own.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct PostgreSQLPageTests {
    private static let count = 6
    private static let line = LineNumber(.tested)

    private static let objects = Dictionary(
        uniqueKeysWithValues: (0..<count).map { number in
            let text = String(repeating: "\(number)", count: 3 << 19)
            let key = ObjectKey(collection: "cards", key: Key("c\(number)"))
            return (key, VersionedValue(.string(Key(text))))
        }
    )

    @Test func `objects that are asked for by their keys are read page by page`() async throws {
        let missing = ["a", "c2x", "z"].map { ObjectKey(collection: "cards", key: Key($0)) }
        let (found, count) = try await counting("godwit_line_object") { session in
            let writes = Self.objects.mapValues { object in
                LineObjectWrite(
                    value: object,
                    hash: SetHash(bytes: ContentSum.empty.all.bytes),
                    growth: 0,
                    entry: LineEntry(serial: 1, forward: .set(object), backward: .removed)
                )
            }
            try LineObjectRow.write(
                writes,
                by: ClientID(Identifiers.random.next()),
                at: 0,
                of: Self.line,
                on: session
            )
            return try LineObjectRow.objects(
                since: 1,
                and: { Set(Self.objects.keys).union(missing) },
                countMax: .max,
                of: Self.line,
                on: session
            )
        }
        #expect(found?.compactMapValues(\.value) == Self.objects)
        #expect(count >= Self.count)
    }

    @Test func `changes that are folded are read page by page`() async throws {
        let (folded, count) = try await counting("godwit_line_entry AS later") { session in
            for serial: Int64 in 2...3 {
                let entries = Self.objects.map { key, object in
                    let change = ObjectDelta.set(object)
                    return (key, LineEntry(serial: serial, forward: change, backward: .removed))
                }
                try LineEntryRow.set(entries, of: Self.line, on: session)
            }
            let count = try LineEntryRow.fold(
                around: 2,
                between: 1,
                and: 3,
                rowMax: 100,
                of: Self.line,
                on: session
            )
            #expect(count == Self.count)
            return try LineEntryRow.entries(
                after: 0,
                countMax: .max,
                of: Self.line,
                on: session
            )
        }
        #expect(folded?.mapValues { $0.map(\.serial) } == Self.objects.mapValues { _ in [3] })
        #expect(count >= Self.count)
    }

    @Test func `what clients have given back is read page by page`() async throws {
        let given = Self.objects.mapValues { Optional($0) }.merging(
            [ObjectKey(collection: "cards", key: "c2x"): nil]
        ) { $1 }
        let restoration = LineRestoration(
            reference: .root,
            lost: .root,
            objects: given,
            passed: []
        )
        let (found, count) = try await counting("godwit_line_lost") { session in
            try LineRestorationRow.set(restoration, Epoch(1), of: Self.line, on: session)
            return try LineRestorationRow.restoration(of: Epoch(1), Self.line, on: session)
        }
        #expect(found == restoration)
        #expect(count >= Self.count)
    }

    @Test(arguments: [0, 1, 4, 6, 100])
    func `what a client gives back in pieces is read page by page`(first: Int) async throws {
        let client = ClientID(Identifiers.random.next())
        let purpose = LineStaging.Purpose(epoch: Epoch(1), base: .root, comparedWith: .root)
        let (found, count) = try await counting("godwit_line_staged") { session in
            try LineStagingRow.write(
                .append(Self.objects.mapValues { $0 }, after: 0, purpose),
                replacing: nil,
                of: client,
                Self.line,
                on: session
            )
            return try LineStagingRow.staging(
                of: client,
                first: Int64(first),
                Self.line,
                on: session
            )
        }
        let keys = Self.objects.keys.sorted { $0.precedes($1) }.prefix(first)
        #expect(found?.objects == Self.objects.filter { keys.contains($0.key) }.mapValues { $0 })
        #expect(found?.count == Int64(Self.count))
        #expect(count >= min(first, Self.count))
    }

    /// Runs a body in a transaction, and counts how often it has asked a table for rows.
    private func counting<Result: Sendable>(
        _ table: String,
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Result
    ) async throws -> (Result, count: Int64) {
        let database = try await newDatabase { $0.connectionMax = 1 }
        return try await database.write { session in
            let result = try body(session)
            let rows = try session.query(
                """
                SELECT coalesce(sum(generic_plans + custom_plans), 0)::BIGINT
                FROM pg_prepared_statements
                WHERE statement LIKE 'SELECT%' AND statement LIKE '%\(table)%'
                AND statement NOT LIKE '%pg_prepared_statements%'
                """
            )
            return (result, try rows.integer(0, 0))
        }
    }
}
#endif
