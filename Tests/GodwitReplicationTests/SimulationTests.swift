import GodwitTestKit
import Testing

/// The promises of replication under loss, delay and doubling of messages.
@Suite struct SimulationTests {
    @Test(arguments: [0, 0.05, 0.25, 0.6])
    func `whatever the network loses, nothing is lost, doubled or comes back`(
        loss: Double
    ) throws {
        var duplicates = 0
        for seed in 0..<UInt64(60 * Soak.factor) {
            var simulation = try Simulation(seed: seed, clientCount: 4, loss: loss)
            try simulation.run(steps: 300)
            #expect(simulation.faults == [], "seed \(seed)")
            duplicates += simulation.duplicates
        }
        #expect((duplicates > 0) == (loss > 0), "lost answers make batches come again")
    }

    @Test(arguments: [1, 2, 3, 9])
    func `any number of clients converges`(clientCount: Int) throws {
        for seed in 0..<UInt64(30 * Soak.factor) {
            var simulation = try Simulation(seed: seed, clientCount: clientCount, loss: 0.1)
            try simulation.run(steps: 60 * clientCount)
            #expect(simulation.faults == [], "seed \(seed)")
        }
    }
}
