import GodwitTestKit
import Testing

@testable import GodwitQueue

@Suite struct QueueSimulationTests {
    @Test func `whatever happens, nothing is lost, doubled, reordered or stalled`() {
        // A million where the soak has its usual length.
        let count = Soak.factor == 1 ? 20_000 : 100_000 * Soak.factor
        for seed in 0..<UInt64(count) {
            var world = QueueSimulation(seed: seed)
            world.run()
            #expect(world.fault == nil, "seed \(seed)")
            if world.fault != nil { break }
        }
    }

    #if GODWIT_PLANTED_BUGS
    // Without the machine's own invariants: a bug has to show in what the world sees.
    @Test(arguments: PlantedBug.allCases)
    func `a planted bug is found`(bug: PlantedBug) throws {
        let found = PlantedBug.$current.withValue(bug) {
            (0..<UInt64(10_000)).first { seed in
                var world = QueueSimulation(seed: seed)
                world.run(checksAll: false)
                return world.fault != nil
            }
        }
        let seed = try #require(found, "\(bug) was not found within 10,000 seeds")
        print("\(bug): seed \(seed)")
    }
    #endif
}
