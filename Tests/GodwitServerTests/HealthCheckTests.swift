import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitServer

@Suite struct HealthCheckTests {
    private struct Full: Error {}

    /// A store that counts how often it is tried, and fails where it is told to.
    private final class Trials: Sendable {
        let count = Atomic(0)
        let fails = Atomic(false)

        func run() throws {
            count.add(1, ordering: .relaxed)
            if fails.load(ordering: .relaxed) { throw Full() }
        }
    }

    private let clock = ManualClock()
    private let trials = Trials()
    private let health: HealthCheck

    init() {
        health = HealthCheck(now: { [clock] in clock.now.sinceStart }, trial: trials.run)
    }

    private var count: Int { trials.count.load(ordering: .relaxed) }

    @Test func `a flood of requests tries the store once a second`() async throws {
        for second in 1...3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 { group.addTask { try await health.run() } }
                try await group.waitForAll()
            }
            #expect(count == second)
            clock.advance(by: .seconds(1))
        }
    }

    @Test func `a store that fails is tried again, and is well when it works`() async throws {
        trials.fails.store(true, ordering: .relaxed)
        for _ in 0..<2 { await #expect(throws: Full.self) { try await health.run() } }
        #expect(count == 1)
        trials.fails.store(false, ordering: .relaxed)
        await #expect(throws: Full.self) { try await health.run() }
        clock.advance(by: .seconds(1))
        try await health.run()
        #expect(count == 2)
    }
}
