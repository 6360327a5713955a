import ArgumentParser
import Foundation
import GodwitConnectors
import GodwitReplication

/// Plays the history of a document through a server.
struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play the versions of a JSON document through a server, and measure.",
        discussion: """
            FILE holds one version of a document on each line, as JSON; it may be
            compressed with xz. One device makes each version of the one before; a second
            device follows by push. Fails unless the server and both devices end with the
            same id and the same bytes.

            Bytes per edit are those of the request bodies that carry an edit to the
            server; the first version, which carries the whole document, is counted apart.

            EXAMPLES
              godwit replay history.jsonl.xz --server http://127.0.0.1:7007
              godwit replay history.jsonl --server http://127.0.0.1:7007 --limit 100 --json
            """
    )

    @Argument(help: "The versions: one JSON document on each line.") var file: String
    @Option(help: "The server's address.") var server: String
    @Option(help: "The replica's name; made from the file's name when there is none.")
    var replica: String?
    @Option(help: "A folder for the devices' stores; a replay that was interrupted goes on there.")
    var devices: String?
    @Option(help: "Play at most this many versions.") var limit: Int?
    @Flag(help: "Print one object.") var json = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1.") }
    }

    func run() async throws {
        let report = try await withFolder(devices) { folder in
            let run = ReplayRun(
                file: file,
                transport: try HTTPTransport(server: server),
                replica: try replicaName(),
                folder: folder,
                versionsMax: limit ?? .max
            )
            return try await run.run()
        }
        if json {
            try Terminal.print(json: report.encoded)
        } else {
            try Terminal.print(report.text)
        }
    }

    /// The name that was given, or one made from the file's: the same for the same folder, a
    /// fresh one for devices that are thrown away.
    private func replicaName() throws -> ReplicaName {
        if let replica { return try ReplicaName(replica) }
        let stem = URL(filePath: file).lastPathComponent.prefix { $0 != "." }
        let plain = stem.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let suffix = devices == nil ? "-" + UUID().uuidString.prefix(8).lowercased() : ""
        return try ReplicaName("replay-" + String(plain.prefix(80)) + suffix)
    }
}

/// Lends a folder: the one that was asked for, or a temporary one that is removed afterwards.
func withFolder<Result>(
    _ path: String?,
    _ body: (URL) async throws -> Result
) async throws -> Result {
    let manager = FileManager.default
    if let path {
        let folder = URL(filePath: path)
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        return try await body(folder)
    }
    let folder = manager.temporaryDirectory.appending(path: "godwit-\(UUID().uuidString)")
    try manager.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? manager.removeItem(at: folder) }
    return try await body(folder)
}
