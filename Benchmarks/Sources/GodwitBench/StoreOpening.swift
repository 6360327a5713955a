import Foundation
import Godwit
import GodwitTestKit

/// What a large store makes an app wait for: its opening, and a view beside writes that never end.
struct StoreOpening {
    let folder: TemporaryFolder
    let report: Report

    private let objects = Store.Collection<Message>("objects")
    private static let sizes = [10_000, 100_000, 1_000_000]

    func run() async throws {
        for size in Self.sizes {
            let path = folder.path("opening-\(size).sqlite")
            try await fill(path, size)
            try await open(path, size)
            try await view(path, size)
        }
    }

    private func fill(_ path: String, _ size: Int) async throws {
        let (store, objects) = (try Store(.file(path)), objects)
        for start in stride(from: 0, to: size, by: 10_000) {
            try await store.write { transaction in
                for number in start..<start + 10_000 {
                    try transaction.set(Message(number), for: Message.key(number), in: objects)
                }
            }
        }
        try store.close()
    }

    private func open(_ path: String, _ size: Int) async throws {
        report.title("store: opened with \(size) objects, first read and close apart")
        var taken: [(opening: Double, read: Double)] = []
        for _ in 0..<9 {
            let clock = ContinuousClock()
            let start = clock.now
            let store = try Store(.file(path))
            let opened = clock.now
            let message = try await store.read { [objects] in
                try $0.get(Message.key(size / 2), in: objects)
            }
            precondition(message != nil, "The object is there")
            taken.append(
                ((opened - start) / .milliseconds(1), (clock.now - opened) / .milliseconds(1))
            )
            try store.close()
        }
        let rows: [(String, [Double])] = [
            ("opening", taken.map(\.opening)), ("first read", taken.map(\.read)),
        ]
        for (name, times) in rows {
            report.add(
                .init(
                    name: "\(name), \(size) objects",
                    ours: percentile(0.5, of: times),
                    peer: 50,
                    unit: "ms",
                    target: .below
                )
            )
        }
    }

    private func view(_ path: String, _ size: Int) async throws {
        report.title("store: view() beside writes that never end, \(size) objects")
        let (store, objects) = (try Store(.file(path)), objects)
        let writer = Task {
            var number = 0
            while !Task.isCancelled {
                let last = try (0..<500).map { _ in
                    number += 1
                    let key = Message.key(number * 7_919 % size)
                    return try store.writeLater { transaction in
                        try transaction.update(key, in: objects) { $0.isRead.toggle() }
                    }
                }.last
                _ = try await last?.finish()
            }
            return number
        }
        var taken: [Double] = []
        for _ in 0..<1_000 {
            let clock = ContinuousClock()
            let start = clock.now
            let view = try await store.view()
            taken.append((clock.now - start) / .milliseconds(1))
            withExtendedLifetime(view) {}
        }
        writer.cancel()
        let written = try await writer.value
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            report.add(
                .init(
                    name: "\(name), \(size) objects",
                    ours: percentile(share, of: taken),
                    peer: 5,
                    unit: "ms",
                    target: .below
                )
            )
        }
        report.note("\(written) writes meanwhile")
        try store.close()
    }
}
