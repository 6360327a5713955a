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
}
#endif
