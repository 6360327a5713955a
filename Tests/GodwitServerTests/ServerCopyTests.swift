#if PostgreSQL
import GRDB
import GodwitConnectors
import GodwitPostgreSQL
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitServer

/// A server that moves from a store to a PostgreSQL database, and back.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct ServerCopyTests {
    private let lists = Store.Collection<String>("lists")
    private let name = ReplicaName("shopping")

    private struct Device {
        let store: Store
        let connector: ReplicaConnector
    }

    private func device(
        _ transport: some ReplicaTransport,
        _ replica: ReplicaName = ReplicaName("shopping")
    ) async throws -> Device {
        let store = try Store(.memory)
        let connector = try ReplicaConnector(store, transport: transport)
        _ = try await connector.open(replica, collections: [lists.name])
        return Device(store: store, connector: connector)
    }

    private func set(_ key: String, _ text: String, on device: Device) async throws {
        try await device.store.write { [lists] in try $0.set(text, for: key, in: lists) }
    }

    /// A store with several replicas: many objects, names and values of all kinds, clients, removals, keys.
    private func filled(_ server: Store) async throws -> [Device] {
        let network = try await SimulatedNetwork(store: server)
        try await network.create(name)
        for other in ["empty", "a.b-c_d"] { try await network.create(ReplicaName(other)) }
        let devices = [try await device(network), try await device(network)]
        try await devices[0].store.write { [lists] transaction in
            for number in 0..<6_000 {
                try transaction.set("\(number)", for: "k\(number)", in: lists)
            }
            for key in ["", "caf\u{e9}", "cafe\u{301}", "🛒", "a\0b"] {
                try transaction.set(String(repeating: key, count: 99), for: key, in: lists)
            }
            try transaction.set(String(repeating: "x", count: 3 << 20), for: "large", in: lists)
        }
        for device in devices { try await device.connector.synchronize(name) }
        for (place, device) in devices.enumerated() {
            try await set("k1", "of \(place)", on: device)
            try await device.store.write { [lists] in try $0.remove("k\(place + 2)", in: lists) }
            try await device.connector.synchronize(name)
        }
        let keys = try APIKeys(server)
        let rights = Rights([.create: [.all]])
        _ = try await keys.create("phone", rights: rights)
        let expiring = try await keys.create("tablet", rights: rights, lifetime: .seconds(3_600))
        _ = try await keys.principal(BearerToken(expiring.token))
        let access = StoreAccess(store: server)
        for client in try await network.server.clients(of: name) {
            try await access.bind(client.id, of: name, to: "key phone")
        }
        return devices
    }

    /// All rows of a server's store, without the numbers of its replicas.
    private func rows(_ store: Store) async throws -> [String: Set<String>] {
        let tables = [CopiedTable.line, CopiedTable.keys] + CopiedTable.parts
        return try await store.read { transaction in
            var found: [String: Set<String>] = [:]
            for table in tables {
                let columns = table.columns.map(\.name).joined(separator: ", ")
                let rows = try Row.fetchAll(
                    transaction.connection,
                    sql: "SELECT \(columns) FROM \(table.name)"
                )
                found[table.name] = Set(rows.map { "\($0)" })
            }
            return found
        }
    }

    private func database() async throws -> PostgreSQLDatabase {
        PostgreSQLDatabase(try await PostgreSQLAddress(PostgreSQLCluster.shared().database()))
    }

    @Test func `devices go on over a copy, and a copy of the copy has the same rows`()
        async throws
    {
        let (server, database) = (try Store(.memory), try await database())
        _ = try await filled(server)
        let toDatabase = ServerCopy(store: server, database: database)
        let copied = try await toDatabase.run(.toDatabase)
        #expect(copied.map(\.replica.text) == ["a.b-c_d", "empty", "shopping"])
        #expect(try #require(copied.last).rowCount > 6_000)
        let back = try Store(.memory)
        try await ServerCopy(store: back, database: database).run(.toStore)
        let (old, new) = (try await rows(server), try await rows(back))
        for (table, rows) in old { #expect(new[table] == rows, "\(table)") }
        #expect(old["godwit_line_peer"]?.count == 2 && old["godwit_access_key"]?.count == 2)
        // Again, with a key that was revoked meanwhile, and a device that was forgotten.
        try await APIKeys(server).revoke(
            try #require(try await APIKeys(server).all().keys.first).id
        )
        try await server.write { transaction in
            try transaction.connection.execute(
                sql: "UPDATE godwit_line_peer SET acked = 0, sent = 0"
            )
            transaction.touch()
        }
        await #expect(throws: ServerCopyError.self) { try await toDatabase.run(.toDatabase) }
        try await toDatabase.run(.toDatabase, replacing: true)
        #expect(try await APIKeys(database).all().keys.count == 1)
        try await ServerCopy(store: back, database: database).run(.toStore, replacing: true)
        let (changed, again) = (try await rows(server), try await rows(back))
        for (table, rows) in changed { #expect(again[table] == rows, "\(table)") }
        database.close()
    }

    @Test(arguments: [false, true])
    func `a device does not notice that its server has moved`(isInDatabase: Bool) async throws {
        let (server, database) = (try Store(.memory), try await database())
        let first = MovingServer(try await ReplicaServer(server))
        try await first.create(name)
        let (phone, tablet) = (try await device(first), try await device(first))
        for (place, device) in [phone, tablet, phone].enumerated() {
            try await set("a\(place)", "\(place)", on: device)
            try await device.connector.synchronize(name)
        }
        try await ServerCopy(store: server, database: database).run(.toDatabase)
        if isInDatabase {
            let node = try await PostgreSQLNode(database)
            first.move(to: node.server)
        } else {
            let back = try Store(.memory)
            try await ServerCopy(store: back, database: database).run(.toStore)
            first.move(to: try await ReplicaServer(back))
        }
        let count = first.count
        try await set("b", "bread", on: phone)
        try await phone.connector.synchronize(name)
        #expect(first.count - count <= 2, "it has not compared its objects")
        try await tablet.connector.synchronize(name)
        for key in ["a0", "a1", "a2", "b"] {
            let ours = try await phone.store.read { [lists] in try $0.get(key, in: lists) }
            let theirs = try await tablet.store.read { [lists] in try $0.get(key, in: lists) }
            #expect(ours != nil && ours == theirs, "\(key)")
        }
        database.close()
    }

    @Test func `a copy that was cut off is not there, and is made anew`() async throws {
        struct Cut: Error {}
        let (server, database) = (try Store(.memory), try await database())
        _ = try await filled(server)
        let side = DatabaseSide(database: database)
        try await side.prepare()
        // As if the program had ended before the row of the replica, or in another version of the source.
        let source = StoreSide(store: server)
        try await side.begin(name)
        for table in CopiedTable.parts {
            let rows = try await source.rows(of: table, name, after: nil)
            try await side.insert(rows, into: table, name)
        }
        try await server.write { transaction in
            try transaction.connection.execute(sql: "DELETE FROM godwit_line_entry")
            transaction.touch()
        }
        #expect(try await side.names() == [])
        try await ServerCopy(store: server, database: database).run(.toDatabase)
        let back = try Store(.memory)
        try await ServerCopy(store: back, database: database).run(.toStore)
        let (old, new) = (try await rows(server), try await rows(back))
        for (table, rows) in old { #expect(new[table] == rows, "\(table)") }
        database.close()
    }

    @Test(arguments: [false, true])
    func `a new replica has nothing of a copy that was cut off`(isInDatabase: Bool) async throws {
        let (server, database) = (try Store(.memory), try await database())
        _ = try await filled(server)
        let back = try Store(.memory)
        let target: any CopySide =
            isInDatabase ? DatabaseSide(database: database) : StoreSide(store: back)
        try await target.prepare()
        try await target.begin(name)
        for table in CopiedTable.parts {
            let rows = try await StoreSide(store: server).rows(of: table, name, after: nil)
            try await target.insert(rows, into: table, name)
        }
        let replicas =
            isInDatabase ? try await PostgreSQLNode(database).server : try await ReplicaServer(back)
        // In a database, the number is that of the name; in a store, the next one.
        let new = isInDatabase ? name : ReplicaName("foo")
        try await replicas.create(new)
        #expect(try await replicas.value(of: new) == [:])
        #expect(try await replicas.clients(of: new).isEmpty)
        let device = try await device(MovingServer(replicas), new)
        try await set("a", "bread", on: device)
        try await device.connector.synchronize(new)
        #expect(try await replicas.value(of: new) == ["lists": ["a": "bread"]])
        database.close()
    }

    @Test func `a store without a server, and a key that is too long, are errors`() async throws {
        let (server, database) = (try Store(.memory), try await database())
        await #expect(throws: ServerCopyError.noServer) {
            try await ServerCopy(store: server, database: database).run(.toDatabase)
        }
        await #expect(throws: PostgreSQLError.self) {
            try await ServerCopy(store: server, database: database).run(.toStore)
        }
        let network = try await SimulatedNetwork(store: server)
        try await network.create(name)
        let device = try await device(network)
        try await set(String(repeating: "k", count: 2_000), "bread", on: device)
        try await device.connector.synchronize(name)
        let error = await #expect(throws: ServerCopyError.self) {
            try await ServerCopy(store: server, database: database).run(.toDatabase)
        }
        #expect(error?.description.contains("\"shopping\" has the key \"kkk") == true)
        #expect(try await DatabaseSide(database: database).names() == [])
        database.close()
    }

    @Test func `another state of a replica is not overwritten`() async throws {
        let (server, database) = (try Store(.memory), try await database())
        let devices = try await filled(server)
        let copy = ServerCopy(store: server, database: database)
        try await copy.run(.toDatabase)
        try await set("later", "x", on: devices[0])
        try await devices[0].connector.synchronize(name)
        for direction in [ServerCopy.Direction.toDatabase, .toStore] {
            await #expect(throws: ServerCopyError.replicaExists(name)) {
                try await copy.run(direction, replacing: true)
            }
        }
        let other = try Store(.memory)
        try await SimulatedNetwork(store: other).create(ReplicaName("zoo"))
        await #expect(throws: ServerCopyError.replicaExists(ReplicaName("zoo"))) {
            try await ServerCopy(store: other, database: database).run(.toStore, replacing: true)
        }
        let keyed = try Store(.memory)
        _ = try await APIKeys(keyed).create("own", rights: .all)
        await #expect(throws: ServerCopyError.keysExist) {
            try await ServerCopy(store: keyed, database: database).run(.toStore)
        }
        database.close()
    }
}

/// A server that moves to another storage while its devices are away.
private final class MovingServer: ReplicaTransport {
    private let state: Mutex<(server: ReplicaServer, count: Int)>

    init(_ server: ReplicaServer) { state = Mutex((server, 0)) }

    /// How many messages have been exchanged.
    var count: Int { state.withLock(\.count) }

    func move(to server: ReplicaServer) { state.withLock { $0.server = server } }

    func create(_ replica: ReplicaName) async throws {
        try await state.withLock(\.server).create(replica)
    }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let server = state.withLock { state in
            state.count += 1
            return state.server
        }
        return try await server.answer(body, from: client, of: replica) { _ in .write }
    }

    func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        AsyncThrowingStream { $0.finish() }
    }
}
#endif
