import Foundation
import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitFaultRunner

/// Writers in a process of their own, killed at random moments, again and again on one file.
@Suite struct StoreKillTests {
    private static let kills = 100 * Soak.factor * Soak.factor

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `killing the writers at any moment loses nothing that was acknowledged`() async throws {
        let seed = Soak.seed
        var random = Seeded(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        var last: Int64 = 0
        var unheard = 0
        for kill in 1...Self.kills {
            let acknowledged = try EndlessRun(path: path).kill(
                afterAcknowledgements: Int.random(in: 0...40, using: &random),
                spinning: Int.random(in: 0...20_000, using: &random)
            )
            let store = try Store(.file(path))
            let found = try await Endless.check(store)
            try store.close()
            #expect(found.wrong == [], "seed \(seed), kill \(kill)")
            let promised = max(last, acknowledged.max() ?? 0)
            #expect(found.last >= promised, "seed \(seed), kill \(kill)")
            #expect(found.last <= promised + Int64(Endless.writerCount), "nobody else writes")
            unheard += Int(found.last - promised)
            last = found.last
        }
        #expect(last > Self.kills)
        print(
            "killed the writers \(Self.kills) times, in \(last) commits, with \(unheard) made and "
                + "unheard of, seed \(seed)"
        )
        #expect(unheard > Self.kills / 10, "commits were under way, seed \(seed)")
    }
}

/// The runner in its endless mode.
private struct EndlessRun {
    private let process = Process()
    private let output = Pipe.make()

    init(path: String) throws {
        process.executableURL = BuiltProgram.url("GodwitFaultRunner")
        process.arguments = ["endless", path]
        process.standardOutput = output
        try process.start()
    }

    /// Kills it after so many numbers were read, and a moment; answers with all it acknowledged.
    func kill(afterAcknowledgements count: Int, spinning turns: Int) throws -> [Int64] {
        let reader = output.fileHandleForReading
        var text = Data()
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            let more = reader.availableData
            guard !more.isEmpty else { break }
            text += more
        }
        let spun = Atomic(0)
        for _ in 0..<turns { spun.add(1, ordering: .relaxed) }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        text += reader.readDataToEndOfFile()
        let reports = String(decoding: text, as: UTF8.self).split(separator: "\n")
            .compactMap { Report(line: $0) }
        for case .broken(let promise) in reports { Issue.record("\(promise)") }
        return reports.compactMap { report in
            guard case .done(let mark, _) = report else { return nil }
            return Int64(mark)
        }
    }
}
