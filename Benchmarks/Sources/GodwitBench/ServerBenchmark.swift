import Foundation
import Godwit
import GodwitServer
import GodwitTestKit

/// What the server takes for an exchange and for a subscriber: a process of its own, seen from outside.
///
/// The messages are made before, by devices and a server in this process, whose file the other process
/// got a copy of. So the clients take little of the machine.
struct ServerBenchmark {
    let folder: TemporaryFolder
    let report: Report

    private static let replicaCount = 50
    private static let editCount = 240
    private static let warmUpCount = 40
    private static let subscriberCount = 10_000
    private static let newsCount = 8

    func run() async throws {
        report.title(
            "server: a process of its own, \(Self.replicaCount) replicas, each commit synced"
        )
        let path = folder.path("server.sqlite")
        let recorded = try await RecordedExchanges(
            replicas: Self.replicaCount,
            edits: Self.editCount,
            to: path
        )
        let messages = recorded.messages
        let server = try ServerUnderLoad(serving: .file(path))
        defer { server.stop() }
        try await RecordedExchanges.send(messages.map { $0.prefix(Self.warmUpCount) }, to: [server])
        let cpu = try server.cpuSeconds
        let measured = messages.map { $0.dropFirst(Self.warmUpCount).dropLast(Self.newsCount) }
        let time = try await seconds { try await RecordedExchanges.send(measured, to: [server]) }
        let count = Double(measured.reduce(0) { $0 + $1.count })
        let each = try (server.cpuSeconds - cpu) / count * 1e6
        report.add("exchanges of an edit, a second", count / time, 15_000, "/s", .atLeast(1))
        report.add("the server's CPU for each", each, 60, "µs", .below)
        try await follow(messages[0].suffix(Self.newsCount), with: server)
    }
}

extension ServerBenchmark {
    /// What subscribers take while nothing happens, and for each new head.
    private func follow(_ news: ArraySlice<[UInt8]>, with server: ServerUnderLoad) async throws {
        let before = try server.residentBytes
        var subscribers: [RawConnection] = []
        defer { for subscriber in subscribers { subscriber.close() } }
        let request = "GET /v1/replicas/list-0/events HTTP/1.1\r\nhost: localhost\r\n\r\n"
        for _ in 0..<Self.subscriberCount {
            let subscriber = try RawConnection(port: server.port)
            subscribers.append(subscriber)
            try subscriber.send(Array(request.utf8))
            var text = ""
            while !text.contains("data: ") {
                text += String(decoding: try subscriber.receive(), as: UTF8.self)
            }
        }
        let idle = try Double(server.residentBytes - before) / Double(Self.subscriberCount)
        report.add("memory of an idle subscriber", idle / 1_024, 16, "KB", .below)
        let cpu = try server.cpuSeconds
        let writer = try RawConnection(port: server.port)
        defer { writer.close() }
        for message in news {
            try writer.exchange(message)
            for subscriber in subscribers {
                // A heartbeat has no data.
                var text = ""
                while !text.contains("data: ") {
                    text += String(decoding: try subscriber.receive(), as: UTF8.self)
                }
            }
        }
        let count = Double(news.count * subscribers.count)
        report.add(
            "CPU to tell one of 10,000 a new head",
            (try server.cpuSeconds - cpu) / count * 1e6,
            6,
            "µs",
            .below
        )
    }
}
