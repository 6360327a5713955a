import ArgumentParser
import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitServer
import GodwitStore
import Logging
import ServiceLifecycle

/// Shows the main job on this machine.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show three devices that edit one list offline, and converge.",
        discussion: """
            Starts a server on loopback and devices on embedded SQLite, in a temporary
            folder, and stops all of it at the end. With --input, a real history is
            replayed instead.

            EXAMPLES
              godwit demo --svg states.svg
              godwit demo --input history.jsonl.xz
            """
    )

    @Option(help: "A history to replay instead: one version on each line.") var input: String?
    @Option(help: "Where to draw the server's states.") var svg = "godwit-demo.svg"

    func run() async throws {
        try await withFolder(nil) { folder in
            let file = folder.appending(path: "server.sqlite").path
            try await withServer(file: file) { server in
                try Terminal.print("A server listens on \(server).")
                guard let input else {
                    return try await DemoStory(folder: folder, server: server).tell()
                }
                let run = ReplayRun(
                    file: input,
                    transport: try HTTPTransport(server: server),
                    replica: ReplicaName("history"),
                    folder: folder,
                    versionsMax: .max
                )
                try Terminal.print("Replaying \(input), on two devices.\n")
                try Terminal.print(try await run.run().text)
            }
            try await draw(file)
        }
    }

    private func draw(_ file: String) async throws {
        let store = try Store(.file(file), options: .readOnly)
        defer { try? store.close() }
        guard let record = try await ReplicaRecord.all(in: store).first else {
            throw ToolError("the server kept no replica")
        }
        try Data(StateDrawing(record).svg.utf8).write(to: URL(filePath: svg))
        try Terminal.print("\nThe server's states are drawn in \(svg).")
    }
}

/// Runs a server on a free port of loopback for as long as `body` takes.
func withServer(file: String, _ body: (String) async throws -> Void) async throws {
    let store = try Store(.file(file))
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let logger = Terminal.logger(level: .error)
    let server = SyncServer(store: store, port: 0, logger: logger) { continuation.yield($0) }
    let services = ServiceGroup(services: [server], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { continuation.finish() }
            try await services.run()
        }
        if let port = await ports.first(where: { _ in true }) {
            do {
                try await body("http://127.0.0.1:\(port)")
            } catch {
                await services.triggerGracefulShutdown()
                throw error
            }
            await services.triggerGracefulShutdown()
        }
        try await group.waitForAll()
    }
    try store.close()
}
