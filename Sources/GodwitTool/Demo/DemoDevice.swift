import ArgumentParser
import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitTree

/// The demo's phone as a process of its own, so that it can be killed.
///
/// It pushes what its store holds, and never gets to read the server's answer.
struct DemoDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-device",
        abstract: "A device of the demo.",
        shouldDisplay: false
    )

    @Option var store: String
    @Option var server: String
    @Option var replica: String

    func run() async throws {
        let transport = DeafTransport(transport: try HTTPTransport(server: server))
        let device = try await Device(
            path: store,
            replica: try ReplicaName(replica),
            transport: transport
        )
        try await device.connector.run()
    }
}

/// Sends, and then waits for ever with the answer in its hand.
private struct DeafTransport: ReplicaTransport {
    let transport: HTTPTransport

    func create(_ replica: ReplicaName) async throws { try await transport.create(replica) }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let answer = try await transport.exchange(body, replica: replica, client: client)
        try Terminal.print("sent")
        try await Task.sleep(for: .seconds(3_600))
        return answer
    }

    func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        AsyncThrowingStream { _ in }
    }
}
