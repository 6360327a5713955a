import GodwitConnectors
import GodwitQueue
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Memory that is given back once an app has closed its store.
@Suite struct LifetimeTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

    @Test(arguments: [false, true])
    func `a store is freed when it is closed`(isFile: Bool) async throws {
        let folder = try TemporaryFolder()
        weak var freed: Store?
        do {
            let store = try Store(isFile ? .file(folder.path("store.sqlite")) : .memory)
            freed = store
            try await store.write { try $0.set(1, for: "a", in: CardServer.cards) }
            _ = try await store.read { try $0.get("a", in: CardServer.cards) }
            try store.close()
        }
        #expect(freed == nil)
    }

    @Test func `a simulated disk is freed with the store on it`() async throws {
        weak var freed: SimulatedDisk?
        for isKilled in [false, true] {
            let folder = try TemporaryFolder()
            let disk = SimulatedDisk(folder: folder)
            freed = disk
            disk.work(for: 1)
            let store = try Store(.file(folder.path("store.sqlite")))
            try await store.write { try $0.set(1, for: "a", in: CardServer.cards) }
            if isKilled { disk.kill(1) }
            try? store.close()
        }
        #expect(freed == nil)
    }

    @Test func `queue, connector and replica are freed with their store`() async throws {
        weak var freedStore: Store?
        weak var freedQueue: PushQueue?
        weak var freedConnector: ReplicaConnector?
        weak var freedReplica: Replica?
        do {
            let store = try Store(.memory)
            var options = ReplicaConnector.Options()
            options.hasOwnQueue = false
            let connector = try ReplicaConnector(store, transport: network, options: options)
            let queue = try PushQueue(store, pipelines: [connector.pipeline])
            let replica = try await connector.open(name, collections: ["cards"])
            (freedStore, freedQueue, freedConnector) = (store, queue, connector)
            freedReplica = replica
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await queue.run() }
                group.addTask { try await connector.run() }
                try await connector.statuses(of: name).reaches { $0.isConnected }
                try await store.write { try $0.set(1, for: "a", in: CardServer.cards) }
                try await connector.synchronize(name)
                group.cancelAll()
                while await group.nextResult() != nil {}
            }
            connector.close(name)
            try store.close()
        }
        #expect(freedReplica == nil)
        #expect(freedConnector == nil)
        #expect(freedQueue == nil)
        #expect(freedStore == nil)
    }
}
