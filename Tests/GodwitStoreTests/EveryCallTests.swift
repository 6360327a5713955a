import Foundation
import GodwitTestKit
import Testing

@testable import GodwitFaultRunner

#if os(Linux)
/// Each call by which a store writes fails, in each way in which a call can.
@Suite struct EveryCallTests {
    /// How many faults of a scenario are tried; `make soak` tries all, but for the scenario that
    /// fills the whole log.
    private static let sampleSize = Soak.factor > 1 ? 400 * Soak.factor : 15

    @Test func `there are enough scenarios, and their names differ`() {
        #expect(Scenario.all.count >= 30)
        #expect(Set(Scenario.all.map(\.name)).count == Scenario.all.count)
    }

    @Test(.timeLimit(.minutes(max(30, Soak.minutesMax))), arguments: Scenario.all)
    func `a fault in any call loses nothing and halves nothing`(scenario: Scenario) async throws {
        let seed = Soak.seed
        var random = Seeded(seed: seed)
        let calls = try await countCalls(of: scenario)
        let faults = (1...calls).flatMap(Fault.all).shuffled(using: &random)
        for fault in faults.prefix(Self.sampleSize) {
            let broken = try await disturb(scenario, with: fault)
            #expect(broken == [], "\(fault) of \(calls), seed \(seed)")
        }
    }

    @Test func `a promise that is given too early is found out`() async throws {
        let scenario = try #require(Scenario.all.first { $0.name == "many-one-by-one" })
        let calls = try await countCalls(of: scenario)
        var caught = 0
        for call in 1...calls {
            let fault = Fault(kind: .kill, call: call, isForever: false)
            let broken = try await disturb(scenario, with: fault, ["--acknowledge-early"])
            if broken.contains(where: { $0.hasPrefix("lost") }) { caught += 1 }
        }
        #expect(caught > calls / 4, "of \(calls) kills")
    }

    /// Runs a scenario to its end, where it must have kept all promises.
    private func countCalls(of scenario: Scenario) async throws -> Int {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let run = try FaultRun(scenario, at: path)
        let aftermath = await Aftermath(of: scenario, at: path, reports: run.reports)
        #expect(run.reports.last == .closed)
        #expect(Set(run.reports.lastSeenMarks ?? []) == Set(scenario.writes.map(\.mark)))
        #expect(aftermath.broken == [])
        #expect(aftermath.ambiguousCount == 0)
        return try #require(run.callCount)
    }

    /// Runs a scenario with a fault, and tells which promises are broken afterwards.
    private func disturb(
        _ scenario: Scenario,
        with fault: Fault,
        _ options: [String] = []
    ) async throws -> [String] {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let run = try FaultRun(scenario, at: path, fault: fault, options: options)
        var broken = await Aftermath(of: scenario, at: path, reports: run.reports).broken
        if let signal = run.signal, fault.kind != .kill || signal != SIGKILL {
            broken.append("the run ended by signal \(signal)")
        }
        if fault.kind == .enospc, run.reports.contains(where: \.isRefusalToRead) {
            broken.append("nothing can be read while the disk is full")
        }
        return broken
    }
}
#endif
