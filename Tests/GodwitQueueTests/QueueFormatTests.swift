import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// What is on disk is what the golden files say, and what older programs left can be opened.
@Suite struct QueueFormatTests {
    let folder: TemporaryFolder
    private let golden = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Golden")

    private static let tablesOfTheStore = """
        'godwit_object', 'godwit_ledger', 'godwit_change', 'godwit_schema', 'godwit_index',
        'godwit_retention'
        """

    init() throws { folder = try TemporaryFolder() }

    private func contents(_ name: String) throws -> String {
        try String(contentsOf: golden.appending(path: name), encoding: .utf8)
    }

    @Test func `the tables are as the golden file has them`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let (tables, version) = try await bench.store.read { transaction in
            let tables = try String.fetchAll(
                transaction.database,
                sql: """
                    SELECT sql FROM sqlite_schema
                    WHERE name LIKE 'godwit%' AND sql IS NOT NULL
                        AND (type = 'trigger' OR tbl_name NOT IN (\(Self.tablesOfTheStore)))
                    ORDER BY name
                    """
            )
            let version = try Int.fetchOne(
                transaction.database,
                sql: "SELECT version FROM godwit_schema WHERE name = 'queue'"
            )
            return (tables, version)
        }
        #expect(version == 9)
        #expect(try tables.map { $0 + ";\n" }.joined() == contents("queue-9.sql"))
    }

    @Test func `an operation has the row and the seal of the golden file`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        try await bench.store.write { transaction in
            try transaction.enqueue(
                Upload(name: "a"),
                Placement(priority: 3, userInfo: .int(7), id: .number(1), idempotencyKey: "once")
            )
            try transaction.enqueue(
                ChangeThing(effect: .move("x", from: "a", to: "b")),
                Placement(dependencies: [.on(.number(1), otherwise: .skip)], id: .number(2))
            )
            try transaction.holdOperation(.number(2), until: nil, context: "login")
        }
        let rows = try await bench.store.read { transaction in
            try ["operation", "dependency", "hold", "effect", "footprint", "operation_object"]
                .flatMap { table -> [String] in
                    let rows = try Row.fetchAll(
                        transaction.database,
                        sql: "SELECT * FROM godwit_\(table)"
                    )
                    return rows.map { row in
                        let cells = row.databaseValues.map { value in
                            Data.fromDatabaseValue(value).flatMap { data in
                                String.fromDatabaseValue(value) == nil
                                    ? data.map { String(format: "%02x", $0) }.joined() : nil
                            } ?? "\(value)"
                        }
                        return "\(table): " + cells.joined(separator: " | ") + "\n"
                    }
                }
        }
        if ProcessInfo.processInfo.environment["GODWIT_WRITE_GOLDEN"] != nil {
            let file = golden.appending(path: "queue-9-rows.txt")
            try rows.joined().write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try rows.joined() == contents("queue-9-rows.txt"))
    }

    @Test func `a queue of format 1 is opened with all it holds, in its order`() async throws {
        let path = folder.path("old.sqlite")
        let store = try Store(.file(path))
        try store.close()
        let old = try DatabaseQueue(path: path)
        try await old.write { database in
            try database.execute(sql: contents("queue-1.sql"))
            try database.execute(sql: "INSERT INTO godwit_schema VALUES ('queue', 1)")
            for (index, name) in ["a", "b", "c"].enumerated() {
                let body = try ValueEncoder().encode(Upload(name: name)).canonicalBytes
                try database.execute(
                    sql: """
                        INSERT INTO godwit_operation VALUES (NULL, ?, ?, 'default', 'upload', 0, 0,
                            NULL, ?)
                        """,
                    arguments: ["\(OperationID.number(index))", index / 2 + 1, Data(body)]
                )
            }
            try database.execute(
                sql: "INSERT INTO godwit_dependency VALUES (?, ?)",
                arguments: ["\(OperationID.number(0))", "\(OperationID.number(1))"]
            )
        }
        try old.close()
        let bench = try Workbench(.file(path))
        let queue = try bench.queue()
        #expect(try await bench.names() == ["a", "b", "c"])
        try await queue.running {
            for name in ["b", "a", "c"] {
                try #require(await bench.cloud.starts() == [name])
                bench.cloud.answer(name)
            }
            #expect(try await queue.fate(of: .number(2)) == .completed)
        }
        try await bench.expectEmpty()
    }
}
