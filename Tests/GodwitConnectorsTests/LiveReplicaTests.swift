import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Observation
import Testing

/// What a screen sees of a replica.
@Suite @MainActor struct LiveReplicaTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

    private func live(_ device: CardDevice) -> LiveReplica {
        LiveReplica(device.replica, of: device.connector)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a screen counts what waits to be sent, and sees it go`() async throws {
        let phone = try await device()
        let sync = live(phone)
        while sync.phase.isLoading { await Task.yield() }
        #expect(sync.pendingCount == 0 && sync.status == SyncStatus())
        for number in 1...3 { try await phone.set(number, 1) }
        while sync.pendingCount != 3 { await Task.yield() }
        try await phone.synchronize()
        while sync.pendingCount != 0 { await Task.yield() }
        #expect(sync.status.lastSynced != nil && !sync.status.isConnected)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a screen sees why the server was not reached, until it was`() async throws {
        let phone = try await device()
        let sync = live(phone)
        network.isOnline = false
        await #expect(throws: ConnectorError.self) { try await phone.synchronize() }
        while sync.status.lastError == nil { await Task.yield() }
        guard case ConnectorError.unreachable? = sync.status.lastError else {
            Issue.record("\(String(describing: sync.status.lastError))")
            return
        }
        network.isOnline = true
        try await phone.synchronize()
        while sync.status.lastError != nil { await Task.yield() }
        #expect(sync.status.lastSynced != nil)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a screen sees that the network is cut while nothing is sent`() async throws {
        let phone = try await device()
        let sync = live(phone)
        let running = Task { try await phone.connector.run() }
        defer { running.cancel() }
        while !sync.status.isConnected { await Task.yield() }
        network.isOnline = false
        while sync.status.isConnected { await Task.yield() }
        network.isOnline = true
        while !sync.status.isConnected { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a screen names the objects that the server has refused`() async throws {
        var options = ReplicaServer.Options()
        options.objectSizeMax = 100
        let network = try await SimulatedNetwork(store: Store(.memory), options: options)
        try await network.create(name)
        let phone = try await CardDevice(Store(.memory), name, network)
        let sync = live(phone)
        let text = String(repeating: "long ", count: 50)
        try await phone.store.write { [cards] in
            try $0.set(["text": .string(Key(text))], for: "a", in: cards)
        }
        try await phone.synchronize()
        while sync.rejections.isEmpty { await Task.yield() }
        #expect(sync.rejections == [ObjectKey(collection: "cards", key: "a"): .tooLarge])
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)), arguments: [false, true])
    func `a screen sees that a replica was closed or left`(isLeft: Bool) async throws {
        let phone = try await device()
        let sync = live(phone)
        while sync.phase.isLoading { await Task.yield() }
        if isLeft { try await phone.connector.leave(name) } else { phone.connector.close(name) }
        while true {
            if case .ended = sync.phase { break }
            await Task.yield()
        }
        try await phone.set(1, 1)
        #expect(sync.pendingCount == 0)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a status that nobody holds is freed while its replica goes on`() async throws {
        let phone = try await device()
        weak var sync: LiveReplica?
        do {
            let held = live(phone)
            while held.phase.isLoading { await Task.yield() }
            sync = held
        }
        while sync != nil { await Task.yield() }
        try await phone.set(1, 1)
        try await phone.synchronize()
    }
}
