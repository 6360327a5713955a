import Foundation
import GRDB
import Godwit
import GodwitTestKit

/// Reads, observers, a view, and what all of it costs when the store has become large.
struct StoreReads {
    let folder: TemporaryFolder
    let report: Report

    private let objects = Store.Collection<Message>("objects")
    private static let readCount = 100_000
    private static let objectCount = 200_000

    func read() async throws {
        let path = folder.path("reads.sqlite")
        let store = try Store(.file(path))
        try await fill(store, 0..<Self.objectCount)
        report.title("store: reads of objects of 200 bytes, microseconds each")
        try await points(store, path)
        report.title("store: 200,000 objects, one after the other, in seconds")
        try await enumeration(store, path)
        try store.close()
    }

    private func fill(_ store: Store, _ numbers: Range<Int>) async throws {
        let objects = objects
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 10_000) {
            try await store.write { transaction in
                for number in start..<min(start + 10_000, numbers.upperBound) {
                    try transaction.set(Message(number), for: Message.key(number), in: objects)
                }
            }
        }
    }
}

extension StoreReads {
    private func points(_ store: Store, _ path: String) async throws {
        var random = Seeded(seed: 1)
        let keys = (0..<Self.readCount).map { _ in
            Message.key(Int.random(in: 0..<Self.objectCount, using: &random))
        }
        let hot = (0..<Self.readCount).map { _ in
            Message.key(Int.random(in: 0..<5_000, using: &random))
        }
        let objects = objects
        let warm = Set(hot)
        let view = try await store.view()
        for key in warm { _ = try view.get(key, in: objects) }
        let (cached, viewed) = try await medians { _ in
            try await store.read { transaction in
                try Self.each(hot) { _ = try transaction.get($0, in: objects) }
            }
        } _: { _ in
            try Self.each(hot) { _ = try view.get($0, in: objects) }
        }
        report.add(.init(name: "cached", ours: cached, peer: 1, unit: "µs", target: .below))
        report.add(.init(name: "cached, view", ours: viewed, peer: 1, unit: "µs", target: .below))

        var options = Store.Options.readOnly
        options.cacheSizeInBytes = 0
        let bare = try Store(.file(path), options: options)
        let pool = try DatabasePool(path: path)
        let (plain, fetched) = try await medians { _ in
            try await bare.read { transaction in
                try Self.each(keys) { _ = try transaction.value(of: objects.place($0)) }
            }
        } _: { _ in
            try await pool.read { try Self.fetch(keys, from: $0) { _ in } }
        }
        let (typed, decoded) = try await medians { _ in
            try await bare.read { transaction in
                try Self.each(keys) { _ = try transaction.get($0, in: objects) }
            }
        } _: { _ in
            try await pool.read { database in
                try Self.fetch(keys, from: database) { bytes in
                    let value = try Value(canonicalBytes: Array(bytes))
                    _ = try ValueDecoder().decode(Message.self, from: value)
                }
            }
        }
        let raw: [(String, Double, Double)] = [
            ("uncached, as a value / row", plain, fetched),
            ("uncached, typed / row", typed, fetched),
        ]
        for (name, ours, peer) in raw {
            report.add(.init(name: name, ours: ours, peer: peer, unit: "µs", target: .none))
        }
        report.add(
            .init(
                name: "uncached / GRDB, decoded",
                ours: typed,
                peer: decoded,
                unit: "µs",
                target: .atMost(1.3)
            )
        )
        try bare.close()
        try pool.close()
    }

    private static func each(_ keys: [String], _ body: (String) throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let taken = try clock.measure { for key in keys { try body(key) } }
        return taken / .microseconds(1) / Double(keys.count)
    }

    private static func fetch(
        _ keys: [String],
        from database: Database,
        _ body: (Data) throws -> Void
    ) throws -> Double {
        let statement = try database.cachedStatement(
            sql: """
                SELECT value, metadata, version, commit_number, seal FROM godwit_object
                WHERE collection = 'objects' AND key = ?
                """
        )
        return try each(keys) { key in
            guard let row = try Row.fetchOne(statement, arguments: [key]) else { return }
            try body(row[0])
        }
    }
}

