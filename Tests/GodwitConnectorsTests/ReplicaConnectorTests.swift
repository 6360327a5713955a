import Dispatch
import GodwitConnectors
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitReplication

/// Stores, queues, replicas and a server together, over a simulated network.
@Suite struct ReplicaConnectorTests {
    let name: ReplicaName
    let folder: TemporaryFolder
    let network: SimulatedNetwork
    let lists = Store.Collection<[String]>("lists")

    init() async throws {
        name = ReplicaName("shopping")
        folder = try TemporaryFolder()
        network = try await SimulatedNetwork(store: Store(.memory))
        try await network.create(name)
    }

    @Test func `what one device commits arrives at the other by itself`() async throws {
        let (phone, tablet) = (try await device(.memory), try await device(.memory))
        try await running([phone, tablet]) {
            let commit = try await phone.store.write { [lists] transaction in
                try transaction.set(["bread"], for: "groceries", in: lists)
                return transaction.commit
            }
            try await phone.connector.pushed(through: commit)
            try await tablet.reach(phone.replica.status().base)
        }
        let list = try await tablet.list("groceries")
        #expect(list == ["bread"])
        #expect(try await !phone.replica.status().isDirty)
    }

    @Test func `commits made offline are pushed as one when the network is back`() async throws {
        let phone = try await device(.memory)
        network.isOnline = false
        for number in 1...20 {
            try await phone.store.write { [lists] in
                try $0.set(["\(number)"], for: "n", in: lists)
            }
        }
        for _ in 0..<3 {
            await #expect(throws: (any Error).self) {
                try await phone.connector.synchronize(name)
            }
        }
        #expect(try await phone.replica.status().isDirty)
        network.isOnline = true
        let before = network.exchangeCount
        try await phone.connector.synchronize(name)

