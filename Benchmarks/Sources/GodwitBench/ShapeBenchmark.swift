import Godwit
import GodwitTestKit

/// Edits of very long lists: of different items, and of equal ones, which are one run.
struct ShapeBenchmark {
    let report: Report

    private static let editCount = 10_000

    func run() {
        report.title("shape: edits at random places of a list, and their digests; CPU µs an edit")
        var small: Double?
        for count in [20_000, 200_000, 2_000_000] {
            let taken = microseconds(of: count)
            // A list a hundred times as long has two more levels at most.
            let target: Comparison.Target = small == nil ? .none : .atMost(3)
            report.add("\(count) ints / 20,000", taken, small ?? taken, "µs", target)
            small = small ?? taken
        }
        report.add(
            "10,000 insertions before 1,000,000 equal items",
            insertionSeconds,
            1,
            "s",
            .below
        )
    }

    private func microseconds(of count: Int) -> Double {
        var random = Seeded(seed: 1)
        var list = Value.List((0..<count).map { .int(Int64($0 * 7_919 % 1_000_003)) })
        _ = Value.list(list).digest
        let seconds = cpuSeconds {
            for number in 0..<Self.editCount {
                list[Int.random(in: 0..<count, using: &random)] = .int(Int64(number))
                _ = Value.list(list).digest
            }
        }
        return seconds * 1e6 / Double(Self.editCount)
    }

    private var insertionSeconds: Double {
        var list = Value.List(repeatElement(.null, count: 1_000_000))
        return cpuSeconds {
            for number in 0..<Self.editCount { list.insert(.int(Int64(number)), at: 0) }
        }
    }
}
