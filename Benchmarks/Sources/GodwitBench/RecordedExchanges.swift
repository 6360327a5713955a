import Foundation
import Godwit
import GodwitReplication
import GodwitTestKit
import Synchronization

/// The requests of devices that each make edits in a replica of their own, as HTTP has them.
///
/// They are made before a server is measured, so that the clients take little of the machine.
struct RecordedExchanges {
    /// The requests of each replica, in their order.
    let messages: [[[UInt8]]]

    /// - Parameter path: The file that gets the replicas as they are before the first request.
    init(replicas: Int, edits: Int, to path: String) async throws {
        let own = path + ".recorded"
        let names = try (0..<replicas).map { try ReplicaName("list-\($0)") }
        let empty = try Store(.file(path))
        let creator = try await ReplicaServer(empty)
        for name in names { try await creator.create(name) }
        try empty.close()
        try FileManager.default.copyItem(atPath: path, toPath: own)
        let store = try Store(.file(own))
        let recorder = Recorder(server: try await ReplicaServer(store))
        let objects = Store.Collection<Message>("objects")
        for name in names {
            let device = try Store(.memory)
            let connector = try ReplicaConnector(device, transport: recorder)
            _ = try await connector.open(name, collections: ["objects"])
            for number in 0..<edits {
                try await device.write { transaction in
                    var message = Message(number % 10)
                    message.score = Double(number)
                    try transaction.set(message, for: "m\(number % 10)", in: objects)
                }
                try await connector.synchronize(name)
            }
            try device.close()
        }
        try store.close()
        messages = names.map { recorder.requests[$0] ?? [] }
    }

    /// Sends the requests of each replica one after the other, and those of all replicas at once.
    ///
    /// - Parameter servers: Which take turns, as behind a balancer.
    static func send(
        _ messages: [ArraySlice<[UInt8]>],
        to servers: [ServerUnderLoad]
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for messages in messages {
                group.addTask {
                    try await onThread {
                        let connections = try servers.map { try RawConnection(port: $0.port) }
                        defer { for connection in connections { connection.close() } }
                        for (place, message) in messages.enumerated() {
                            try connections[place % connections.count].exchange(message)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Runs something that blocks on a thread of its own.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A server in this process that keeps the requests which it gets, as a client sends them over HTTP.
private final class Recorder: ReplicaTransport {
    private let server: ReplicaServer
    private let kept = Mutex<[ReplicaName: [[UInt8]]]>([:])

    init(server: ReplicaServer) { self.server = server }

    var requests: [ReplicaName: [[UInt8]]] { kept.withLock(\.self) }

    func create(_ replica: ReplicaName) async throws { try await server.create(replica) }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let head = """
            POST /v1/replicas/\(replica)/exchange HTTP/1.1\r
            host: localhost\r
            content-type: application/octet-stream\r
            godwit-client: \(client)\r
            content-length: \(body.count)\r
            \r

            """
        kept.withLock { $0[replica, default: []].append(Array(head.utf8) + body) }
        return try await server.answer(body, from: client, of: replica)
    }

    func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        AsyncThrowingStream { $0.finish() }
    }
}
