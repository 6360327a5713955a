import GRDB
import GodwitConnectors
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication
@testable import GodwitServer

/// Devices with the right to read or to write, and whom their ids belong to.
@Suite struct DeviceAccessTests {
    private let server: AccessServer
    private let name: ReplicaName

    init() throws {
        server = try AccessServer()
        name = ReplicaName("shopping")
    }

    @Test func `a device that may read follows, and its own edit is refused`() async throws {
        let (writer, reader) = try await keys()
        try await server.serving {
            let (phone, tablet) = (try await device(writer), try await device(reader))
            try await phone.set("a", "bread")
            try await phone.synchronize()
            try await tablet.synchronize()
            #expect(try await tablet.get("a") == "bread")
            try await tablet.set("a", "wine")
            await refused(403, "readOnly") { try await tablet.synchronize() }
            let value = try await phone.transport.fetch("/value", of: name)
            #expect(value == ["lists": ["a": "bread"]])
            let refused = ObjectKey(collection: "lists", key: "a")
            #expect(try await tablet.replica.status().rejections == [refused: .denied])
            // It goes on following.
            try await phone.set("b", "cheese")
            for device in [phone, tablet] { try await device.synchronize() }
            #expect(try await tablet.get("b") == "cheese")
            #expect(try await tablet.get("a") == "wine")
        }
    }

    @Test func `a device that may read follows, whatever rules for merges its app has`()
        async throws
    {
        let (writer, reader) = try await keys()
        var rules = MergePolicy(version: 1)
        rules.set(.max, at: "")
        try await server.serving {
            let phone = try await device(writer, policy: rules)
            try await phone.set("a", "bread")
            try await phone.synchronize()
            let tablet = try await device(reader, "tablet", policy: rules)
            try await tablet.synchronize()
            #expect(try await tablet.get("a") == "bread")
            try tablet.close()
            // Newer ones come with an update of the app.
            rules.version = 2
            let updated = try await device(reader, "tablet", policy: rules)
            try await phone.set("a", "wine")
            try await phone.synchronize()
            try await updated.synchronize()
            #expect(try await updated.get("a") == "wine")
        }
    }

    @Test func `a device that gets the right to write sends what had been refused`() async throws {
        let (writer, reader) = try await keys()
        try await server.serving {
            let phone = try await device(writer)
            let tablet = try await device(reader, "tablet")
            try await tablet.set("a", "wine")
            await refused(403, "readOnly") { try await tablet.synchronize() }
            // It has compared its objects, and follows without the edit.
            try await tablet.synchronize()
            try tablet.close()
            let right = try await server.key("tablet", [.write: "shopping"])
            try await device(right, "tablet").synchronize()
            try await phone.synchronize()
            #expect(try await phone.get("a") == "wine")
        }
    }

    @Test func `a refused edit binds the device's id to no principal`() async throws {
        let (writer, reader) = try await keys()
        try await server.serving {
            _ = try await device(writer)
            let tablet = try await device(reader, "tablet")
            try await tablet.set("a", "wine")
            await refused(403, "readOnly") { try await tablet.synchronize() }
            try tablet.close()
            let other = try await server.key("another", [.write: "shopping"])
            try await device(other, "tablet").synchronize()
            #expect(try await server.ask(.value, other.token).body == ["lists": ["a": "wine"]])
        }
    }

    @Test func `a device that may read follows a server that has lost states`() async throws {
        let (writer, reader) = try await keys()
        let path = server.folder.path("copy.sqlite")
        try await server.serving {
            let phone = try await device(writer, "phone")
            try await phone.set("a", "bread")
            let known = try await device(reader, "known")
            for device in [phone, known] { try await device.synchronize() }
            try await server.store.backup(to: path)
            try await phone.set("a", "wine")
            let unknown = try await device(reader, "unknown")
            for device in [phone, known, unknown] {
                try await device.synchronize()
                #expect(try await device.get("a") == "wine")
                try device.close()
            }
        }
        let restored = try AccessServer(at: path)
        try await restored.serving {
            let first = try await epoch(in: restored.store)
            let known = try await device(reader, "known", at: restored)
            let unknown = try await device(reader, "unknown", at: restored)
            for device in [known, unknown] {
                try await device.synchronize()
                #expect(try await device.get("a") == "bread")
            }
            #expect(try await epoch(in: restored.store) == first)
            // A device that may write gives back what the server has lost.
            let phone = try await device(writer, "phone", at: restored)
            for device in [phone, known, unknown] {
                try await device.synchronize()
                #expect(try await device.get("a") == "wine")
            }
            #expect(try await epoch(in: restored.store) != first)
        }
    }

    @Test func `the id of a client belongs to the principal that has used it first`() async throws {
        let ann = try await server.key("ann", [.create: "*"])
        let bob = try await server.key("bob", [.administer: "*"])
        let again = try await server.key("ann", [.read: "*"])
        try await server.serving {
            let phone = try await device(ann, "phone")
            try await phone.synchronize()
            let client = try await phone.replica.status().client
            try phone.close()
            let thief = try await device(bob, "phone")
            #expect(try await thief.replica.status().client == client)
            await refused(403, "foreignClient") { try await thief.synchronize() }
            try thief.close()
            // Another key of the same name is the same principal.
            try await device(again, "phone").synchronize()
        }
    }

