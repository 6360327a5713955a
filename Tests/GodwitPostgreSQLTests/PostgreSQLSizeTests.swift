#if PostgreSQL
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitPostgreSQL

/// The tables are as large as what is in them, however often it was edited.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct PostgreSQLSizeTests {
    @Test func `rows do not become more with the number of edits`() async throws {
        let database = try await newDatabase()
        let node = try await PostgreSQLNode(database)
        let devices = try await newDevices(2, on: node.server)
        var counts: [Int64] = []
        for round in 0..<6 {
            for edit in 0..<25 {
                let device = devices[edit % 2]
                try await device.replica.store.write { transaction in
                    let value: [String: Int] = ["round": round, "edit": edit]
                    let keys = (0..<4).map { "c\(($0 + edit) % 10)" }
                    let numbers = StoreCollection<[String: Int]>("cards")
                    for key in keys { try transaction.set(value, for: key, in: numbers) }
                }
                try await device.synchronize(with: node.server)
            }
            for device in devices { try await device.synchronize(with: node.server) }
            counts.append(
                try await database.integer(
                    """
                    SELECT (SELECT count(*) FROM godwit_line_entry)
                        + (SELECT count(*) FROM godwit_line_state)
                    """
                )
            )
            #expect(try await node.server.summary(of: .tested).stateCount <= 2 * 2 + 2)
        }
        #expect(counts.dropFirst().allSatisfy { $0 <= counts[0] + 20 }, "\(counts)")
    }

    @Test func `pages are used again when they were vacuumed`() async throws {
        let database = try await newDatabase()
        let node = try await PostgreSQLNode(database)
        let device = try await newDevices(1, on: node.server)[0]
        var sizes: [Int64] = []
        for _ in 0..<4 {
            for edit in 0..<40 {
                try await device.replica.store.write { transaction in
                    try transaction.set(["count": .int(Int64(edit))], for: "a", in: lists)
                }
                try await device.synchronize(with: node.server)
            }
            // Autovacuum does so by itself, when it comes round.
            try await database.pool.run { try $0.execute("VACUUM") }
            sizes.append(
                try await database.integer(
                    """
                    SELECT sum(pg_table_size(relid))::BIGINT FROM pg_stat_user_tables
                    WHERE relname LIKE 'godwit_line%'
                    """
                )
            )
        }
        #expect(sizes[3] <= sizes[1] + 65_536, "\(sizes)")
    }

    @Test func `a state that another node has left goes with the commits of this one`() async throws
    {
        let database = try await newDatabase()
        let node = try await PostgreSQLNode(database)
        let device = try await newDevices(1, on: node.server)[0]
        let left = "SELECT count(*) FROM godwit_line_state WHERE id = '\\x00'"
        for number in 0..<70 {
            if number == 3 {
                // As a node leaves it that ends before it has folded all.
                try await database.pool.run { session in
                    try session.execute(
                        "INSERT INTO godwit_line_state SELECT number, 1, '\\x00' FROM godwit_line"
                    )
                }
                #expect(try await database.integer(left) == 1)
            }
            try await device.add(number)
            try await device.synchronize(with: node.server)
        }
        #expect(try await database.integer(left) == 0)
        #expect(try await device.problems() == [])
    }

    @Test func `a state with many changes around it is folded, and others have what they had`()
        async throws
    {
        let database = try await newDatabase()
        let node = try await PostgreSQLNode(database)
        let devices = try await newDevices(3, on: node.server)
        let numbers = StoreCollection<[String: Int]>("cards")
        for round in 0..<3 {
            try await devices[0].replica.store.write { transaction in
                for number in 0..<1_000 {
                    try transaction.set(["round": round], for: "c\(number)", in: numbers)
                }
            }
            // One stays at the first state, one at the second.
            for device in devices.dropLast(round) {
                try await device.synchronize(with: node.server)
            }
        }
        // With its next batch, the first device says that it has the third state.
        try await devices[0].replica.store.write { try $0.set(["round": 3], for: "z", in: numbers) }
        try await devices[0].synchronize(with: node.server)
        let countMax =
            "SELECT max(c)::BIGINT FROM "
            + "(SELECT count(*) AS c FROM godwit_line_entry GROUP BY key) AS k"
        // The third device may still have the state before these.
        #expect(try await database.integer(countMax) == 3)
        let forgotten = try await devices[1].replica.status().client
        #expect(try await node.server.forget(forgotten, of: .tested))
        // From the first state to the third there is one entry for each object.
        #expect(try await database.integer(countMax) == 2)
        for device in devices.reversed() {
            try await device.synchronize(with: node.server)
            #expect(try await device.problems() == [])
            let cards = try await device.replica.store.read { transaction in
                try (0..<1_000).map { try transaction.get("c\($0)", in: numbers) }
            }
            #expect(cards.allSatisfy { $0 == ["round": 2] })
        }
    }

    @Test func `all objects of a line are read page by page, and those of a state beside them`()
        async throws
    {
        let database = try await newDatabase()
        let node = try await PostgreSQLNode(database)
        let device = try await newDevices(1, on: node.server)[0]
        // More rows than a page has, and a row that is larger than a page.
        try await device.replica.store.write { transaction in
            let texts = StoreCollection<String>("cards")
            for number in 0..<5_000 {
                try transaction.set("\(number)", for: "c\(number)", in: texts)
            }
            try transaction.set(String(repeating: "x", count: 3 << 20), for: "d", in: texts)
        }
        try await device.synchronize(with: node.server)
        let value = try await node.server.value(of: .tested)
        #expect(value["cards"]?.map?.count == 5_001)
        let other = try await TestDevice()
        try await other.synchronize(with: node.server)
        #expect(try await other.cardCount() == 5_001)
        #expect(try await other.problems() == [])
    }
}
#endif
