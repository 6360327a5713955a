import GodwitConnectors
import GodwitQueue
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// Devices that a server does not let in, or lets read alone.
@Suite struct UnwelcomeDeviceTests {
    private let name: ReplicaName
    private let network: SimulatedNetwork

    init() async throws {
        name = ReplicaName("shopping")
        network = try await SimulatedNetwork(store: Store(.memory))
        try await network.create(name)
    }

    @Test(arguments: ["tokenRequired", "tokenExpired", "tokenInvalid"])
    func `a token that is not taken ends the run with a typed error`(_ code: String) async throws {
        let server = RefusingServer(network, .refused(status: 401, code: code, message: "no"))
        let connector = try await device(server, ManualClock())
        await #expect(throws: server.error) { try await connector.synchronize(name) }
        await #expect(throws: server.error) { try await connector.run() }
        #expect(connector.status(of: name)?.lastError as? ConnectorError == server.error)
    }

    @Test(arguments: ["readOnly", "notPermitted", "foreignClient"])
    func `an edit that may not be written is tried again more and more rarely`(
        _ code: String
    ) async throws {
        let error = ConnectorError.refused(status: 403, code: code, message: "no")
        let server = RefusingServer(network, error, refusesHeads: false)
        let clock = ManualClock()
        let connector = try await device(server, clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await connector.run() }
            try await connector.store.write { transaction in
                try transaction.set("wine", for: "a", in: Store.Collection<String>("lists"))
            }
            for round in 1...8 {
                let delay = await clock.nextDelay()
                #expect(delay == .milliseconds(100 * (1 << (round - 1))))
                #expect(server.exchangeCount == round)
                clock.advance(by: delay)
            }
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
    }

    @Test func `an edit that was denied is sent by the attempt after the right is granted`()
        async throws
    {
        let error = ConnectorError.refused(status: 403, code: "readOnly", message: "no")
        let server = RefusingServer(network, error, refusesHeads: false, times: 3)
        let clock = ManualClock()
        let connector = try await device(server, clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await connector.run() }
            let commit = try await connector.store.write { transaction in
                try transaction.set("wine", for: "a", in: Store.Collection<String>("lists"))
                return transaction.commit
            }
            for _ in 1...3 {
                let delay = await clock.nextDelay()
                clock.advance(by: delay)
            }
            try await connector.pushed(through: commit)
            #expect(try await network.server.value(of: name) == ["lists": ["a": "wine"]])
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
    }

    @Test
    func `edits for which the server has no room are sent by the push after one that makes room`()
        async throws
    {
        let cards = CardServer.cards
        var options = ReplicaServer.Options()
        options.replicaSizeMax = 1_000
        let network = try await SimulatedNetwork(store: Store(.memory), options: options)
        try await network.create(name)
        let phone = try await CardDevice(Store(.memory), name, network)
        let tablet = try await CardDevice(Store(.memory), name, network)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await phone.connector.run() }
            var commit = try await phone.store.write { transaction in
                for key in ["a", "b", "c"] {
                    let text = Value.string(Key(String(repeating: key, count: 400)))
                    try transaction.set(["text": text], for: key, in: cards)
                }
                return transaction.commit
            }
            try await phone.connector.pushed(through: commit)
            var rejections = try await phone.replica.status().rejections
            #expect(rejections == [ObjectKey(collection: "cards", key: "c"): .overQuota])
            #expect(try await phone.keys() == ["a", "b", "c"], "the device keeps its own")
            commit = try await phone.store.write { transaction in
                try transaction.remove("b", in: cards)
                return transaction.commit
            }
            try await phone.connector.pushed(through: commit)
            rejections = try await phone.replica.status().rejections
            #expect(rejections == [:])
            try await tablet.synchronize()
            #expect(try await tablet.keys() == ["a", "c"])
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
    }

    @Test func `devices that a server asks to wait come back one after the other`() {
        let delays = [0, 0.5, 0.75].map { jitter in
            Backoff(jitter: { jitter }).delay(asked: .seconds(40))
        }
        #expect(delays == [.seconds(40), .seconds(45), .milliseconds(47_500)])
    }

    @Test(arguments: [true, false])
    func `a server that asks to wait is left alone for as long`(_ refusesHeads: Bool) async throws {
        let error = ConnectorError.busy(retryAfter: .seconds(30), message: "later")
        let server = RefusingServer(network, error, refusesHeads: refusesHeads)
        let clock = ManualClock()
        let connector = try await device(server, clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await connector.run() }
            if !refusesHeads {
                try await connector.store.write { transaction in
                    try transaction.set("wine", for: "a", in: Store.Collection<String>("lists"))
                }
            }
            for _ in 1...4 {
                let delay = await clock.nextDelay()
                #expect(delay == .seconds(30))
                clock.advance(by: delay)
            }
            #expect(connector.status(of: name)?.lastError as? ConnectorError == server.error)
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
    }

    private func device(
        _ server: RefusingServer,
        _ clock: ManualClock
    ) async throws -> ReplicaConnector {
        var options = ReplicaConnector.Options()
        options.clock = clock
        options.backoff = Backoff(jitter: { 0 })
        let store = try Store(.memory)
        let connector = try ReplicaConnector(store, transport: server, options: options)
        _ = try await connector.open(name, collections: ["lists"])
        return connector
    }
}

/// A server that refuses exchanges, and perhaps also to tell of its states.
private final class RefusingServer: ReplicaTransport {
    let error: ConnectorError
    private let network: SimulatedNetwork
    private let refusesHeads: Bool
    /// How many exchanges it refuses.
    private let times: Int
    private let count = Mutex(0)

    init(
        _ network: SimulatedNetwork,
        _ error: ConnectorError,
        refusesHeads: Bool = true,
        times: Int = .max
    ) {
        (self.network, self.error) = (network, error)
        (self.refusesHeads, self.times) = (refusesHeads, times)
    }

    var exchangeCount: Int { count.withLock(\.self) }

    func create(_ replica: ReplicaName) async throws { throw error }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let number = count.withLock { count in
            count += 1
            return count
        }
        guard number > times else { throw error }
        return try await network.exchange(body, replica: replica, client: client)
    }

    func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        guard refusesHeads else { return network.heads(of: replica) }
        return AsyncThrowingStream { $0.finish(throwing: error) }
    }
}
