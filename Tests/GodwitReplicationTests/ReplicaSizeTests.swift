import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// The bytes of a replica's objects, and the most that they may be.
@Suite struct ReplicaSizeTests {
    /// A client in JSON, and how its server stands.
    private struct Client {
        let server: ReplicaServer
        let id: ClientID
        private var (nonce, sequence, state) = (Int64(0), Int64(0), Value.null)

        init(_ server: ReplicaServer, number: Int = 1) {
            (self.server, id) = (server, .number(number))
        }

        var size: Int64 {
            get async throws { try await server.summary(of: .simulated).sizeInBytes }
        }

        /// Sets objects, or removes them.
        ///
        /// - Returns: The keys that the server has refused because the replica is full.
        mutating func set(_ objects: [String: Value]) async throws -> [String] {
            (nonce, sequence) = (nonce + 1, sequence + 1)
            let changes = objects.map { key, value -> Value in
                var change: Value.Map = ["collection": "cards", "key": .string(Key(key))]
                change[value == .null ? "removed" : "value"] = value == .null ? true : value
                return .map(change)
            }
            let request: Value = [
                "nonce": .int(nonce), "state": state,
                "batch": [
                    "sequence": .int(sequence), "name": 1, "changes": .list(Value.List(changes)),
                ],
            ]
            let json = Array(request.jsonText().utf8)
            let answer = try await server.answer(json: json, from: id, of: .simulated)
            state = answer["state"] ?? .null
            let refused = answer["outcome"]?["rejected"]?.list ?? []
            #expect(refused.allSatisfy { $0["reason"] == "overQuota" })
            return refused.compactMap { $0["key"]?.text }.sorted()
        }
    }

    private static func text(_ count: Int) -> Value {
        .string(Key(String(repeating: "x", count: count)))
    }

    @Test(arguments: TestStorage.allCases)
    func `a replica is as large as its objects, their keys and their collections' names`(
        place: TestStorage
    ) async throws {
        let server = ReplicaServer(try await place.nodes().node())
        try await server.create(.simulated)
        var client = Client(server)
        #expect(try await client.size == 0)
        _ = try await client.set(["a": Self.text(100), "é": Self.text(50)])
        let sizes = [100, 50].map { Int64(Self.text($0).canonicalBytes.count) }
        #expect(try await client.size == sizes[0] + sizes[1] + 10 + 1 + 2)
        _ = try await client.set(["a": .null])
        #expect(try await client.size == sizes[1] + 5 + 2)
    }

    @Test(arguments: TestStorage.allCases)
    func `a full replica takes what makes it smaller, and refuses by name what makes it larger`(
        place: TestStorage
    ) async throws {
        var options = ReplicaServer.Options()
        options.replicaSizeMax = 1_000
        let server = ReplicaServer(try await place.nodes().node(), options: options)
        try await server.create(.simulated)
        var client = Client(server)
        #expect(try await client.set(["a": Self.text(400), "b": Self.text(400)]) == [])
        let (head, size) = (try await server.head(of: .simulated), try await client.size)
        let refused = try await client.set(["b": Self.text(1), "c": Self.text(800)])
        #expect(refused == ["c"], "c is too large even with a smaller b")
        #expect(try await server.head(of: .simulated) == head)
        #expect(try await client.size == size)
        #expect(try await client.set(["a": .null, "c": Self.text(400)]) == [])
        #expect(try await client.size == size)
    }

    @Test func `a replica that was fuller than it may be now still takes what makes it smaller`()
        async throws
    {
        let store = try Store(.memory)
        var server = try await ReplicaServer(store)
        try await server.create(.simulated)
        var client = Client(server)
        _ = try await client.set(["a": Self.text(400), "b": Self.text(400)])
        var options = ReplicaServer.Options()
        options.replicaSizeMax = 100
        server = try await ReplicaServer(store, options: options)
        var other = Client(server, number: 2)
        #expect(try await other.set(["b": Self.text(401)]) == ["b"])
        #expect(try await other.set(["b": Self.text(399)]) == [])
    }

    @Test func `a server of an earlier version learns how large its replicas are`() async throws {
        let store = try Store(.memory)
        let server = try await ReplicaServer(store)
        for name in [ReplicaName.simulated, "empty"] { try await server.create(name) }
        var client = Client(server)
        _ = try await client.set(["a": Self.text(100), "é": .bytes([1, 2, 3])])
        let size = try await client.size
        try await store.write { transaction in
            try transaction.connection.execute(
                sql: """
                    ALTER TABLE godwit_line DROP COLUMN size;
                    ALTER TABLE godwit_line_object DROP COLUMN client;
                    ALTER TABLE godwit_line_object DROP COLUMN serial;
                    ALTER TABLE godwit_line_object DROP COLUMN changed;
                    UPDATE godwit_schema SET version = 1 WHERE name = 'line';
                    """
            )
            transaction.touch()
        }
        let upgraded = try await ReplicaServer(store)
        #expect(size > 100)
        #expect(try await upgraded.summary(of: .simulated).sizeInBytes == size)
        #expect(try await upgraded.summary(of: "empty").sizeInBytes == 0)
        #expect(try await ReplicaServer.lastChanges(of: .simulated, in: store).isEmpty)
        _ = try await client.set(["a": Self.text(1)])
        let changes = try await ReplicaServer.lastChanges(of: .simulated, in: store)
        #expect(changes.map(\.key.key) == ["a"] && changes.first?.change.client == client.id)
    }
}
