import Foundation
@_spi(Benchmarks) import GodwitQueue
import GodwitTestKit

/// Who goes next, in memory alone, beside a program that does the same with hash maps of UUIDs.
struct ScheduleBenchmark {
    let folder: TemporaryFolder
    let report: Report

    private static let maxConcurrent = 8
    private static let sizes = [1_000, 10_000, 100_000]

    func run() throws {
        report.title("schedule: operations with 0 to 3 random needs each, in memory, 8 at once")
        let peer = try compiled()
        for size in Self.sizes { try measure(size, peer) }
    }

    private func measure(_ size: Int, _ peer: String?) throws {
        let graph = RandomGraph(size: size)
        let drill = ScheduleDrill(needs: graph.needs, priorities: graph.priorities)
        var (ours, theirs): ([Double], [Double]) = ([], [])
        var order = ""
        for _ in 0..<5 {
            var finished: [Int] = []
            let clock = ContinuousClock()
            let taken = clock.measure { finished = drill.run(maxConcurrent: Self.maxConcurrent) }
            order = RandomGraph.digest(of: finished)
            ours.append(taken / .microseconds(1) / Double(size))
            guard let peer, let line = try answer(of: peer, size) else { continue }
            precondition(line.orderHash == order, "Both finish everything in the same order")
            if let perSecond = line.perSecond { theirs.append(1e6 / perSecond) }
        }
        let median = percentile(0.5, of: ours)
        guard !theirs.isEmpty else {
            let text = String(format: "%.2f", median)
            return report.note("\(size) operations: \(text) µs each, in the order \(order)")
        }
        report.add(
            .init(
                name: "each of \(size) / C++, UUIDs",
                ours: median,
                peer: percentile(0.5, of: theirs),
                unit: "µs",
                target: .atMost(3)
            )
        )
        report.note("in the peer's order, \(order)")
    }
}

// MARK: - The peer

extension ScheduleBenchmark {
    /// The path of the peer's program, built from `dag.cpp`; nil when there is none.
    private func compiled() throws -> String? {
        guard let peers = PeerFolder.find(having: "dag.cpp", for: report) else { return nil }
        let program = folder.path("dag")
        let answer = try PeerProgram(
            "c++",
            "-std=c++17",
            "-O2",
            "-o",
            program,
            peers.file("dag.cpp")
        ).run()
        guard let failure = answer.failure else { return program }
        report.note("the peer cannot be built, and is left out: \(failure)")
        return nil
    }

    private func answer(of peer: String, _ size: Int) throws -> PeerLine? {
        try PeerProgram(peer, "\(size)").run().lines.first { $0.phase == "dag_uuid_keys" }
    }
}

/// Operations that need up to three of the thousand before them; the peer makes the same ones.
private struct RandomGraph {
    private(set) var needs: [[Int]] = []
    private(set) var priorities: [Int32] = []

    init(size: Int) {
        var random = Seeded(seed: 42)
        for index in 0..<size {
            let choice = random.next()
            let window = UInt64(min(index, 1_000))
            var chosen: [Int] = []
            for _ in 0..<choice % 4 {
                let distance = random.next()
                guard window > 0 else { continue }
                let need = index - 1 - Int(distance % window)
                if !chosen.contains(need) { chosen.append(need) }
            }
            needs.append(chosen)
            priorities.append(Int32(choice >> 8 & 15))
        }
    }

    /// A number for an order, as the peer computes it.
    static func digest(of order: [Int]) -> String {
        let digest = order.reduce(UInt64(0)) { $0 &* 1_099_511_628_211 &+ UInt64($1) }
        let text = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
