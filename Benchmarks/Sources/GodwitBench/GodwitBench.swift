import Foundation
import GodwitTestKit

/// Measures Godwit beside its peers, in one run on one machine: the ratios are what counts.
///
/// `godwit-bench [--check] [part …]`; with `--check` a target that is missed is exit code 1.
///
/// `GODWIT_PEERS` names the folder of the peers that `schedule` and `queue-peers` run;
/// `GODWIT_BENCH_MILLION=1` has `backlog` drain a million operations too.
@main
struct GodwitBench {
    static let parts = [
        "group", "lone", "held", "read", "view", "observe", "grow", "open", "search", "queue",
        "backlog",
        "schedule", "footprints", "flat", "queue-peers", "board", "text", "histories",
        "document", "merge", "memory", "shape", "replicas", "server", "overload",
        "nodes", "replay",
    ]

    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 2, arguments[0] == "--open" {
            return try await QueueBenchmarks.openOnce(arguments[1])
        }
        if arguments.count == 2, arguments[0] == "--items", let count = Int(arguments[1]) {
            return try MemoryBenchmark.measureOnce(count: count)
        }
        if arguments.count == 2, arguments[0] == "--serve" {
            return try await ServerUnderLoad.serve(.file(arguments[1]))
        }
        if arguments.count == 3, arguments[0] == "--serve-limited", let rate = Int(arguments[2]) {
            return try await ServerUnderLoad.serve(.limited(arguments[1], requestRate: rate))
        }
        if arguments.count == 2, arguments[0] == "--serve-database" {
            return try await ServerUnderLoad.serve(.database(arguments[1]))
        }
        let isChecked = arguments.contains("--check")
        arguments.removeAll { $0 == "--check" }
        guard arguments.allSatisfy(parts.contains) else {
            print("usage: godwit-bench [--check] [\(parts.joined(separator: " | "))]…")
            exit(64)
        }
        let wanted = arguments.isEmpty ? parts : arguments
        let report = Report()
        for part in wanted { try await run(part, TemporaryFolder(), report) }
        print("\npeak memory of this process: \(peakMemoryInMegabytes()) MB")
        for missed in report.missed { print("missed: \(missed.name)") }
        if isChecked, !report.missed.isEmpty { exit(1) }
    }

    private static func run(
        _ part: String,
        _ folder: TemporaryFolder,
        _ report: Report
    ) async throws {
        let writes = StoreWrites(folder: folder, report: report)
        let reads = StoreReads(folder: folder, report: report)
        switch part {
        case "group": try await writes.group()
        case "lone": try await writes.lone()
        case "held": try await writes.besideReader()
        case "read": try await reads.read()
        case "view": try await reads.advance()
        case "observe": try await reads.observers()
        case "grow": try await reads.growth()
        case "search": try await SearchBenchmark(folder: folder, report: report).run()
        case "open": try await StoreOpening(folder: folder, report: report).run()
        case "queue":
            try await QueueBenchmarks(folder: folder, report: report).enqueueAndDrain()
        case "backlog": try await QueueBenchmarks(folder: folder, report: report).open()
        case "schedule": try ScheduleBenchmark(folder: folder, report: report).run()
        case "footprints": try await FootprintBenchmark(folder: folder, report: report).run()
        case "flat": try await FlatBenchmark(folder: folder, report: report).run()
        case "queue-peers": try await QueuePeers(folder: folder, report: report).run()
        case "board": try BoardBenchmark(folder: folder, report: report).run()
        case "text": try TextBenchmark(folder: folder, report: report).run()
        case "histories": try HistoryBenchmark(folder: folder, report: report).run()
        case "document": try DocumentBenchmark(report: report).run()
        case "merge": try MergeBenchmark(folder: folder, report: report).run()
        case "memory": try MemoryBenchmark(report: report).run()
        case "shape": ShapeBenchmark(report: report).run()
        case "replicas": try await ReplicaBenchmark(folder: folder, report: report).run()
        case "server": try await ServerBenchmark(folder: folder, report: report).run()
        case "overload": try await OverloadBenchmark(folder: folder, report: report).run()
        case "nodes": try await NodesBenchmark(folder: folder, report: report).run()
        default:
            print(
                "\nreplay: edits of one device, merged by a server, followed by a second device\n"
            )
            try await ReplayBenchmark(folder: folder).run()
        }
    }

    static func peakMemoryInMegabytes() -> Int {
        #if os(Linux)
        // What getrusage says outlives an exec: the peak of the parent would count.
        if let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(separator: " ").compactMap({ Int($0) }).first
        {
            return kilobytes / 1_024
        }
        #endif
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

/// Runs `body`, and returns how many seconds of this process's CPU it took.
func cpuSeconds(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    try body()
    return now() - start
}

/// Runs something short several times, and returns the least seconds that it took: what else the
/// machine does only ever adds to them.
func quickest(of count: Int, _ body: () throws -> Double) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<count { least = min(least, try body()) }
    return least
}

/// Columns of fixed width: the first to the left, the others to the right.
func row(_ cells: String...) -> String {
    cells.enumerated().map { index, cell in
        let width = index == 0 ? (cell.isEmpty ? 0 : 30) : 14
        let space = String(repeating: " ", count: max(1, width - cell.count))
        return index == 0 ? cell + space : space + cell
    }.joined()
}
