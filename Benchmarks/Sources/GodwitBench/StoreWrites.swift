import Foundation
import GRDB
import Godwit
import GodwitTestKit
import SQLitePeer

/// Durable writes: many tasks at once, one alone, and one beside a reader that stays.
struct StoreWrites {
    let folder: TemporaryFolder
    let report: Report

    private let objects = Store.Collection<Message>("objects")
    private static let taskCount = 16
    private static let writeCount = 100_000
}

extension StoreWrites {
    func group() async throws {
        report.title("store: 100,000 durable writes of one object each, by 16 tasks, per second")
        let path = { (name: String, round: Int) in folder.path("\(name)-\(round).sqlite") }
        let (closed, single) = try await medians { round in
            try await ours(path("closed", round), isBurst: false)
        } _: { round in
            try await grdb(path("grdb", round))
        }
        let (burst, plain) = try await medians { round in
            try await ours(path("burst", round), isBurst: true)
        } _: { round in
            try plainSQLite(path("plain", round))
        }
        let rates: [(String, Double, Double, Comparison.Target)] = [
            ("each awaited / GRDB", closed, single, .none),
            ("writeLater / GRDB", burst, single, .atLeast(5)),
            ("each awaited / C by 500", closed, plain, .none),
            ("writeLater / C by 500", burst, plain, .atLeast(0.4)),
        ]
        for (name, ours, peer, target) in rates {
            report.add(.init(name: name, ours: ours, peer: peer, unit: "1/s", target: target))
        }
    }