extension StoreReads {
    private func enumeration(_ store: Store, _ path: String) async throws {
        let objects = objects
        let pool = try DatabasePool(path: path)
        let (ours, peer) = try await medians { _ in
            try await seconds {
                try await store.read { transaction in
                    var count = 0
                    try transaction.enumerate(objects) { _, message, _ in count += message.id & 1 }
                }
            }
        } _: { _ in
            try await seconds {
                try await pool.read { database in
                    let rows = try Row.fetchCursor(
                        database,
                        sql: """
                            SELECT key, value FROM godwit_object
                            WHERE collection = 'objects' ORDER BY key
                            """
                    )
                    while let row = try rows.next() {
                        let value = try Value(canonicalBytes: Array(row[1] as Data))
                        _ = try ValueDecoder().decode(Message.self, from: value)
                    }
                }
            }
        }
        report.add(
            .init(
                name: "enumerate / scan + decoding",
                ours: ours,
                peer: peer,
                unit: "s",
                target: .atMost(2)
            )
        )
        try pool.close()
    }

    func advance() async throws {
        report.title("store: a view of 100,000 rows advances by one row, in microseconds")
        let (store, objects) = (try Store(.file(folder.path("view.sqlite"))), objects)
        try await fill(store, 0..<100_000)
        let view = try await store.view()
        let list = try await view.list(
            objects,
            where: { $0.id < 100_000 },
            grouped: { $0.author },
            sorted: { $0.score }
        )
        precondition(list.count == 100_000, "The list has its rows")
        var taken: [Double] = []
        for number in 0..<1_000 {
            try await store.write { transaction in
                try transaction.update(Message.key(number * 97), in: objects) { $0.score += 1_000 }
            }
            let clock = ContinuousClock()
            taken.append(try clock.measure { try view.advance() } / .microseconds(1))
            precondition(list.change.moved.count == 1, "One row has moved")
        }
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let ours = percentile(share, of: taken)
            report.add(.init(name: name, ours: ours, peer: 1_000, unit: "µs", target: .below))
        }
        try store.close()
    }
}

extension StoreReads {
    private static let observerCount = 1_000

    func observers() async throws {
        report.title("store: writes with 1,000 observers of other keys, per second")
        let (with, without) = try await medians(rounds: 5) { round in
            try await burst(folder.path("observed-\(round).sqlite"), isObserved: true)
        } _: { round in
            try await burst(folder.path("alone-\(round).sqlite"), isObserved: false)
        }
        report.add(
            .init(
                name: "with / without",
                ours: with,
                peer: without,
                unit: "1/s",
                target: .atLeast(0.95)
            )
        )
    }

    private func burst(_ path: String, isObserved: Bool) async throws -> Double {
        let (store, objects) = (try Store(.file(path)), objects)
        let rate = try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<(isObserved ? Self.observerCount : 0) {
                let changes = store.changes(of: "observed \(number)", in: objects)
                group.addTask { for await _ in changes {} }
            }
            let count = 20_000
            let taken = try await seconds {
                for number in 0..<count {
                    try store.writeLater { transaction in
                        try transaction.set(Message(number), for: Message.key(number), in: objects)
                    }
                    if number.isMultiple(of: 5_000) { try await store.flush() }
                }
                try await store.flush()
            }
            try store.close()
            try await group.waitForAll()
            return Double(count) / taken
        }
        return rate
    }

    func growth() async throws {
        report.title("store: a write when the store has become large, in microseconds")
        let (store, objects) = (try Store(.file(folder.path("growth.sqlite"))), objects)
        var (filled, first): (Int, (lone: Double, burst: Double)?) = (0, nil)
        for size in [10_000, 100_000, 1_000_000] {
            try await fill(store, filled..<size)
            filled = size
            var random = Seeded(seed: 2)
            var lone: [Double] = []
            for _ in 0..<2_000 {
                let number = Int.random(in: 0..<size, using: &random)
                lone.append(
                    try await seconds {
                        try await store.write { transaction in
                            try transaction.update(Message.key(number), in: objects) {
                                $0.isRead.toggle()
                            }
                        }
                    } * 1e6
                )
            }
            let burst =
                try await seconds {
                    for _ in 0..<20_000 {
                        let number = Int.random(in: 0..<size, using: &random)
                        try store.writeLater { transaction in
                            try transaction.update(Message.key(number), in: objects) {
                                $0.isRead.toggle()
                            }
                        }
                    }
                    try await store.flush()
                } * 1e6 / 20_000
            let p50 = percentile(0.5, of: lone)
            let base = first ?? (p50, burst)
            first = base
            for (name, ours, peer) in [("lone", p50, base.lone), ("burst", burst, base.burst)] {
                report.add(
                    .init(
                        name: "\(name), \(size) / 10000 objects",
                        ours: ours,
                        peer: peer,
                        unit: "µs",
                        target: name == "lone" ? .atMost(2) : .none
                    )
                )
            }
        }
        try store.close()
    }
}
