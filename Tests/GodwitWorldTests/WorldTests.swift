import Foundation
import GodwitTestKit
import Synchronization
import Testing

/// The whole of store and queue, as they ship, in a simulated world.
@Suite struct WorldTests {
    /// `GODWIT_WORLD_SEED` plays one world again, and prints what happens in it.
    private static let onlySeed = ProcessInfo.processInfo.environment["GODWIT_WORLD_SEED"]
        .flatMap { UInt64($0) }
    // A million where the soak has its usual length.
    private static let count = UInt64(Soak.factor == 1 ? 5_000 : 100_000 * Soak.factor)
    private static let seeds = onlySeed.map { $0..<$0 + 1 } ?? 0..<count
    private static let workerCount: UInt64 = 2

    @Test(.timeLimit(.minutes(max(30, Soak.minutesMax))))
    func `no seed leads to a world that breaks a promise`() async throws {
        let seeds = Self.seeds
        let played = await withTaskGroup(of: Played.self) { group in
            for worker in 0..<Self.workerCount {
                group.addTask {
                    await Self.play(seeds.filter { $0 % Self.workerCount == worker })
                }
            }
            return await group.reduce(into: Played()) { $0.add($1) }
        }
        #expect(played.violations == [], "GODWIT_WORLD_SEED=… plays one again")
        print("\(seeds.count) worlds of store and queue: \(played.violations.count) broken")
        for promise in Promise.allCases where Self.onlySeed == nil {
            let count = played.looks[promise, default: 0]
            print("    \(promise): looked at \(count) times")
            #expect(count > 0, "no world has put \(promise) to the test")
        }
    }

    @Test func `the documentation makes each promise in these words`() throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let sources = ["GodwitStore", "GodwitQueue"].flatMap { name in
            FileManager.default.enumerator(
                at: root.appending(path: "Sources/\(name)"),
                includingPropertiesForKeys: nil
            )?.compactMap { $0 as? URL } ?? []
        }
        let files =
            sources.filter { $0.pathExtension == "swift" } + [root.appending(path: "README.md")]
        let words = try files.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isWhitespace)
                .filter { $0 != "///" }
        }
        let documentation = words.joined(separator: " ").replacing("**", with: "")
        for promise in Promise.allCases {
            #expect(documentation.contains(promise.rawValue), "\(promise) is promised nowhere")
        }
    }

    @Test func `a seed gives the same world again`() throws {
        for seed in 0..<UInt64(20) {
            let worlds = try [World(seed: seed), World(seed: seed)]
            for world in worlds { _ = world.run() }
            #expect(worlds[0].trace == worlds[1].trace, "seed \(seed)")
            #expect(worlds[0].trace.count > 5, "seed \(seed) is a world in which things happen")
        }
    }

    /// What came of some worlds.
    private struct Played {
        var violations: [String] = []
        var looks: [Promise: Int] = [:]

        mutating func add(_ other: Played) {
            violations += other.violations
            looks.merge(other.looks, uniquingKeysWith: +)
        }
    }

    /// Plays worlds on a thread of their own: other tests need those of Swift.
    private static func play(_ seeds: [UInt64]) async -> Played {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: seeds.reduce(into: Played()) { $0.add(play($1)) }
                )
            }
        }
    }

    private static func play(_ seed: UInt64) -> Played {
        do {
            let world = try World(seed: seed)
            let violation = world.run()
            if onlySeed != nil { print(world.trace.joined(separator: "\n")) }
            return Played(
                violations: violation.map { ["seed \(seed): \($0)"] } ?? [],
                looks: world.books.looks
            )
        } catch {
            return Played(violations: ["seed \(seed): \(error)"])
        }
    }
}
