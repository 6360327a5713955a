import Foundation
import Godwit
import GodwitTestKit
import SQLitePeer

/// The push queue: enqueuing, draining, opening, durable throughout.
struct QueueBenchmarks {
    let folder: TemporaryFolder
    let report: Report

    struct Put: PushOperation {
        static let kind = "put"
        let path: String
        let list: Int
    }

    private static let taskCount = 16
    private static let sizes = [1_000, 10_000, 50_000]
}

// MARK: - Enqueuing and draining

extension QueueBenchmarks {
    func enqueueAndDrain() async throws {
        report.title("queue: enqueued by 16 tasks, then started and completed, per second")
        for size in Self.sizes {
            var ours: [(Double, Double)] = []
            var peer: [(Double, Double)] = []
            for round in 0..<3 {
                let path = folder.path("queue-\(size)-\(round).sqlite")
                ours.append(try await Self.ours(size, at: path))
                peer.append(try plain(size, round))
            }
            let median = { (values: [Double]) in percentile(0.5, of: values) }
            report.add(
                .init(
                    name: "enqueue \(size)",
                    ours: median(ours.map(\.0)),
                    peer: median(peer.map(\.0)),
                    unit: "1/s",
                    target: .atLeast(3)
                )
            )
            report.add(
                .init(
                    name: "drain \(size)",
                    ours: median(ours.map(\.1)),
                    peer: median(peer.map(\.1)),
                    unit: "1/s",
                    target: .atLeast(2)
                )
            )
        }
    }

    /// How many are enqueued, and how many are started and completed, in a second.
    static func ours(_ size: Int, at path: String) async throws -> (Double, Double) {
        let store = try Store(.file(path))
        let pipeline = Pipeline(order: .flat, maxConcurrent: 64).on(Put.self) { _, _ in .completed }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let share = size / taskCount + 1
        let enqueuing = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<taskCount {
                    group.addTask {
                        var last: WriteTicket<OperationID>?
                        for number in task * share..<min(size, (task + 1) * share) {
                            let put = Put(path: "/lists/items/\(number)", list: number % 10)
                            let ticket = try store.writeLater { try $0.enqueue(put) }
                            if number % 1_000 == 0 { _ = try await ticket.finish() }
                            last = ticket
                        }
                        _ = try await last?.finish()
                    }
                }
                try await group.waitForAll()
            }
        }
        let draining = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try? await queue.run() }
                try await queue.finish(through: CommitNumber(rawValue: .max))
                group.cancelAll()
            }
        }
        try store.close()
        return (Double(size) / enqueuing, Double(size) / draining)
    }

    private func plain(_ size: Int, _ round: Int) throws -> (Double, Double) {
        let path = folder.path("plain-queue-\(size)-\(round).sqlite")
        let enqueuing = queue_peer_enqueue(path, size)
        var count = 0
        let draining = queue_peer_drain(path, &count)
        guard enqueuing > 0, draining > 0, count == size else {
            throw CocoaError(.fileWriteUnknown)
        }
        return (Double(size) / enqueuing, Double(size) / draining)
    }
}

// MARK: - A long backlog

extension QueueBenchmarks {
    /// A million operations wait: how long until the first one starts, and in how much memory.
    func open() async throws {
        report.title("queue: opened with a backlog, in a process of its own")
        for size in [10_000, 100_000, 1_000_000] {
            let path = folder.path("backlog-\(size).sqlite")
            try await Self.fill(path, size)
            let (taken, memory) = try Self.measured(path)
            let limits: [(String, Double, Double, String)] = [
                ("first start of \(size)", taken, 2, "s"), ("memory", memory, 150, "MB"),
            ]
            for (name, ours, limit, unit) in limits {
                report.add(.init(name: name, ours: ours, peer: limit, unit: unit, target: .below))
            }
        }
        try await drainMillionIfWanted()
    }

    static func fill(_ path: String, _ size: Int) async throws {
        let store = try Store(.file(path))
        for start in stride(from: 0, to: size, by: 1_000) {
            let tickets = try (start..<start + 1_000).map { number in
                try store.writeLater {
                    try $0.enqueue(Put(path: "/lists/items/\(number)", list: number % 10))
                }
            }
            _ = try await tickets.last?.finish()
        }
        try store.close()
    }

    /// Runs this program once more, to look at nothing but the opening.
    private static func measured(_ path: String) throws -> (seconds: Double, megabytes: Double) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["--open", path]
        process.standardOutput = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        let numbers = text.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 2 else { throw CocoaError(.fileReadUnknown) }
        return (numbers[0], numbers[1])
    }

    /// Opens a store, and prints how long the first operation took to start.
    static func openOnce(_ path: String) async throws {
        let start = ContinuousClock().now
        let store = try Store(.file(path))
        let started = AsyncStream.makeStream(of: Double.self)
        let pipeline = Pipeline(order: .flat).on(Put.self) { _, _ in
            started.continuation.yield((ContinuousClock().now - start) / .seconds(1))
            throw CancellationError()
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.run() }
            for await seconds in started.stream {
                print("\(seconds) \(GodwitBench.peakMemoryInMegabytes())", terminator: "")
                break
            }
            group.cancelAll()
        }
    }
}