    /// - Parameter isBurst: Whether the tasks ask for all writes before they wait for them.
    private func ours(_ path: String, isBurst: Bool) async throws -> Double {
        let (store, objects) = (try Store(.file(path)), objects)
        let share = Self.writeCount / Self.taskCount
        let taken = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<Self.taskCount {
                    group.addTask {
                        for number in task * share..<(task + 1) * share {
                            let (message, key) = (Message(number), Message.key(number))
                            let write = { @Sendable (transaction: borrowing WriteTransaction) in
                                try transaction.set(message, for: key, in: objects)
                            }
                            guard isBurst else {
                                try await store.write(write)
                                continue
                            }
                            let ticket = try store.writeLater(write)
                            if number % 2_000 == 0 { _ = try await ticket.finish() }
                        }
                        try await store.flush()
                    }
                }
                try await group.waitForAll()
            }
        }
        try store.close()
        return Double(share * Self.taskCount) / taken
    }

    private func grdb(_ path: String) async throws -> Double {
        let peer = try GRDBPeer(path: path)
        let share = Self.writeCount / Self.taskCount
        let taken = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<Self.taskCount {
                    group.addTask {
                        for number in task * share..<(task + 1) * share {
                            let value = try ValueEncoder().encode(Message(number)).canonicalBytes
                            try await peer.write(Message.key(number), Data(value), number)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try peer.pool.close()
        return Double(Self.writeCount) / taken
    }

    /// The same rows, encoded before the clock starts.
    private func plainSQLite(_ path: String) throws -> Double {
        let seal = [UInt8](repeating: 7, count: 16)
        var keys: [UnsafeMutablePointer<CChar>?] = []
        var values: [UnsafeMutableBufferPointer<UInt8>] = []
        for number in 0..<Self.writeCount {
            keys.append(strdup(Message.key(number)))
            let bytes = try ValueEncoder().encode(Message(number)).canonicalBytes
            let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            _ = buffer.initialize(from: bytes)
            values.append(buffer)
        }
        defer {
            for key in keys { free(key) }
            for value in values { value.deallocate() }
        }
        let taken = seal.withUnsafeBufferPointer { seal in
            let rows = zip(keys, values).map { key, value in
                peer_row(
                    key: key,
                    value: value.baseAddress,
                    value_size: Int32(value.count),
                    seal: seal.baseAddress,
                    seal_size: 16
                )
            }
            return peer_insert(path, rows, rows.count, 500)
        }
        precondition(taken > 0, "The peer must work")
        return Double(Self.writeCount) / taken
    }
}

extension StoreWrites {
    private static let loneCount = 8_000

    func lone() async throws {
        report.title("store: one durable write after the other, in microseconds")
        for size in [100, 1_000, 10_000] { try await lone(size: size) }
    }

    /// By turns, fifty writes each: what else the disk has to do meets both.
    private func lone(size: Int) async throws {
        var (own, peer): ([Double], [Double]) = ([], [])
        let store = try Store(.file(folder.path("lone-\(size).sqlite")))
        let other = try GRDBPeer(path: folder.path("lone-grdb-\(size).sqlite"))
        for start in stride(from: 0, to: Self.loneCount, by: 50) {
            own += try await latencies(start..<start + 50, of: store, size: size)
            peer += try await latencies(start..<start + 50, of: other, size: size)
        }
        try store.close()
        try other.pool.close()
        for (name, share, target) in [
            ("p50", 0.5, Comparison.Target.atMost(1.1)), ("p99", 0.99, .none),
        ] {
            report.add(
                .init(
                    name: "\(size) bytes, \(name)",
                    ours: percentile(share, of: own),
                    peer: percentile(share, of: peer),
                    unit: "µs",
                    target: target
                )
            )
        }
    }

    private func latencies(
        _ numbers: Range<Int>,
        of store: Store,
        size: Int
    ) async throws -> [Double] {
        var latencies: [Double] = []
        let objects = objects
        for number in numbers {
            let (message, key) = (Message(number, size: size), Message.key(number))
            latencies.append(
                try await seconds {
                    try await store.write { try $0.set(message, for: key, in: objects) }
                } * 1e6
            )
        }
        return latencies
    }

    private func latencies(
        _ numbers: Range<Int>,
        of peer: GRDBPeer,
        size: Int
    ) async throws -> [Double] {
        var latencies: [Double] = []
        for number in numbers {
            let (message, key) = (Message(number, size: size), Message.key(number))
            latencies.append(
                try await seconds {
                    try await peer.pool.write { database in
                        // Encoded where the store encodes: in the transaction.
                        let bytes = try ValueEncoder().encode(message).canonicalBytes
                        try GRDBPeer.insert(key, Data(bytes), number, in: database)
                    }
                } * 1e6
            )
        }
        return latencies
    }
}

extension StoreWrites {
    /// How long the reader stays; the whole minute by `GODWIT_BENCH_HOLD=60`.
    private static let holdSeconds =
        ProcessInfo.processInfo.environment["GODWIT_BENCH_HOLD"].flatMap { Double($0) } ?? 10

    func besideReader() async throws {
        report.title("store: durable writes while a reader keeps its snapshot, in microseconds")
        let store = try Store(.file(folder.path("held.sqlite")))
        let peer = try GRDBPeer(path: folder.path("held-grdb.sqlite"))
        let numbers = 0..<1_000
        _ = try await latencies(numbers, of: store, size: 200)
        _ = try await latencies(numbers, of: peer, size: 200)

        let view = try await store.view()
        let snapshot = try peer.pool.makeSnapshot()
        let first = view.commit
        let (own, other) = try await byTurns { numbers in
            try await latencies(numbers, of: store, size: 200)
        } _: { numbers in
            try await latencies(numbers, of: peer, size: 200)
        }
        _ = try await snapshot.read { try Int.fetchOne($0, sql: "SELECT 1") }
        precondition(first == CommitNumber(rawValue: 1_000), "The view has stayed where it was")
        for (name, share, target) in [
            ("p50", 0.5, Comparison.Target.none), ("p99", 0.99, .atMost(2)),
        ] {
            report.add(
                .init(
                    name: "\(Int(Self.holdSeconds)) s, \(name)",
                    ours: percentile(share, of: own),
                    peer: percentile(share, of: other),
                    unit: "µs",
                    target: target
                )
            )
        }
        report.add(
            .init(
                name: "size of the WAL",
                ours: megabytes(folder.path("held.sqlite-wal")),
                peer: megabytes(folder.path("held-grdb.sqlite-wal")),
                unit: "MB",
                target: .none
            )
        )
        try snapshot.close()
        try store.close()
        try peer.pool.close()
    }

    /// Writes objects that are all new, since the same again would be no change and no commit; by
    /// turns, so that what else the disk has to do meets both.
    private func byTurns(
        _ ours: (Range<Int>) async throws -> [Double],
        _ peer: (Range<Int>) async throws -> [Double]
    ) async throws -> (ours: [Double], peer: [Double]) {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(Self.holdSeconds)
        var (left, right, next) = ([Double](), [Double](), 1_000)
        while clock.now < end {
            left += try await ours(next..<next + 50)
            right += try await peer(next..<next + 50)
            next += 50
        }
        return (left, right)
    }

    private func megabytes(_ path: String) -> Double {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        return Double(size ?? 0) / 1e6
    }
}
