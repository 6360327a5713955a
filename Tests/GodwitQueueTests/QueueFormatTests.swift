import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// The bytes on disk are those of the golden files.
@Suite struct QueueFormatTests {
    private let golden = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Golden")

    private static let tablesOfTheStore = """
        'godwit_object', 'godwit_ledger', 'godwit_change', 'godwit_schema', 'godwit_index',
        'godwit_retention', 'godwit_retention_total'
        """

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
        #expect(version == 1)
        #expect(try tables.map { $0 + ";\n" }.joined() == contents("queue-1.sql"))
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
            try ["operation", "dependency", "hold", "effect", "operation_object"]
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
            let file = golden.appending(path: "queue-1-rows.txt")
            try rows.joined().write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try rows.joined() == contents("queue-1-rows.txt"))
    }
}
