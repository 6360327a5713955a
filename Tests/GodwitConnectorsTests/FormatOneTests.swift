import Foundation
import GRDB
import GodwitConnectors
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Replicas from before states were named by Merkle digests.
@Suite struct FormatOneTests {
    private let lists = Store.Collection<[String]>("lists")

    @Test(arguments: [(true, true), (true, false), (false, true)])
    func `a device and its server go on, whichever of them comes from format 1`(
        deviceIsOld: Bool,
        serverIsOld: Bool
    ) async throws {
        let name = try ReplicaName("shopping")
        let folder = try TemporaryFolder()
        let path = folder.path("phone.sqlite")
        let server = try Store(.memory)
        let old = try Store(.file(path))
        let head = try await edit(old, server, name)
        if deviceIsOld { try await old.write { try Self.age($0.database) } }
        if serverIsOld { try await server.write { try Self.age($0.database) } }
        try old.close()

        let phone = try Store(.file(path))
        let after = try await connected(phone, to: server, name)
        #expect(after.replica.status.base == head)
        try await phone.write { [lists] in try $0.set(["milk"], for: "b", in: lists) }
        try await after.synchronize()

        let hosted = try await HostedReplica.open(name, in: server)
        #expect(
            hosted.current.history.headValue == ["lists": ["a": ["bread", "wine"], "b": ["milk"]]]
        )
        #expect(after.replica.status.base == hosted.current.history.head.id)
        #expect(!after.replica.status.isDirty)
        try phone.close()
    }

    @Test func `a state of format 1 that is not what its id names is refused`() async throws {
        let name = try ReplicaName("shopping")
        let (server, phone) = (try Store(.memory), try Store(.memory))
        try await phone.write { [lists] in try $0.set(["bread"], for: "a", in: lists) }
        try await connected(phone, to: server, name).synchronize()
        try await server.write { transaction in
            try Self.age(transaction.database)
            try transaction.database.execute(
                sql: "UPDATE godwit_part SET delta = ?",
                arguments: [Data(Delta.set(["lists": [:]]).encoded.canonicalBytes)]
            )
        }
        await #expect(throws: ReplicationError.self) {
            try await HostedReplica.open(name, in: server)
        }
    }

    /// Two edits, by a connector that is gone afterwards.
    private func edit(
        _ phone: Store,
        _ server: Store,
        _ name: ReplicaName
    ) async throws -> StateID {
        let connector = try await connected(phone, to: server, name)
        for words in [["bread"], ["bread", "wine"]] {
            try await phone.write { [lists] in try $0.set(words, for: "a", in: lists) }
            try await connector.synchronize()
        }
        return connector.replica.status.base
    }

    private func connected(
        _ phone: Store,
        to server: Store,
        _ name: ReplicaName
    ) async throws -> ReplicaConnector {
        let network = SimulatedNetwork(store: server)
        try await network.create(name)
        return try await ReplicaConnector(
            name,
            in: phone,
            collections: ["lists"],
            transport: network
        )
    }

    /// Makes the tables what they were: ids by flat digests, deltas in their JSON form as CBOR.
    private static func age(_ database: Database) throws {
        var names: [Data: Data] = [name(of: [:], like: StateID.root): Data(StateID.root.bytes)]
        var deltas: [Int64: Delta] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT replica, number, delta FROM godwit_part")
        {
            let delta = try Delta(canonicalBytes: Array(row[2] as Data))
            deltas[row[1]] = delta
            try database.execute(
                sql: "UPDATE godwit_part SET delta = ? WHERE replica = ? AND number = ?",
                arguments: [Data(delta.encoded.canonicalBytes), row[0] as Int64, row[1] as Int64]
            )
        }
        var value: Value = [:]
        let states = "SELECT id, parts FROM godwit_state WHERE id IS NOT NULL ORDER BY serial"
        for row in try Row.fetchAll(database, sql: states) {
            for number in (row[1] as String).split(separator: " ").compactMap({ Int64($0) }) {
                value = try #require(deltas[number]).applied(to: value)
            }
            let id = try #require(StateID(bytes: Array(row[0] as Data)))
            names[name(of: value, like: id)] = row[0]
        }
        for (old, new) in names {
            for (table, column) in [
                ("state", "id"), ("device", "base"), ("peer", "acked"), ("peer", "sent"),
            ] {
                try database.execute(
                    sql: "UPDATE godwit_\(table) SET \(column) = ? WHERE \(column) = ?",
                    arguments: [old, new]
                )
            }
        }
        try database.execute(sql: "UPDATE godwit_schema SET version = 1 WHERE name = 'replication'")
    }

    private static func name(of value: Value, like id: StateID) -> Data {
        let digest = Digest(of: [value.canonicalBytes], purpose: "godwit value 1")
        return Data(digest.bytes + id.bytes.dropFirst(Digest.sizeInBytes))
    }
}