        #expect(network.exchangeCount == before + 1)
        #expect(try await network.server.value(of: name) == ["lists": ["n": ["20"]]])
        #expect(try await !phone.replica.status().isDirty)
    }

    @Test(arguments: 1...20)
    func `a bad network delays, and neither loses nor doubles`(seed: UInt64) async throws {
        network.deliver { count in
            var random = Seeded(seed: seed &* 1_000 &+ UInt64(count))
            let fates: [SimulatedNetwork.Delivery] = [
                .arrives, .arrives, .loseRequest, .loseAnswer, .damageAnswer,
            ]
            return fates.randomElement(using: &random) ?? .arrives
        }
        let devices = [try await device(.memory), try await device(.memory)]
        try await running(devices) {
            for number in 0..<10 {
                let device = devices[number % 2]
                let commit = try await device.add("\(number)", to: "list")
                if number.isMultiple(of: 3) { try await device.connector.pushed(through: commit) }
            }
            for device in devices { try await device.drain() }
            network.deliver { _ in .arrives }
            for device in devices {
                try await device.reach(network.server.summary(of: name).head)
            }
        }
        let first = try await devices[0].list("list") ?? []
        let second = try await devices[1].list("list") ?? []
        #expect(first == second, "seed \(seed)")
        #expect(first.sorted() == (0..<10).map { "\($0)" }, "seed \(seed)")
    }

    @Test func `a device that is launched again goes on with its frozen batch`() async throws {
        let location = Store.Location.file(folder.path("phone.sqlite"))
        network.deliver { _ in .loseAnswer }
        let first = try await device(location)
        try await first.add("bread", to: "list")
        await #expect(throws: ConnectorError.self) { try await first.connector.synchronize(name) }
        try await first.add("wine", to: "list")
        let client = try await first.replica.status().client
        try first.store.close()

        network.deliver { _ in .arrives }
        let second = try await device(location)
        #expect(try await second.replica.status().client == client)
        try await running([second]) { try await second.drain() }

        let list = try await second.list("list")
        #expect(list == ["bread", "wine"])
        let head = try await network.server.value(of: name)
        #expect(head == ["lists": ["list": ["bread", "wine"]]])
        try second.store.close()
    }

    @Test func `objects from before the replica are its first change`() async throws {
        let store = try Store(.memory)
        try await store.write { [lists] in try $0.set(["old"], for: "a", in: lists) }
        let phone = try await Peer(store, name, network)

        try await phone.connector.synchronize(name)

        #expect(try await network.server.value(of: name) == ["lists": ["a": ["old"]]])
    }

    @Test func `a removed object goes everywhere, other collections stay at home`() async throws {
        let (phone, tablet) = (try await device(.memory), try await device(.memory))
        try await phone.store.write { [lists] transaction in
            try transaction.set(["x"], for: "a", in: lists)
            try transaction.set(["y"], for: "b", in: lists)
            try transaction.set(1, for: "secret", in: Store.Collection<Int>("private"))
        }
        try await phone.connector.synchronize(name)
        try await tablet.connector.synchronize(name)
        try await phone.store.write { [lists] in try $0.remove("a", in: lists) }
        try await phone.connector.synchronize(name)
        try await tablet.connector.synchronize(name)

        let keys = try await tablet.store.read { [lists] in try $0.keys(in: lists) }
        #expect(keys == ["b"])
        #expect(try await network.server.value(of: name) == ["lists": ["b": ["y"]]])
    }

    @Test func `a replica that the server does not have is a typed error`() async throws {
        let phone = try await Peer(try Store(.memory), ReplicaName("unknown"), network)
        try await phone.add("x", to: "list")
        let unknown = ConnectorError.refused(
            status: 404,
            code: "unknownReplica",
            message: "there is no replica \"unknown\""
        )
        await #expect(throws: unknown) {
            try await phone.connector.synchronize(phone.replica.name)
        }
        await #expect(throws: unknown) { try await phone.connector.run() }
        #expect(try await phone.replica.status().isDirty)
    }

    @Test func `a replica that the server does not have lets the others go on`() async throws {
        let phone = try await device(.memory)
        let other = ReplicaName("notes")
        _ = try await phone.connector.open(other, collections: ["notes"])
        let notes = Store.Collection<[String]>("notes")
        try await running([phone]) {
            for await status in phone.connector.statuses(of: other) {
                guard case ConnectorError.refused(404, "unknownReplica", _)? = status.lastError
                else { continue }
                break
            }
            try await phone.add("bread", to: "groceries")
            try await phone.drain()
            let value = try await network.server.value(of: name)
            #expect(value == ["lists": ["groceries": ["bread"]]])
            // It is followed as soon as the server has it.
            try await network.create(other)
            try await phone.store.write { try $0.set(["new"], for: "a", in: notes) }
            for await status in phone.connector.statuses(of: other) where status.isConnected {
                break
            }
        }
        #expect(try await network.server.value(of: other) == ["notes": ["a": ["new"]]])
    }

    @Test func `the status says whether the server is there, and why not`() async throws {
        let phone = try await device(.memory)
        network.isOnline = false
        try await running([phone]) {
            let statuses = phone.connector.statuses(of: name)
            try await phone.add("x", to: "list")
            for await status in statuses {
                guard case ConnectorError.unreachable? = status.lastError else { continue }
                #expect(status.lastSynced == nil)
                network.isOnline = true
                break
            }
            try await phone.connector.statuses(of: name).reaches { status in
                status.isConnected && status.lastError == nil && status.lastSynced != nil
            }
        }
        #expect(phone.connector.status(of: name)?.isConnected == false)
        #expect(phone.connector.status(of: ReplicaName("other")) == nil)
    }

    /// The reader of a commit may be there before the memory of its writer has followed.
    @Test func `an edit is pushed whose operation is seen before its commit is published`()
        async throws
    {
        let phone = try await device(.file(folder.path("phone.sqlite")))
        let pause = CommitPause()
        let edit = Task { [lists] in
            try await phone.store.write { transaction in
                transaction.add(pause)
                try transaction.set(["bread"], for: "groceries", in: lists)
            }
        }
        await pause.reached()
        try await running([phone]) {
            while try await phone.store.statistics().queueDepth == 0 { await Task.yield() }
            pause.end()
            try await edit.value
            try await phone.drain()
        }
        let head = try await network.server.value(of: name)
        #expect(head == ["lists": ["groceries": ["bread"]]])
        try phone.store.close()
    }

    @Test func `an edit is pushed after answers that could not be used`() async throws {
        let liar = Liar(network)
        let phone = try await Peer(try Store(.memory), name, liar)
        try await phone.add("bread", to: "groceries")
        try await running([phone]) { try await phone.drain() }

        #expect(liar.lieCount > 0)
        let head = try await network.server.value(of: name)
        #expect(head == ["lists": ["groceries": ["bread"]]])
    }

    private func device(_ location: Store.Location) async throws -> Peer {
        try await Peer(try Store(location), name, network)
    }

    private func running(_ devices: [Peer], _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try await device.connector.run() } }
            try await body()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }
}

