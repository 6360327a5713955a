import GodwitConnectors
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// A replica that two processes have open: an app and its widget.
@Suite struct SharedReplicaTests: CardSuite {
    let server: CardServer
    private let folder: TemporaryFolder

    init() async throws {
        server = try await CardServer()
        folder = try TemporaryFolder()
    }

    /// The store of one more process.
    private func store() throws -> Store {
        var options = Store.Options()
        options.processes = .several
        return try Store(.file(folder.path("shared.sqlite")), options: options)
    }

    @Test func `a process that follows is told when another one leaves the replica`() async throws {
        let app = try await CardDevice(store(), name, network)
        let store = try store()
        let (closings, closing) = AsyncStream.makeStream(of: ReplicaName.self)
        let widget = try ReplicaConnector(store, transport: network) { event in
            if case .closed(let name) = event { closing.yield(name) }
        }
        _ = try await widget.open(name, collections: ["cards"])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await widget.run() }
            let statuses = widget.statuses(of: name)
            try await widget.statuses(of: name).reaches { $0.isConnected }
            try await app.connector.leave(name)
            for await name in closings {
                #expect(name == self.name)
                break
            }
            for await _ in statuses {}
            for await _ in widget.statuses(of: name) { Issue.record("it is not open") }
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
        for store in [app.store, store] { try store.close() }
    }

    @Test func `a process learns that another one has left the replica`() async throws {
        let app = try await CardDevice(store(), name, network)
        let widget = try await CardDevice(store(), name, network)
        try await app.set(1, 1)
        try await app.synchronize()
        try await app.connector.leave(name, discardingChanges: true)
        _ = try await app.connector.open(name, collections: ["cards"])
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            try await widget.synchronize()
        }
        #expect(widget.connector.status(of: name) == nil)
        let replica = try await widget.connector.open(name, collections: ["cards"])
        try await widget.set(2, 2)
        try await widget.synchronize()
        #expect(try await !replica.status().isDirty)
        #expect(try await network.server.value(of: name)["cards"]?.map?.count == 2)
        for device in [app, widget] { try device.store.close() }
    }

    @Test func `a process that has sent a request learns that another one has left the replica`()
        async throws
    {
        let app = try await CardDevice(store(), name, network)
        let transport = InterruptedTransport(network: network) { [name] in
            try await app.connector.leave(name)
        }
        let widget = try await CardDevice(store(), name, transport)
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            try await widget.synchronize()
        }
        #expect(widget.connector.status(of: name) == nil)
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            _ = try await widget.replica.status()
        }
        for device in [app, widget] { try device.store.close() }
    }

    @Test func `a replica that another process has left is opened again at once`() async throws {
        let app = try await CardDevice(store(), name, network)
        let widget = try await CardDevice(store(), name, network)
        try await app.connector.leave(name)
        let (shared, old) = (widget.store, widget.replica)
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            try await shared.write { try old.needsRequest(in: $0) }
        }
        let replica = try await widget.connector.open(name, collections: ["cards"])
        try await widget.set(1, 1)
        try await widget.synchronize()
        #expect(try await !replica.status().isDirty)
        #expect(try await network.server.value(of: name)["cards"]?.map?.count == 1)
        for device in [app, widget] { try device.store.close() }
    }

    @Test func `leaving does not reach the replica that another process has opened since`()
        async throws
    {
        let app = try await CardDevice(store(), name, network)
        let widget = try await CardDevice(store(), name, network)
        try await app.connector.leave(name)
        let replica = try await app.connector.open(name, collections: ["cards"])
        try await app.set(1, 1)
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            try await widget.connector.leave(name, removingObjects: true, discardingChanges: true)
        }
        #expect(widget.connector.status(of: name) == nil)
        #expect(try await app.keys() == ["c1"])
        #expect(try await app.store.read { try $0.operations().count } == 1)
        try await app.synchronize()
        #expect(try await !replica.status().isDirty)
        for device in [app, widget] { try device.store.close() }
    }
}

/// A network on which something else happens before an answer is taken in.
private struct InterruptedTransport: ForwardingTransport {
    let network: SimulatedNetwork
    let interrupt: @Sendable () async throws -> Void

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let answer = try await network.exchange(body, replica: replica, client: client)
        try await interrupt()
        return answer
    }
}
