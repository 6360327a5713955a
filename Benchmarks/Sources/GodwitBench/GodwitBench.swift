import Foundation
import GodwitTestKit

/// Measures Godwit beside its peers, in one run on one machine: the ratios are what counts.
@main
struct GodwitBench {
    static func main() async throws {
        let folder = try TemporaryFolder()
        print("store: durable writes of one object each, beside plain SQLite through GRDB\n")
        try await StoreBenchmark(folder: folder).run()
        print("\nreplay: edits of one device, merged by a server, followed by a second device\n")
        try await ReplayBenchmark(folder: folder).run()
        print("\npeak memory of this process: \(peakMemoryInMegabytes()) MB")
    }

    private static func peakMemoryInMegabytes() -> Int {
        var usage = rusage()
        // RUSAGE_SELF is 0 everywhere, but has another type on every system.
        getrusage(0, &usage)
        return usage.ru_maxrss / 1_024
    }
}

/// Runs `body`, and returns how many seconds it took.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try await body()
    return (clock.now - start) / .seconds(1)
}

/// Columns of fixed width: the first to the left, the others to the right.
func row(_ cells: String...) -> String {
    cells.enumerated().map { index, cell in
        let space = String(repeating: " ", count: max(1, (index == 0 ? 28 : 15) - cell.count))
        return index == 0 ? cell + space : space + cell
    }.joined()
}
