import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitReplication

private let lists = StoreCollection<Value>("lists")
private let cards = StoreCollection<Value>("cards")

/// The server's half as it ships: messages as bytes, on a storage in SQLite.
@Suite struct ReplicaServerTests {
    /// A device, and the server that it asks.
    private struct Client {
        let replica: Replica
        let server: ReplicaServer

        init(_ server: ReplicaServer, _ store: Store? = nil) async throws {
            self.server = server
            replica = try await .open(
                .simulated,
                server: "server",
                in: store ?? Store(.memory),
                collections: ["lists", "cards"]
            )
        }

        func synchronize() async throws {
            for _ in 0..<24 {
                let replica = replica
                let sent = try await replica.store.write { try replica.nextRequest(in: $0) }
                let bytes = try await server.answer(
                    sent.message.frame.bytes(for: .own),
                    from: sent.client,
                    of: replica.name
                )
                let answer = try WireAnswer(WireFrame(bytes: bytes, budget: .standard))
                let isBehind = try await replica.store.write {
                    try replica.receive(answer, to: sent, in: $0)
                }
                if !isBehind { return }
            }
            Issue.record("the device does not come to an end")
        }

        func add(_ number: Int) async throws {
            try await replica.store.write { transaction in
                try transaction.edit("a", in: lists) { $0.count += 1 }
                try transaction.set(["id": .int(Int64(number))], for: "c\(number)", in: cards)
            }
        }
    }

    private static func server(_ store: Store) async throws -> ReplicaServer {
        let server = ReplicaServer(try await SQLiteLineStorage(store))
        try await server.create(.simulated)
        return server
    }

    @Test func `devices that ask at once lose nothing`() async throws {
        let server = try await Self.server(Store(.memory))
        try await Self.edit(on: [server])
    }

    @Test func `a client that was forgotten costs nothing, and loses nothing`() async throws {
        let store = try Store(.memory)
        let server = try await Self.server(store)
        let (ours, theirs) = (try await Client(server), try await Client(server))
        try await ours.replica.store.write { try $0.set(["count": 0], for: "a", in: lists) }
        for client in [ours, theirs] { try await client.synchronize() }
        // Another state is sent to the client, which has changes of its own and goes silent.
        try await theirs.add(1)
        for number in 2...9 {
            try await ours.add(number)
            try await ours.synchronize()
        }
        let silent = try await theirs.replica.status().client
        #expect(try await server.forgetClients(of: .simulated, keeping: 1) == [silent])
        #expect(try await server.forgetClients(of: .simulated, keeping: 1) == [])
        let clients = try await server.clients(of: .simulated)
        #expect(clients.filter(\.isForgotten).map(\.id) == [silent])
        #expect(try await server.summary(of: .simulated).stateCount <= 2)
        let audit = try await ReplicaAudit("simulated", .server, in: store)
        #expect(audit.problems == [] && audit.objects.count == 9)

        for client in [theirs, ours] { try await client.synchronize() }
        for client in [ours, theirs] {
            let count = try await client.replica.store.read { try $0.get("a", in: lists) }
            #expect(count == ["count": 9])
            #expect(try await client.replica.store.read { try $0.count(in: cards) } == 9)
        }
    }

    @Test func `an audit tells a damaged line`() async throws {
        let store = try Store(.memory)
        let server = try await Self.server(store)
        let client = try await Client(server)
        try await client.replica.store.write { try $0.set(["count": 0], for: "a", in: lists) }
        try await client.add(1)
        try await client.synchronize()
        let device = client.replica.store
        #expect(try await ReplicaAudit("simulated", .device, in: device).problems == [])
        try await store.write { transaction in
            try transaction.database.execute(
                sql: "DELETE FROM godwit_line_object WHERE collection = 'cards'"
            )
            transaction.touch()
        }
        let audit = try await ReplicaAudit("simulated", .server, in: store)
        #expect(audit.problems.count == 2)
        try await device.write { transaction in
            try transaction.database.execute(
                sql: "UPDATE godwit_device_collection SET count = count + 1"
            )
            transaction.touch()
        }
        #expect(try await !ReplicaAudit("simulated", .device, in: device).problems.isEmpty)
    }

