import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitPushRunner

/// An app that pushes over HTTP, in one process or in two on one file, killed at random moments again
/// and again.
@Suite struct PushKillTests {
    @Test(.timeLimit(.minutes(Soak.minutesMax)), arguments: [1, 2])
    func `whenever the app is killed, each of its effects reaches the cloud exactly once`(
        processCount: Int
    ) async throws {
        // Ten thousand in all where the soak has its usual length.
        let kills = Soak.factor == 1 ? 40 / processCount : 500 * Soak.factor
        let seed = Soak.seed
        let server = TagServer(seed: seed)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let serving = Task { try await server.run { port.yield($0) } }
        var iterator = ports.makeAsyncIterator()
        let number = try #require(await iterator.next())
        let url = try #require(URL(string: "http://127.0.0.1:\(number)"))
        let folder = try TemporaryFolder()
        let path = folder.path("app.sqlite")
        /// Starts the app, and notes the cloud's answers that it tells of.
        func run(_ mode: String, _ answers: Arrivals) throws -> ProgramRun {
            try ProgramRun(
                "GodwitPushRunner",
                [path, url.absoluteString, processCount > 1 ? "shared" : "alone", mode],
                whenEnded: { answers.end() },
                hear: { line in if line.hasPrefix("a") { answers.add() } }
            )
        }
        var random = Seeded(seed: seed)
        var (underWay, unheard) = (0, 0)
        for _ in 0..<(kills / processCount) {
            let answers = Arrivals()
            var runs = try (0..<processCount).map { _ in
                let seed = UInt64.random(in: 1..<1 << 40, using: &random)
                return try run("\(seed)", answers)
            }
            runs.shuffle(using: &random)
            for run in runs {
                let count = Int.random(in: 0...6, using: &random)
                let turns = Int.random(in: 0...400_000, using: &random)
                await answers.wait(for: count, spinning: turns)
                let status = await run.kill()
                #expect(status == .uncaughtSignal, "it never ends by itself")
            }
            let keys = try await Self.keysOfRunning(in: path)
            underWay += keys.count
            unheard += keys.intersection(server.keys).count
        }
        let drain = try run("drain", Arrivals())
        #expect(await drain.end() == "drained", "seed \(seed)")
        try await check(server, Store(.file(path)), processCount, seed)
        print(
            "killed the app \(kills) times, \(processCount) at once, with \(underWay) effects "
                + "under way, \(unheard) done and unheard of; \(server.keys.count) effects in all"
        )
        #expect(underWay > kills / 2 && unheard > kills / 10, "seed \(seed)")
        serving.cancel()
        _ = await serving.result
    }

    /// The keys of the operations that were running when the last process was killed.
    private static func keysOfRunning(in path: String) async throws -> Set<String> {
        let store = try Store(.file(path))
        let operations = try await store.read { try $0.operations() }
        try store.close()
        return Set(operations.filter { $0.state == .running }.map(\.idempotencyKey))
    }

    private func check(
        _ server: TagServer,
        _ store: Store,
        _ processCount: Int,
        _ seed: UInt64
    ) async throws {
        let (contacts, charges) = try await store.read { transaction in
            let contacts = try PushApp.names.map { name in
                (name, try transaction.get(name, in: PushApp.contacts)?.version)
            }
            return (contacts, try transaction.keys(in: PushApp.charges))
        }
        for (name, version) in contacts {
            let body = version.map { "{\"version\":\($0)}" }
            #expect(server.contacts[name] == body, "seed \(seed): what is here is there")
            let versions = server.writes.filter { $0.name == name }.compactMap { write in
                try? JSONDecoder().decode(Contact.self, from: Data(write.body.utf8)).version
            }
            #expect(versions == versions.sorted(), "seed \(seed): no edit came after a later one")
        }
        let keys = server.writes.map(\.key)
        #expect(Set(keys).count == keys.count, "seed \(seed): no operation was done twice")
        #expect(server.charges.lines == Set(charges), "seed \(seed): no charge is lost or made up")
        #expect(server.charges.count == charges.count, "seed \(seed): and none was made twice")
        // A process that oversleeps its lease may send a write that another one has made meanwhile: the server
        // refuses the old tag, and the queue drops the outcome.
        let mayBeLate = processCount > 1
        #expect(mayBeLate || server.conflictCount == 0, "seed \(seed): no conflict with itself")
        let left = try await store.read { try $0.operations().count }
        #expect(left == 0, "seed \(seed): no operation waits in conflict")
        try store.close()
    }
}
