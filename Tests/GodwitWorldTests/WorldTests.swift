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
        let found = await withTaskGroup(of: [String].self) { group in
            for worker in 0..<Self.workerCount {
                group.addTask {
                    await Self.violations(of: seeds.filter { $0 % Self.workerCount == worker })
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(found == [], "GODWIT_WORLD_SEED=… plays one again")
        print("\(seeds.count) worlds of store and queue, seeds \(seeds): \(found.count) broken")
    }

    @Test func `a seed gives the same world again`() throws {
        for seed in 0..<UInt64(20) {
            let worlds = try [World(seed: seed), World(seed: seed)]
            for world in worlds { _ = world.run() }
            #expect(worlds[0].trace == worlds[1].trace, "seed \(seed)")
            #expect(worlds[0].trace.count > 5, "seed \(seed) is a world in which things happen")
        }
    }

    /// Plays worlds on a thread of their own: other tests need those of Swift.
    private static func violations(of seeds: [UInt64]) async -> [String] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: seeds.compactMap(violation))
            }
        }
    }

    private static func violation(of seed: UInt64) -> String? {
        do {
            let world = try World(seed: seed)
            let violation = world.run()
            if onlySeed != nil { print(world.trace.joined(separator: "\n")) }
            return violation.map { "seed \(seed): \($0)" }
        } catch {
            return "seed \(seed): \(error)"
        }
    }
}
