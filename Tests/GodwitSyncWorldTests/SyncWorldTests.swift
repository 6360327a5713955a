import Foundation
import GodwitTestKit
import Testing

/// Devices and server, as they ship, in a simulated world.
@Suite struct SyncWorldTests {
    /// `GODWIT_SYNC_SEED=7` plays one world again, and prints what happens in it; `7-90` plays some.
    private static let wanted = (ProcessInfo.processInfo.environment["GODWIT_SYNC_SEED"] ?? "")
        .split(separator: "-").compactMap { UInt64($0) }
    private static let count = UInt64(Soak.factor == 1 ? 2_000 : 20_000 * Soak.factor)
    private static let seeds = wanted.first.map { $0..<(wanted.last ?? $0) + 1 } ?? 0..<count
    private static let workerCount: UInt64 = 2

    @Test(.timeLimit(.minutes(max(30, Soak.minutesMax))))
    func `no seed leads to devices that lose, double or bring back an edit`() async throws {
        let seeds = Self.seeds
        let found = await withTaskGroup(of: [String].self) { group in
            for worker in 0..<Self.workerCount {
                group.addTask {
                    await Self.violations(of: seeds.filter { $0 % Self.workerCount == worker })
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(found == [], "GODWIT_SYNC_SEED=… plays one again")
        print("\(seeds.count) worlds of devices and server: \(found.count) broken")
    }

    @Test func `a seed gives the same world again`() throws {
        for seed in 0..<UInt64(14) {
            let worlds = try [SyncWorld(seed: seed), SyncWorld(seed: seed)]
            for world in worlds { _ = world.run() }
            let difference = zip(worlds[0].trace, worlds[1].trace).first { $0 != $1 }
            #expect(difference.map { [$0.0, $0.1] } == nil, "seed \(seed)")
            #expect(worlds[0].trace.count == worlds[1].trace.count, "seed \(seed)")
            #expect(worlds[0].trace.count > 10, "seed \(seed) is a world in which things happen")
        }
    }

    @Test func `a world that has ended leaves nothing in memory`() throws {
        for seed in 0..<UInt64(14) {
            weak var freedWorld: SyncWorld?
            weak var freedDisk: SimulatedDisk?
            do {
                let world = try SyncWorld(seed: seed)
                (freedWorld, freedDisk) = (world, world.host.machine.disk)
                _ = world.run()
            }
            #expect(freedWorld == nil, "seed \(seed)")
            #expect(freedDisk == nil, "seed \(seed)")
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
            let world = try SyncWorld(seed: seed, isTraced: wanted.count == 1)
            let violation = world.run().map { "seed \(seed), \(world.faults.name): \($0)" }
            if let violation { print(violation) }
            return violation
        } catch {
            return "seed \(seed): \(error)"
        }
    }
}
