import Foundation
import Godwit
import GodwitTestKit

/// A backlog in flat order: as much runs at once as may, and what is refused is in nobody's way.
struct FlatBenchmark {
    let folder: TemporaryFolder
    let report: Report

    struct Delivery: PushOperation {
        static let kind = "delivery"
        let number: Int

        /// One in a hundred.
        var isPoison: Bool { number % 100 == 50 }
    }

    private static let size = 10_000
    private static let maxConcurrent = 64

    func run() async throws {
        report.title("flat: a backlog of 10,000 commits of one operation each")
        try await measureStart()
        try await measurePoison()
    }

    private func fill(_ path: String) async throws {
        let store = try Store(.file(path))
        for start in stride(from: 0, to: Self.size, by: 1_000) {
            let tickets = try (start..<start + 1_000).map { number in
                try store.writeLater { try $0.enqueue(Delivery(number: number)) }
            }
            _ = try await tickets.last?.finish()
        }
        try store.close()
    }
}

// MARK: - The first ones

extension FlatBenchmark {
    private func measureStart() async throws {
        let path = folder.path("flat-start.sqlite")
        try await fill(path)
        let store = try Store(.file(path))
        let gate = Gate()
        let pipeline = Pipeline(order: .flat, maxConcurrent: Self.maxConcurrent)
            .on(Delivery.self) { _, _ in
                await gate.pass()
                return .completed
            }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let start = ContinuousClock().now
        let (arrivals, count) = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.run() }
            let arrivals = await gate.arrivals(Self.maxConcurrent, within: .seconds(30))
            // Time for one too many to come.
            try? await Task.sleep(for: .milliseconds(100))
            let count = await gate.insideCount
            await gate.open()
            try await queue.finish(through: CommitNumber(rawValue: .max))
            group.cancelAll()
            return (arrivals, count)
        }
        let milliseconds = arrivals.map { ($0 - start) / .milliseconds(1) }
        add("64th start / first start", milliseconds.last, milliseconds.first, "ms", .none)
        let limit = Double(Self.maxConcurrent)
        add("running before any ends", Double(count), limit, "", .atLeast(1))
        add("most at any time", Double(await gate.insideMax), limit, "", .atMost(1))
        try store.close()
    }

    private func add(
        _ name: String,
        _ ours: Double?,
        _ peer: Double?,
        _ unit: String,
        _ target: Comparison.Target
    ) {
        report.add(
            .init(name: name, ours: ours ?? .nan, peer: peer ?? .nan, unit: unit, target: target)
        )
    }
}

/// Lets nobody through until it is opened, and counts who is there.
private actor Gate {
    private(set) var insideCount = 0
    private(set) var insideMax = 0
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private let times = AsyncStream.makeStream(of: ContinuousClock.Instant.self)

    /// What an executor does: comes, waits, and goes.
    func pass() async {
        insideCount += 1
        insideMax = max(insideMax, insideCount)
        if !isOpen {
            times.continuation.yield(.now)
            await withCheckedContinuation { waiting.append($0) }
        }
        insideCount -= 1
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// When the first ones came; fewer if the others do not come in time.
    func arrivals(_ count: Int, within time: Duration) async -> [ContinuousClock.Instant] {
        let (stream, continuation) = times
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await Task.sleep(for: time)) != nil else { return }
                continuation.finish()
            }
            var arrivals: [ContinuousClock.Instant] = []
            for await arrival in stream {
                arrivals.append(arrival)
                if arrivals.count == count { break }
            }
            group.cancelAll()
            return arrivals
        }
    }
}

// MARK: - Poison

extension FlatBenchmark {
    /// How many are completed in a second, and in a second of processor time.
    private struct DrainRate {
        let perSecond: Double
        let perProcessorSecond: Double
    }

    private func measurePoison() async throws {
        var rates: [Bool: [DrainRate]] = [:]
        for round in 0..<10 {
            // By turns: the second of two drains is the faster one, whichever that is.
            for isPoisoned in round.isMultiple(of: 2) ? [true, false] : [false, true] {
                let path = folder.path("flat-\(isPoisoned)-\(round).sqlite")
                rates[isPoisoned, default: []].append(
                    try await drainRate(path, isPoisoned: isPoisoned)
                )
            }
        }
        let median = { (isPoisoned: Bool, rate: (DrainRate) -> Double) in
            percentile(0.5, of: (rates[isPoisoned] ?? []).map(rate))
        }
        add(
            "rest of 1 % poison / all",
            median(true, \.perSecond),
            median(false, \.perSecond),
            "1/s",
            .atLeast(0.9)
        )
        add(
            "by processor time",
            median(true, \.perProcessorSecond),
            median(false, \.perProcessorSecond),
            "1/s",
            .none
        )
    }

    private func drainRate(_ path: String, isPoisoned: Bool) async throws -> DrainRate {
        try await fill(path)
        let store = try Store(.file(path))
        let pipeline = Pipeline(order: .flat, maxConcurrent: Self.maxConcurrent)
            .on(Delivery.self) { delivery, _ in
                isPoisoned && delivery.isPoison ? .refused(reason: "poison") : .completed
            }
        var options = PushQueue.Options()
        // A line for each dead letter would be measured, too.
        options.logger.logLevel = .critical
        let queue = try PushQueue(store, options: options, pipelines: [pipeline])
        let processorStart = processorSeconds()
        let taken = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try? await queue.run() }
                try await queue.finish(through: CommitNumber(rawValue: .max))
                group.cancelAll()
            }
        }
        let processorTaken = processorSeconds() - processorStart
        let refusedCount = isPoisoned ? Self.size / 100 : 0
        let summary = queue.summary
        precondition(
            summary.deadLetters == refusedCount && summary.unfinished == refusedCount,
            "Poison is left, and nothing else"
        )
        try store.close()
        let count = Double(Self.size - refusedCount)
        return DrainRate(perSecond: count / taken, perProcessorSecond: count / processorTaken)
    }

    /// What all threads of this process have used.
    private func processorSeconds() -> Double {
        var usage = rusage()
        // RUSAGE_SELF is 0 everywhere, but has another type on every system.
        getrusage(0, &usage)
        let times = [usage.ru_utime, usage.ru_stime]
        return times.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
}