    @Test func `too many who wait are told to come later`() async throws {
        let turns = Turns<Int>()
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await turns.take(1) {
                    start.yield()
                    for await _ in ends {}
                }
                return true
            }
            for await _ in starts { break }
            for _ in 0...Turns<Int>.waitingMax {
                group.addTask { (try? await turns.take(1) {}) != nil }
            }
            // The one that is refused does not wait for its turn.
            #expect(try await group.next() == false)
            end.finish()
            var count = 0
            for try await isDone in group where isDone { count += 1 }
            #expect(count == Turns<Int>.waitingMax + 1)
        }
    }

    @Test func `several nodes may serve one storage`() async throws {
        let folder = try TemporaryFolder()
        var options = Store.Options()
        options.processes = .several
        var servers: [ReplicaServer] = []
        for _ in 0..<2 {
            let store = try Store(.file(folder.path("server.sqlite")), options: options)
            servers.append(try await Self.server(store))
        }
        try await Self.edit(on: servers)
    }

    /// Has six devices edit one counter and make cards of their own, all at once.
    private static func edit(on servers: [ReplicaServer]) async throws {
        var clients: [Client] = []
        for number in 0..<6 {
            clients.append(try await Client(servers[number % servers.count]))
        }
        try await clients[0].replica.store.write { try $0.set(["count": 0], for: "a", in: lists) }
        for client in clients { try await client.synchronize() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask {
                    for edit in 0..<8 {
                        try await client.add(10 * number + edit)
                        try await client.synchronize()
                    }
                }
            }
            try await group.waitForAll()
        }
        for client in clients { try await client.synchronize() }
        for client in clients {
            let replica = client.replica
            let (count, keys) = try await replica.store.read { transaction in
                (try transaction.get("a", in: lists), try transaction.keys(in: cards))
            }
            #expect(count == ["count": 48])
            #expect(keys.count == 48)
            #expect(try await replica.store.write { try replica.problems(in: $0) } == [])
        }
    }

    @Test func `states that starts of the server had found go when these are forgotten`()
        async throws
    {
        let folder = try TemporaryFolder()
        let device = try Store(.memory)
        for start in 0..<LineSlice.openingCountMax + 12 {
            let store = try Store(.file(folder.path("server.sqlite")))
            let client = try await Client(Self.server(store), device)
            for number in Int64(0)..<3 {
                try await device.write {
                    try $0.set(["n": .int(Int64(start)), "m": .int(number)], for: "a", in: lists)
                }
                try await client.synchronize()
            }
            let summary = try await client.server.summary(of: .simulated)
            #expect(summary.stateCount <= ReplicaSummary.stateCountMax(clientCount: 1))
            client.replica.close()
            try store.close()
        }
    }

    @Test func `commits of many objects leave no states behind`() async throws {
        let client = try await Client(Self.server(Store(.memory)))
        for round in Int64(0)..<15 {
            try await client.replica.store.write { transaction in
                for number in 0..<100 {
                    try transaction.set(.int(round), for: "c\(number)", in: cards)
                }
            }
            try await client.synchronize()
        }
        let summary = try await client.server.summary(of: .simulated)
        #expect(summary.stateCount <= 4)
        #expect(summary.objectCount == 100)
    }

    @Test func `a replica that is not there is an error`() async throws {
        let server = ReplicaServer(try await SQLiteLineStorage(Store(.memory)))
        let client = try await Client(server)
        await #expect(throws: ReplicationError.unknownReplica("simulated")) {
            try await client.synchronize()
        }
    }

    @Test func `damaged messages are refused, and change nothing`() async throws {
        let server = try await Self.server(Store(.memory))
        let client = try await Client(server)
        let replica = client.replica
        try await replica.store.write { try $0.set(["id": 1], for: "c1", in: cards) }
        let sent = try await replica.store.write { try replica.nextRequest(in: $0) }
        let sound = sent.message.frame.bytes(for: .own)
        let damaged = sound.dropLast() + [sound[sound.count - 1] ^ 1]
        await #expect(throws: ReplicationError.damagedMessage) {
            _ = try await server.answer(Array(damaged), from: sent.client, of: .simulated)
        }
        try await client.synchronize()
        let other = try await Client(server)
        try await other.synchronize()
        #expect(try await other.replica.store.read { try $0.keys(in: cards) } == ["c1"])
    }

    @Test func `tasks of one name run one after the other, in their order`() async throws {
        let (turns, log) = (Turns<String>(), Log())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await turns.take("a") {
                        log.add(number)
                        await Task.yield()
                        log.add(number)
                    }
                }
            }
            try await group.waitForAll()
        }
        let found = log.numbers
        #expect(found.count == 100)
        for place in stride(from: 0, to: 100, by: 2) { #expect(found[place] == found[place + 1]) }
        struct Fault: Error {}
        let fault: @Sendable () async throws -> Int = { throw Fault() }
        await #expect(throws: Fault.self) { _ = try await turns.take("a", fault) }
        let next = try await turns.take("a") { 1 }
        #expect(next == 1)
    }
}

/// What several tasks write down.
private final class Log: Sendable {
    private let entries = Mutex<[Int]>([])

    var numbers: [Int] { entries.withLock { $0 } }

    func add(_ number: Int) { entries.withLock { $0.append(number) } }
}
