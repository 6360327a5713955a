import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitTestKit
import GodwitTree
import Testing

/// Real processes, killed at random moments of a replay.
@Suite struct KillTests {
    private static let kills = 200 * Soak.factor

    /// The document holds a list to which every version adds its number: an edit that was lost,
    /// or applied twice, shows at the end.
    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `killing server or device at 200 moments loses nothing and doubles nothing`() async throws
    {
        let folder = try TemporaryFolder()
        let seed = UInt64.random(in: 0..<1_000_000)
        var random = Seeded(seed: seed)
        let history = folder.path("history.jsonl")
        try Self.writeHistory(count: 40_000 * Soak.factor, to: history)
        let server = try ServerProcess(store: folder.path("server.sqlite"))
        let replay = [
            "replay", history, "--server", server.url, "--replica", "kill", "--devices",
            folder.path("devices"), "--json",
        ]

        let errors = folder.path("errors.txt")
        var device = try start(replay, errors: errors)
        var killed = (server: 0, device: 0)
        while killed.server + killed.device < Self.kills {
            // Real processes, random moments: the one place where a test lets time pass.
            let pause = Duration.milliseconds(Int.random(in: 5...120, using: &random))
            try await ContinuousClock().sleep(for: pause)
            let printed = try String(contentsOfFile: errors, encoding: .utf8)
            try #require(device.isRunning, "the replay ended early, seed \(seed): \(printed)")
            if random.happens(0.5) {
                server.kill()
                killed.server += 1
                try server.restart()
            } else {
                kill(device.processIdentifier, SIGKILL)
                device.waitUntilExit()
                killed.device += 1
                device = try start(replay, errors: errors)
            }
        }
        kill(device.processIdentifier, SIGKILL)
        device.waitUntilExit()

        let played = try await document(on: server)["n"]?.integer ?? 0
        let count = Int(played) + 100
        device = try start(replay + ["--limit", "\(count)"], errors: errors)
        device.waitUntilExit()
        print(
            "killed the server \(killed.server) times, the device \(killed.device) times,"
                + " in \(played) edits"
        )
        let printed = try String(contentsOfFile: errors, encoding: .utf8)
        #expect(device.terminationStatus == 0, "seed \(seed): \(printed)")
        #expect(played > 0, "something was played between the kills")
        let items = try await document(on: server)["items"]?.list
        #expect(
            items.map(Array.init) == (0..<count).suffix(40).map { .int(Int64($0)) },
            "seed \(seed)"
        )
        server.kill()
    }

    /// Every version holds the last forty numbers, so that versions stay small.
    private static func writeHistory(count: Int, to path: String) throws {
        let lines = (0..<count).map { number in
            let items = (max(0, number - 39)...number).map(String.init).joined(separator: ",")
            return #"{"n":\#(number),"items":[\#(items)]}"#
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
    }

    private func start(_ arguments: [String], errors: String) throws -> Process {
        let process = Godwit.command(arguments)
        process.standardOutput = FileHandle.nullDevice
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.run()
        return process
    }

    private func document(on server: ServerProcess) async throws -> Value {
        let transport = try HTTPTransport(server: server.url)
        return try await transport.fetch("/value", of: ReplicaName("kill"))["d"]?["d"] ?? .null
    }
}
