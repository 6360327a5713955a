import Foundation
import Godwit
import Synchronization

// MARK: - A long backlog, to the end

extension QueueBenchmarks {
    /// Whether a million operations are drained too, which takes a minute or two.
    private static let drainsMillion =
        ProcessInfo.processInfo.environment["GODWIT_BENCH_MILLION"] == "1"

    /// The rates of one drain, in operations per second.
    private struct DrainRates {
        /// From `run()` on, reading the backlog included.
        let total: Double
        /// From the first start on, as the next two.
        let whole: Double
        let first: Double
        let last: Double
    }

    private static let shortSize = 10_000

    /// Drains a million operations that wait: the last ones go as fast as the first.
    func drainMillionIfWanted() async throws {
        guard Self.drainsMillion else { return }
        report.title("queue: drained, per second")
        let size = 1_000_000
        var short: [Double] = []
        for round in 0..<3 {
            let path = folder.path("drain-\(round).sqlite")
            try await Self.fill(path, Self.shortSize)
            short.append(try await drain(path, Self.shortSize).total)
        }
        let long = try await drain(folder.path("backlog-\(size).sqlite"), size)
        let figures: [(String, Double, Double, Comparison.Target)] = [
            ("\(size) / \(Self.shortSize)", long.total, percentile(0.5, of: short), .atLeast(0.9)),
            ("\(size) / its first \(Self.shortSize)", long.whole, long.first, .atLeast(0.9)),
            ("its last \(Self.shortSize) / its first", long.last, long.first, .none),
        ]
        for (name, ours, peer, target) in figures {
            report.add(.init(name: name, ours: ours, peer: peer, unit: "1/s", target: target))
        }
    }

    private func drain(_ path: String, _ size: Int) async throws -> DrainRates {
        let store = try Store(.file(path))
        let record = DrainRecord(size: size, shortSize: Self.shortSize)
        let pipeline = Pipeline(order: .flat, maxConcurrent: 64).on(Put.self) { _, _ in
            record.start()
            return .completed { _ in record.finish() }
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let start = ContinuousClock().now
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.run() }
            await record.wait()
            group.cancelAll()
        }
        try store.close()
        let times = record.times.withLock { $0 }
        let rate = { (count: Int, from: ContinuousClock.Instant?, to: ContinuousClock.Instant?) in
            guard let from, let to else { return Double.nan }
            return Double(count) / ((to - from) / .seconds(1))
        }
        return DrainRates(
            total: rate(size, start, times.end),
            whole: rate(size, times.firstStart, times.end),
            first: rate(Self.shortSize, times.firstStart, times.firstEnd),
            last: rate(Self.shortSize, times.lastStart, times.end)
        )
    }
}

/// When the parts of a drain began and ended.
private final class DrainRecord: Sendable {
    struct Times {
        var count = 0
        var firstStart: ContinuousClock.Instant?
        var firstEnd: ContinuousClock.Instant?
        var lastStart: ContinuousClock.Instant?
        var end: ContinuousClock.Instant?
    }

    let times = Mutex(Times())
    private let size: Int
    private let shortSize: Int
    private let ended = AsyncStream.makeStream(of: Void.self)

    init(size: Int, shortSize: Int) {
        self.size = size
        self.shortSize = shortSize
    }

    func start() {
        times.withLock { times in
            if times.firstStart == nil { times.firstStart = .now }
        }
    }

    /// One operation is completed.
    func finish() {
        let isLast = times.withLock { times in
            times.count += 1
            if times.count == shortSize { times.firstEnd = .now }
            if times.count == size - shortSize { times.lastStart = .now }
            if times.count == size { times.end = .now }
            return times.count == size
        }
        if isLast { ended.continuation.finish() }
    }

    func wait() async { for await _ in ended.stream {} }
}
