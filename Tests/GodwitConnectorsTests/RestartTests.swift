import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Connectors that are stopped and started again, as when another user signs in.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct RestartTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

    @Test func `a run that begins before the last one has ended follows what is opened later`()
        async throws
    {
        let phone = try await device()
        for _ in 0..<20 {
            let first = Task { try await phone.connector.run() }
            while phone.connector.status(of: name)?.isConnected != true { await Task.yield() }
            first.cancel()
            let second = Task { try await phone.connector.run() }
            phone.connector.close(name)
            _ = try await phone.connector.open(name, collections: ["cards"])
            while phone.connector.status(of: name)?.isConnected != true { await Task.yield() }
            second.cancel()
            for task in [first, second] {
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test func `a connector whose pushes the app's queue runs says that it cannot wait for them`()
        async throws
    {
        var options = ReplicaConnector.Options()
        options.hasOwnQueue = false
        let connector = try ReplicaConnector(
            Store(.memory),
            transport: network,
            options: options
        )
        await #expect(throws: ConnectorError.noOwnQueue) {
            try await connector.pushed(through: CommitNumber(rawValue: 1))
        }
    }

    @Test func `an exchange's number counts from when the network was told what to do`()
        async throws
    {
        let phone = try await device()
        try await phone.synchronize()
        try await phone.set(1, 1)
        network.deliver { number in number == 0 ? .loseAnswer : .arrives }
        await #expect(throws: ConnectorError.self) { try await phone.synchronize() }
        try await phone.synchronize()
    }

    @Test(arguments: [(401, true), (403, false), (404, false)])
    func `a token that the server does not take asks for a sign-in`(
        _ status: Int,
        _ needsSignIn: Bool
    ) {
        let error = ConnectorError.refused(status: status, code: "", message: "")
        #expect(error.needsSignIn == needsSignIn)
        #expect(!ConnectorError.unreachable(reason: "there is no token").needsSignIn)
    }
}
