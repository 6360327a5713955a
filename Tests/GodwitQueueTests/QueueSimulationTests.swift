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
}
