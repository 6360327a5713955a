#if PostgreSQL
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitPostgreSQL

/// Several servers on one database.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct PostgreSQLNodeTests {
    @Test func `devices that ask several nodes at once lose nothing`() async throws {
        let database = try await newDatabase()
        let nodes = [
            try await PostgreSQLNode(database), try await PostgreSQLNode(database.again()),
        ]
        let devices = try await newDevices(6, on: nodes[0].server)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, device) in devices.enumerated() {
                group.addTask {
                    for edit in 0..<8 {
                        try await device.add(10 * place + edit)
                        // Each message may go to another node.
                        try await device.synchronize(with: nodes[(place + edit) % 2].server)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await expect(48, on: devices, through: nodes[1].server)
        let summary = try await nodes[0].server.summary(of: .tested)
        #expect(summary.stateCount <= ReplicaSummary.stateCountMax(clientCount: 6))
        #expect(try await nodes[0].server.value(of: .tested) == nodes[1].server.value(of: .tested))
    }

    @Test func `a stream on one node hears of a commit through another one`() async throws {
        let database = try await newDatabase()
        let (ours, theirs) = (
            try await PostgreSQLNode(database), try await PostgreSQLNode(database.again())
        )
        let device = try await newDevices(1, on: theirs.server)[0]
        try await running([ours, theirs]) {
            let heads = try await ours.server.heads(of: .tested)
            for number in 0..<5 {
                try await device.add(number)
                try await device.synchronize(with: theirs.server)
                let head = try await theirs.server.head(of: .tested)
                try await heads.reaches { $0 == head }
            }
        }
    }

    @Test func `a node that loses its listening connection listens again`() async throws {
        let database = try await newDatabase { $0.pollInterval = .milliseconds(20) }
        let (ours, theirs) = (
            try await PostgreSQLNode(database), try await PostgreSQLNode(database.again())
        )
        let device = try await newDevices(1, on: theirs.server)[0]
        try await running([ours, theirs]) {
            let heads = try await ours.server.heads(of: .tested)
            for number in 0..<5 {
                _ = try await database.integer(
                    """
                    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE datname = current_database() AND query LIKE 'LISTEN %'
                    """
                )
                try await device.add(number)
                try await device.synchronize(with: theirs.server)
                let head = try await theirs.server.head(of: .tested)
                try await heads.reaches { $0 == head }
            }
        }
    }

    @Test func `a node that hears nothing asks for the heads that are followed`() async throws {
        let database = try await newDatabase { $0.pollInterval = .milliseconds(20) }
        let ours = try await PostgreSQLNode(database)
        // Another node that tells nothing, because nothing runs it.
        let theirs = try await PostgreSQLNode(database.again())
        let device = try await newDevices(1, on: theirs.server)[0]
        try await running([ours]) {
            let heads = try await ours.server.heads(of: .tested)
            try await device.add(1)
            try await device.synchronize(with: theirs.server)
            _ = try await database.integer(
                """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE 'LISTEN %'
                """
            )
            let head = try await theirs.server.head(of: .tested)
            try await heads.reaches { $0 == head }
        }
    }

    @Test func `a node listens on the channels of what is followed, and on no other ones`()
        async throws
    {
        let names = try (0..<1_000).map { try ReplicaName("replica-\($0)") }
        #expect(Set(names.map(HeadChannel.name)).count == Int(HeadChannel.count))
        let notice = HeadNotice(node: .max, replica: names[7])
        #expect(HeadNotice(payload: notice.payload) == notice)
        for payload in ["", " ", "12", "xyz name", "1 ../x", "1 a b"] {
            #expect(HeadNotice(payload: payload) == nil)
        }
    }

    @Test func `names whose numbers are the same are told apart`() async throws {
        let database = try await newDatabase()
        let node = try await PostgreSQLNode(database)
        try await node.server.create(.tested)
        _ = try await database.write { session in
            try session.query("UPDATE godwit_line SET name = 'another'")
            return 0
        }
        await #expect(throws: PostgreSQLError.numberTaken(name: "tested")) {
            try await node.server.create(.tested)
        }
        await #expect(throws: ReplicationError.unknownReplica("tested")) {
            _ = try await node.server.head(of: .tested)
        }
    }

    @Test func `an object whose key no index takes is refused, and holds nothing else up`()
        async throws
    {
        let database = try await newDatabase()
        let node = try await PostgreSQLNode(database)
        let device = try await newDevices(1, on: node.server)[0]
        let keySizeMax = 2_000 - "cards".utf8.count
        // Letters that cannot be compressed, a zero among them.
        var random = Seeded(seed: 1)
        func key(_ count: Int) -> String {
            let letters = (1..<count).map { _ in
                Character(Unicode.Scalar(UInt8.random(in: 0...127, using: &random)))
            }
            return "\0" + String(letters)
        }
        let keys = [key(keySizeMax), key(keySizeMax + 1)]
        try await device.replica.store.write { transaction in
            for key in keys { try transaction.set(1, for: key, in: cards) }
        }
        try await device.synchronize(with: node.server)
        let value = try await node.server.value(of: .tested)
        #expect(value["cards"]?[Key(keys[0])] == 1)
        #expect(value["cards"]?[Key(keys[1])] == nil)
        #expect(try await device.replica.status().rejections.map(\.value) == [.tooLarge])
    }

    /// Runs nodes beside a body.
    private func running(
        _ nodes: [PostgreSQLNode],
        _ body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes { group.addTask { await node.run() } }
            defer { group.cancelAll() }
            try await body()
        }
    }
}
#endif
