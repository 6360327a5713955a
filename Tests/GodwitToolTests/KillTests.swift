import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitTestKit
import GodwitTree
import Testing

/// Real processes, killed at random moments of a replay.
@Suite struct KillTests {
    private static let kills = 200 * Soak.factor

    /// Each version is a number and a list of the last ones: a version that was put together of two
    /// shows where the kills end, and one that was not played at the end.
    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a replay whose server or device is killed at 200 moments goes on to its last version`()
        async throws
    {
        let folder = try TemporaryFolder()
        let seed = Soak.seed
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

        let found = try await document(on: server)
        let played = found["n"]?.integer ?? 0
        #expect(found["items"] == Self.items(upTo: Int(played)), "one version, seed \(seed)")
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
        let last = try await document(on: server)["items"]
        #expect(last == Self.items(upTo: count - 1), "seed \(seed)")
        server.kill()
    }

    private static func items(upTo number: Int) -> Value {
        .list((0...number).suffix(40).map { .int(Int64($0)) })
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
        try process.start()
        return process
    }

    private func document(on server: ServerProcess) async throws -> Value {
        let transport = try HTTPTransport(server: server.url)
        return try await transport.fetch("/value", of: ReplicaName("kill"))["d"]?["d"] ?? .null
    }
}
