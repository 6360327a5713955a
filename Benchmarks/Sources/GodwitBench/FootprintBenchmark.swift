import Foundation
import Godwit
import GodwitTestKit

/// What it costs to find out which operations have an order, and whether it stays the same
/// however many wait.
struct FootprintBenchmark {
    let folder: TemporaryFolder
    let report: Report

    struct Change: PushOperation {
        static let kind = "change"
        let step: TreeStep
        var footprint: Footprint { step.footprint }
    }

    /// The same without a footprint.
    struct BareChange: PushOperation {
        static let kind = "bare-change"
        let step: TreeStep
    }

    private static let sizes = [1_000, 10_000, 100_000]
    private static let countInCommit = 100

    func run() async throws {
        report.title("footprints: changes of a tree enqueued, 100 in each commit, per second")
        var rates: [Int: Double] = [:]
        for size in Self.sizes {
            let steps = Self.steps(size)
            let (ours, bare) = try await medians { round in
                try await rate(steps, folder.path("tree-\(size)-\(round).sqlite")) {
                    Change(step: $0)
                }
            } _: { round in
                try await rate(steps, folder.path("bare-\(size)-\(round).sqlite")) {
                    BareChange(step: $0)
                }
            }
            rates[size] = ours
            report.add(
                .init(
                    name: "\(size) / without footprints",
                    ours: ours,
                    peer: bare,
                    unit: "1/s",
                    target: .atLeast(1.0 / 3)
                )
            )
        }
        try await tellEdges(10_000)
        guard let long = rates[100_000], let short = rates[10_000] else { return }
        report.add(
            .init(
                name: "each of 100000 / of 10000",
                ours: 1e6 / long,
                peer: 1e6 / short,
                unit: "µs",
                target: .atMost(2)
            )
        )
    }

    private static func steps(_ size: Int) -> [TreeStep] {
        var tree = RemoteTree(seed: 1)
        return (0..<size).map { _ in tree.nextStep() }
    }

    private func rate(
        _ steps: [TreeStep],
        _ path: String,
        _ operation: @escaping @Sendable (TreeStep) -> some PushOperation
    ) async throws -> Double {
        let store = try Store(.file(path))
        let queue = try PushQueue(store, pipelines: [Pipeline(order: .flat)])
        let taken = try await seconds {
            var last: WriteTicket<Void>?
            for start in stride(from: 0, to: steps.count, by: Self.countInCommit) {
                let some = steps[start..<min(steps.count, start + Self.countInCommit)]
                last = try store.writeLater { transaction in
                    for step in some { try transaction.enqueue(operation(step)) }
                }
                if start % 1_000 == 0 { _ = try await last?.finish() }
            }
            _ = try await last?.finish()
        }
        withExtendedLifetime(queue) {}
        try store.close()
        return Double(steps.count) / taken
    }

    /// Tells how many orders were found, so that it is seen that there was something to find.
    private func tellEdges(_ size: Int) async throws {
        let store = try Store(.file(folder.path("tree-\(size)-0.sqlite")))
        let snapshot = try await store.read { try $0.queueSnapshot(at: .now) }
        let ready = size - Set(snapshot.edges.map(\.operation)).count
        report.note(
            "of \(size) operations \(ready) wait for none, the others for "
                + String(format: "%.2f each", Double(snapshot.edges.count) / Double(size - ready))
        )
        try store.close()
    }
}
