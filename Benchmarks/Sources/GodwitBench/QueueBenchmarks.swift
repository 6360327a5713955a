import Foundation
import Godwit
import GodwitTestKit
import SQLitePeer

/// The push queue: enqueuing, draining, opening, durable throughout.
struct QueueBenchmarks {
    let folder: TemporaryFolder
    let report: Report

    struct Put: Godwit.Operation {
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
                ours.append(try await self.ours(size, round))
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

    private func ours(_ size: Int, _ round: Int) async throws -> (Double, Double) {
        let store = try Store(.file(folder.path("queue-\(size)-\(round).sqlite")))
        let pipeline = Pipeline(order: .flat, maxConcurrent: 64).on(Put.self) { _, _ in .completed }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let share = size / Self.taskCount + 1
        let enqueuing = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<Self.taskCount {
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
        let draining = await seconds {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await queue.run() }
                await queue.finish(through: CommitNumber(rawValue: .max))
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
        guard enqueuing > 0, draining > 0, count == size else { throw CocoaError(.fileWriteUnknown) }
        return (Double(size) / enqueuing, Double(size) / draining)
    }
}
