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
        var random = Seeded(seed: seed)
        var (underWay, unheard) = (0, 0)
        for _ in 0..<(kills / processCount) {
            let answers = Answers()
            var runs = try (0..<processCount).map { _ in
                let seed = UInt64.random(in: 1..<1 << 40, using: &random)
                return try PushRun(path, url, isShared: processCount > 1, "\(seed)", answers)
            }
            runs.shuffle(using: &random)
            for run in runs {
                let count = Int.random(in: 0...6, using: &random)
                let turns = Int.random(in: 0...2_000, using: &random)
                let status = await onThread { run.kill(after: count, of: answers, yielding: turns) }
                #expect(status == .uncaughtSignal, "it never ends by itself")
            }
            let keys = try await Self.keysOfRunning(in: path)
            underWay += keys.count
            unheard += keys.intersection(server.keys).count
        }
        let drain = try PushRun(path, url, isShared: processCount > 1, "drain", Answers())
        #expect(await onThread { drain.end() } == "drained", "seed \(seed)")
        try await check(server, Store(.file(path)), seed)
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

    private func check(_ server: TagServer, _ store: Store, _ seed: UInt64) async throws {
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
        #expect(server.conflictCount == 0, "seed \(seed): nobody is in conflict with itself")
        let left = try await store.read { try $0.operations().count }
        #expect(left == 0)
        try store.close()
    }
}

/// Runs what waits for a process on a thread of its own: this process is the cloud that it needs.
private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: body()) }.start()
    }
}

/// The cloud's answers that processes have told of, whichever of them has got one.
private final class Answers: Sendable {
    private let arrivals = DispatchSemaphore(value: 0)
    private static let endMax = 100

    func add() { arrivals.signal() }

    func wait(for count: Int) {
        for _ in 0..<count { arrivals.wait() }
    }

    /// Waits no longer: a process that could tell of one has ended by itself.
    func end() {
        for _ in 0..<Self.endMax { arrivals.signal() }
    }
}

/// One run of the app.
///
/// Unchecked, because `Process` is not Sendable; it is started here, and ended by one thread.
private final class PushRun: @unchecked Sendable {
    private let process = Process()
    private let output = Pipe()
    private let lastLine = Mutex("")
    private let isKilled = Mutex(false)
    private let isRead = DispatchSemaphore(value: 0)

    init(_ path: String, _ url: URL, isShared: Bool, _ mode: String, _ answers: Answers) throws {
        process.executableURL = BuiltProgram.url("GodwitPushRunner")
        process.arguments = [path, url.absoluteString, isShared ? "shared" : "alone", mode]
        process.standardOutput = output
        try process.run()
        // A process that cannot tell is a process that waits.
        Thread { [self] in read(answers) }.start()
    }

    private func read(_ answers: Answers) {
        var line: [UInt8] = []
        while case let more = output.fileHandleForReading.availableData, !more.isEmpty {
            for byte in more {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                if line.first == UInt8(ascii: "a") { answers.add() }
                lastLine.withLock { $0 = String(decoding: line, as: UTF8.self) }
                line = []
            }
        }
        if !isKilled.withLock({ $0 }) { answers.end() }
        isRead.signal()
    }

    /// Kills it after so many more of the cloud's answers, and a moment.
    func kill(
        after count: Int,
        of answers: Answers,
        yielding turns: Int
    ) -> Process.TerminationReason {
        answers.wait(for: count)
        for _ in 0..<turns { sched_yield() }
        isKilled.withLock { $0 = true }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return process.terminationReason
    }

    /// Waits until it has ended by itself, and returns what it said last; nil when it has failed.
    func end() -> String? {
        isRead.wait()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? lastLine.withLock { $0 } : nil
    }
}