/// Holds a writer between its commit and the moment at which memory follows.
private final class CommitPause: TransactionParticipant {
    private let (commits, commit) = AsyncStream.makeStream(of: Void.self)
    private let semaphore = DispatchSemaphore(value: 0)

    func reached() async { for await _ in commits { return } }
    func end() { semaphore.signal() }

    func committed() {
        commit.yield()
        semaphore.wait()
    }
    func requestSucceeded() {}
    func requestFailed() {}
    func rolledBack() {}
}

/// A network that swallows requests, and answers with a delta that leads elsewhere, until the device
/// asks how it can recover.
private final class Liar: ForwardingTransport {
    private struct State {
        var lieCount = 0
        var isRecovering = false
    }

    let network: SimulatedNetwork
    private let state = Mutex(State())

    init(_ network: SimulatedNetwork) { self.network = network }

    var lieCount: Int { state.withLock { $0.lieCount } }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let request = try WireRequest(WireFrame(bytes: body, budget: .standard), from: client)
        let isHonest = state.withLock { state in
            if case .recovery = request { state.isRecovering = true }
            if !state.isRecovering { state.lieCount += 1 }
            return state.isRecovering
        }
        guard !isHonest else {
            return try await network.exchange(body, replica: replica, client: client)
        }
        let key = ObjectKey(collection: "lists", key: "a")
        let answer = SlotAnswer(
            status: .ok,
            epoch: Epoch(1),
            nonce: 0,
            outcome: nil,
            head: .root,
            starts: [],
            changes: [key: .set(VersionedValue(["not": "what the head names"]))]
        )
        let packed = try PackedAnswer(answer) { _ throws(ReplicationError) in nil }
        return WireAnswer.exchange(packed).frame.bytes(for: .own)
    }
}

/// A device with lists of words.
private struct Peer: Sendable {
    let store: Store
    let replica: Replica
    let connector: ReplicaConnector
    private let lists = Store.Collection<[String]>("lists")

    init(
        _ store: Store,
        _ name: ReplicaName,
        _ network: any ReplicaTransport
    ) async throws {
        self.store = store
        var options = ReplicaConnector.Options()
        options.backoff = Backoff(delayMin: .microseconds(100), jitter: { 0 })
        connector = try ReplicaConnector(store, transport: network, options: options)
        replica = try await connector.open(name, collections: ["lists"])
    }

    func list(_ key: String) async throws -> [String]? {
        try await store.read { [lists] in try $0.get(key, in: lists) }
    }

    @discardableResult
    func add(_ word: String, to key: String) async throws -> CommitNumber {
        try await store.write { [lists] transaction in
            let old = try transaction.get(key, in: lists) ?? []
            try transaction.set(old + [word], for: key, in: lists)
            return transaction.commit
        }
    }

    /// Waits until everything committed so far is on the server.
    func drain() async throws {
        try await connector.pushed(through: store.read { $0.lastCommit })
    }

    /// Waits until the device has adopted a state.
    func reach(_ head: LineState) async throws {
        let changes = store.changes()
        guard try await replica.status().base != head else { return }
        for await _ in changes where try await replica.status().base == head { return }
    }
}
