import Foundation
import Godwit
import GodwitServer
import GodwitStore
import GodwitTestKit
import Synchronization

/// What the flood of one key does to the exchanges of another one.
///
/// One key asks ten times as often as it may, and is refused nine times of ten. Another one stays below its
/// quota. Quiet times and floods take turns, so that both meet the same machine.
struct OverloadBenchmark {
    let folder: TemporaryFolder
    let report: Report

    /// Requests a second that each key may make.
    private static let quota = 100
    private static let floodFactor = 10
    private static let floodConnections = 4
    /// How often the other one asks, a second.
    private static let rate = 40
    private static let roundCount = 4
    /// How many exchanges a round has.
    private static let exchangeCount = 240
    private static let warmUpCount = 40

    func run() async throws {
        report.title(
            "overload: p99 of one key's exchanges, while another one asks ten times too often"
        )
        let path = folder.path("overload.sqlite")
        let recorded = try await RecordedExchanges(
            replicas: 1 + Self.floodConnections,
            edits: Self.warmUpCount + Self.roundCount * Self.exchangeCount,
            to: path
        )
        let store = try Store(.file(path))
        let keys = try APIKeys(store)
        let tokens = (
            try await keys.create("calm", rights: .all).token,
            try await keys.create("flood", rights: .all).token
        )
        try store.close()
        let server = try ServerUnderLoad(serving: .limited(path, requestRate: Self.quota))
        defer { server.stop() }
        let calm = recorded.messages[0].map { $0.authorized(by: tokens.0) }
        let flood = recorded.messages.dropFirst().map { messages in
            Flood(messages.map { $0.authorized(by: tokens.1) })
        }
        _ = try await Self.latencies(of: calm[..<Self.warmUpCount], server)
        var (quiet, flooded) = ([Double](), [Double]())
        for round in 0..<Self.roundCount {
            let start = Self.warmUpCount + round * Self.exchangeCount
            let messages = calm[start..<start + Self.exchangeCount]
            guard round % 2 == 1 else {
                quiet += try await Self.latencies(of: messages, server)
                continue
            }
            async let flooding: Void = Self.run(flood, server, while: messages.count)
            flooded += try await Self.latencies(of: messages, server)
            try await flooding
        }
        let (taken, refused) = flood.reduce((0, 0)) {
            ($0.0 + $1.takenCount, $0.1 + $1.refusedCount)
        }
        report.note("of the flood, \(taken) edits were taken and \(refused) refused")
        guard taken > 0, refused > 5 * taken else { throw WrongResult() }
        report.add(
            "p99 beside the flood, and alone",
            percentile(0.99, of: flooded) * 1e3,
            percentile(0.99, of: quiet) * 1e3,
            "ms",
            .atMost(1.2)
        )
    }

    /// How long each of some exchanges takes, at a steady rate.
    private static func latencies(
        of messages: ArraySlice<[UInt8]>,
        _ server: ServerUnderLoad
    ) async throws -> [Double] {
        let results = Mutex<[Double]>([])
        try await onThread {
            let connection = try RawConnection(port: server.port)
            defer { connection.close() }
            let clock = ContinuousClock()
            let start = clock.now
            for (number, message) in messages.enumerated() {
                Self.wait(until: start + .seconds(1) * number / Self.rate)
                let sent = clock.now
                try connection.exchange(message)
                results.withLock { $0.append((clock.now - sent) / .seconds(1)) }
            }
        }
        return results.withLock(\.self)
    }

    /// Asks too often for as long as some exchanges take.
    private static func run(
        _ flood: [Flood],
        _ server: ServerUnderLoad,
        while exchangeCount: Int
    ) async throws {
        let rate = Self.quota * Self.floodFactor / Self.floodConnections
        let count = exchangeCount * rate / Self.rate
        try await withThrowingTaskGroup(of: Void.self) { group in
            for flood in flood {
                group.addTask {
                    try await onThread {
                        let connection = try RawConnection(port: server.port)
                        defer { connection.close() }
                        let start = ContinuousClock.now
                        for number in 0..<count {
                            Self.wait(until: start + .seconds(1) * number / rate)
                            try flood.ask(connection)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func wait(until instant: ContinuousClock.Instant) {
        let left = ContinuousClock.now.duration(to: instant)
        if left > .zero { Thread.sleep(forTimeInterval: left / .seconds(1)) }
    }
}

/// One connection's edits of a replica, each of which is sent until it is taken.
private final class Flood: Sendable {
    private let messages: [[UInt8]]
    private let counts = Mutex((taken: 0, refused: 0))

    init(_ messages: [[UInt8]]) { self.messages = messages }

    var takenCount: Int { counts.withLock(\.taken) }
    var refusedCount: Int { counts.withLock(\.refused) }

    func ask(_ connection: RawConnection) throws {
        guard messages.indices.contains(takenCount) else { throw WrongResult() }
        switch try connection.status(of: messages[takenCount]) {
        case 200: counts.withLock { $0.taken += 1 }
        case 429: counts.withLock { $0.refused += 1 }
        default: throw WrongResult()
        }
    }
}

extension [UInt8] {
    /// A request of HTTP with a key.
    fileprivate func authorized(by token: String) -> [UInt8] {
        guard let end = firstIndex(of: UInt8(ascii: "\n")) else { return self }
        return self[...end] + Array("authorization: Bearer \(token)\r\n".utf8) + self[(end + 1)...]
    }
}
