import Foundation
import Godwit
import GodwitServer
import GodwitTestKit
import Logging
import Synchronization

/// What an edit costs from one device through the server to another.
struct ReplayBenchmark {
    let folder: TemporaryFolder

    private static let editCount = 200

    func run() async throws {
        print(
            row("document", "in process /s", "loopback /s", "bytes median", "mean")
                + row("", "zstd median", "mean")
        )
        for document in Document.all {
            let versions = try document.versions(last: Self.editCount + 1)
            let local = try await inProcess(versions, name: document.name)
            let remote = try await overLoopback(versions, name: document.name)
            let peer = try Zstd(folder: folder).patchSizes(of: versions)
            let sizes = Array(remote.sizes.dropFirst())
            print(
                row(
                    document.name,
                    "\(Int(local.rate))",
                    "\(Int(remote.rate))",
                    "\(median(sizes))",
                    "\(mean(sizes))"
                )
                    + row("", "\(median(peer))", "\(mean(peer))")
            )
        }
    }

    private func inProcess(_ versions: [Value], name: String) async throws -> Run {
        let server = try Store(.file(folder.path("\(name)-local.sqlite")))
        let network = try await SimulatedNetwork(store: server)
        let run = try await replay(versions, over: network, name: "\(name)-local")
        try server.close()
        return run
    }

    private func overLoopback(_ versions: [Value], name: String) async throws -> Run {
        let store = try Store(.file(folder.path("\(name)-remote.sqlite")))
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let server = SyncServer(store: store, port: 0, logger: logger) { continuation.yield($0) }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            var port = 0
            for await opened in ports {
                port = opened
                break
            }
            let transport = try HTTPTransport(server: "http://127.0.0.1:\(port)")
            let run = try await replay(versions, over: transport, name: "\(name)-remote")
            group.cancelAll()
            while await group.nextResult() != nil {}
            try store.close()
            return run
        }
    }

    private func replay(
        _ versions: [Value],
        over transport: any ReplicaTransport,
        name: String
    ) async throws -> Run {
        let replica = try ReplicaName(name)
        try await transport.create(replica)
        let sizes = Sizes()
        let editor = try await device("editor", replica, transport) { sizes.note($0) }
        let follower = try await device("follower", replica, transport) { _ in }
        let document = ObjectKey(collection: "d", key: "d")
        let changes = follower.store.changes()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await editor.connector.run() }
            group.addTask { try await follower.connector.run() }
            let taken = try await seconds {
                for version in versions {
                    let commit = try await editor.store.write { transaction in
                        try transaction.setValue(version, of: document)
                        return transaction.commit
                    }
                    try await editor.connector.pushed(through: commit)
                }
                let head = try await editor.replica.status().base
                if try await follower.replica.status().base != head {
                    for await _ in changes
                    where try await follower.replica.status().base == head { break }
                }
            }
            group.cancelAll()
            while await group.nextResult() != nil {}
            try editor.store.close()
            try follower.store.close()
            return Run(rate: Double(versions.count) / taken, sizes: sizes.all)
        }
    }

    private func device(
        _ role: String,
        _ replica: ReplicaName,
        _ transport: any ReplicaTransport,
        report: @escaping @Sendable (ReplicaConnector.Event) -> Void
    ) async throws -> (store: Store, replica: Replica, connector: ReplicaConnector) {
        let store = try Store(.file(folder.path("\(replica)-\(role).sqlite")))
        let connector = try ReplicaConnector(store, transport: transport, report: report)
        return (store, try await connector.open(replica, collections: ["d"]), connector)
    }
}

/// How fast a replay was, and how large its requests were.
struct Run {
    let rate: Double
    let sizes: [Int]
}

/// The sizes of the requests that carried an edit.
final class Sizes: Sendable {
    private let sizes = Mutex<[Int]>([])

    var all: [Int] { sizes.withLock { $0 } }

    func note(_ event: ReplicaConnector.Event) {
        guard case .sending(_, let size, carriesChanges: true) = event else { return }
        sizes.withLock { $0.append(size) }
    }
}

func median(_ sizes: [Int]) -> Int { sizes.isEmpty ? 0 : sizes.sorted()[sizes.count / 2] }
func mean(_ sizes: [Int]) -> Int { sizes.isEmpty ? 0 : sizes.reduce(0, +) / sizes.count }