    @Test func `an id that was released belongs to the next principal that uses it`() async throws {
        let ann = try await server.key("ann", [.create: "*"])
        let bob = try await server.key("bob", [.write: "*"])
        let admin = try await server.key("admin", [.administer: "*"])
        try await server.serving {
            let phone = try await device(ann, "phone")
            try await phone.set("a", "bread")
            try await phone.synchronize()
            let client = try await phone.replica.status().client
            try phone.close()
            let listed = try await server.ask(.clients, admin.token).body["clients"]?.list?.first
            #expect(listed?["id"]?.text == client.description && listed?["principal"] == "key ann")
            #expect(
                try await AccessControl.principals(in: name, server.store) == [client: "key ann"]
            )
            try await AccessControl.release(client, of: name, in: server.store)
            #expect(try await AccessControl.principals(in: name, server.store) == [:])
            let heir = try await device(bob, "phone")
            try await heir.set("a", "wine")
            try await heir.synchronize()
            try heir.close()
            #expect(try await server.ask(.value, ann.token).body == ["lists": ["a": "wine"]])
            await refused(403, "foreignClient") { try await device(ann, "phone").synchronize() }
        }
        #expect(try await AccessControl.principals(in: name, Store(.memory)) == [:])
        try await AccessControl.release(
            ClientID(Identifiers.random.next()),
            of: name,
            in: Store(.memory)
        )
    }

    @Test func `an id is bound in a replica that is there, and in that one alone`() async throws {
        let ann = try await server.key("ann", [.create: "*"])
        let bob = try await server.key("bob", [.create: "*"])
        let gate = try await Gate(
            StoreAccess(store: server.store),
            .keys,
            logger: server.log.logger
        )
        let id = ClientID(Identifiers.random.next())
        let slot = Slot(serial: 0, have: .none, former: nil, batch: nil)
        let request = LineRequest(client: id, nonce: 1, slot: slot)
        let packed = try PackedRequest(request) { _ throws(ReplicationError) in nil }
        let message = WireRequest.exchange(packed).frame.bytes(for: .own)
        let (missing, one) = (ReplicaName("missing"), ReplicaName("one"))
        try await server.serving {
            let transport = try HTTPTransport(server: server.url, token: ann.token)
            try await transport.create(one)
            _ = try await transport.exchange(message, replica: one, client: id)
            await refused(404, "unknownReplica") {
                _ = try await transport.exchange(message, replica: missing, client: id)
            }
        }
        let stranger = try await server.keys.principal(BearerToken(bob.token))
        let own = MessageScope(client: id, former: nil, carriesChanges: false)
        #expect(try await gate.admit(own, of: stranger, to: missing) == .write)
        let other = ClientID(Identifiers.random.next())
        let renamed = MessageScope(client: other, former: id, carriesChanges: false)
        for scope in [own, renamed] {
            await #expect(throws: AccessRefusal.foreignClient(id)) {
                try await gate.admit(scope, of: stranger, to: one)
            }
        }
    }

    @Test func `a stream of events ends at the next head when its key is revoked`() async throws {
        try await stream(heartbeat: .seconds(20)) { phone in
            try await phone.set("a", "wine")
            try await phone.synchronize()
        }
    }

    @Test func `a stream of events ends at the next heartbeat when its key is revoked`()
        async throws
    {
        try await stream(heartbeat: .milliseconds(10)) { _ in }
    }

    private func stream(
        heartbeat: Duration,
        _ body: (AccessDevice) async throws -> Void
    ) async throws {
        let (writer, reader) = try await keys()
        try await server.serving(heartbeat: heartbeat) {
            let phone = try await device(writer)
            let transport = try HTTPTransport(server: server.url, token: reader.token)
            var heads = transport.heads(of: name).makeAsyncIterator()
            let first = try await heads.next()
            #expect(first == .root)
            try await server.keys.revoke(reader.key.id)
            try await body(phone)
            let next = try await heads.next()
            #expect(next == nil)
            await refused(401, "tokenInvalid") {
                for try await _ in transport.heads(of: name) {}
            }
        }
    }

    // MARK: Devices

    private func keys() async throws -> (writer: NewAPIKey, reader: NewAPIKey) {
        let writer = try await server.key("phone", [.create: "shopping"])
        return (writer, try await server.key("tablet", [.read: "shopping"]))
    }

    private func device(
        _ key: NewAPIKey,
        _ file: String? = nil,
        policy: MergePolicy = .standard,
        at other: AccessServer? = nil
    ) async throws -> AccessDevice {
        let transport = try HTTPTransport(server: (other ?? server).url, token: key.token)
        // Not all may.
        try? await transport.create(name)
        let location = file.map { Store.Location.file(server.folder.path($0)) } ?? .memory
        return try await AccessDevice(Store(location), transport, name, policy)
    }

    private func epoch(in store: Store) async throws -> Int64? {
        try await store.read {
            try Int64.fetchOne($0.connection, sql: "SELECT epoch FROM godwit_line")
        }
    }

    private func refused(
        _ status: Int,
        _ code: String,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("\(code) was expected")
        } catch ConnectorError.refused(let found, let word, let message) {
            #expect(found == status && word == code, "\(found) \(word): \(message)")
        } catch {
            Issue.record("\(code) was expected, not \(error)")
        }
    }
}

/// A device whose replica has lists.
private struct AccessDevice {
    let transport: HTTPTransport
    let connector: ReplicaConnector
    let replica: Replica
    private let store: Store
    private let lists = Store.Collection<String>("lists")

    init(
        _ store: Store,
        _ transport: HTTPTransport,
        _ name: ReplicaName,
        _ policy: MergePolicy
    ) async throws {
        (self.store, self.transport) = (store, transport)
        connector = try ReplicaConnector(store, transport: transport)
        replica = try await connector.open(name, collections: ["lists"], policy: policy)
    }

    func close() throws { try store.close() }

    func synchronize() async throws { try await connector.synchronize(replica.name) }

    func get(_ key: String) async throws -> String? {
        try await store.read { [lists] in try $0.get(key, in: lists) }
    }

    func set(_ key: String, _ text: String) async throws {
        try await store.write { [lists] in try $0.set(text, for: key, in: lists) }
    }
}
