import GodwitTestKit
import Testing

@Suite struct StoredWorldTests {
    @Test func `stores that exchange over a bad network lose nothing`() async throws {
        for seed in 0..<UInt64(60 * Soak.factor) {
            var world = try await StoredWorld(seed: seed, devices: 2 + Int(seed % 2))
            #expect(try await world.run(steps: 60) == [], "seed \(seed)")
        }
    }
}
