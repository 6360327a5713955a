import GodwitTestKit
import Testing

@testable import GodwitQueue

@Suite struct QueueSimulationTests {
    @Test func `whatever happens, nothing is lost, doubled, reordered or stalled`() {
        for seed in 0..<UInt64(20_000 * Soak.factor) {
            var world = QueueSimulation(seed: seed)
            world.run()
            #expect(world.fault == nil, "seed \(seed)")
            if world.fault != nil { break }
        }
    }
}
