import Foundation
import Godwit
import GodwitServer
import GodwitTestKit
import Logging
import Synchronization

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
    private static let subscriberCount = 1_000
    private static let newsCount = 40

    func run() async throws {
        report.title(
            "server: a process of its own, \(Self.replicaCount) replicas, each commit synced"
        )
        let path = folder.path("server.sqlite")
        let messages = try await record(path)
        let server = try ServedFile(path)
        defer { server.stop() }
        try await exchange(messages.map { $0.prefix(Self.warmUpCount) }, with: server)
        let cpu = try server.cpuSeconds
        let measured = messages.map { $0.dropFirst(Self.warmUpCount).dropLast(Self.newsCount) }
        let time = try await seconds { try await exchange(measured, with: server) }
        let count = Double(measured.reduce(0) { $0 + $1.count })
        let each = try (server.cpuSeconds - cpu) / count * 1e6
        report.add("exchanges of an edit, a second", count / time, 15_000, "/s", .atLeast(1))
        report.add("the server's CPU for each", each, 60, "µs", .below)
        try await follow(messages[0].suffix(Self.newsCount), with: server)
    }
}

extension ServerBenchmark {
    /// Lets a device for each replica make edits, and keeps its requests as HTTP has them.
    private func record(_ path: String) async throws -> [[[UInt8]]] {
        let own = folder.path("recorded.sqlite")
        let names = try (0..<Self.replicaCount).map { try ReplicaName("list-\($0)") }
        let empty = try Store(.file(path))
        let creator = try await ReplicaServer(empty)
        for name in names { try await creator.create(name) }
        try empty.close()
        try FileManager.default.copyItem(atPath: path, toPath: own)
        let store = try Store(.file(own))
        let recorder = Recorder(server: try await ReplicaServer(store))
        let objects = Store.Collection<Message>("objects")
        for name in names {
            let device = try Store(.memory)
            let connector = try ReplicaConnector(device, transport: recorder)
            _ = try await connector.open(name, collections: ["objects"])
            for number in 0..<Self.editCount {
                try await device.write { transaction in
                    var message = Message(number % 10)
                    message.score = Double(number)
                    try transaction.set(message, for: "m\(number % 10)", in: objects)
                }
                try await connector.synchronize(name)
            }
            try device.close()
        }
        try store.close()
        return names.map { recorder.requests[$0] ?? [] }
    }

    /// Sends the requests of each replica, one after the other, and those of all replicas at once.
    private func exchange(
        _ requests: [ArraySlice<[UInt8]>],
        with server: ServedFile
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for requests in requests {
                group.addTask {
                    try await onThread {
                        let connection = try RawConnection(port: server.port)
                        defer { connection.close() }
                        for request in requests { try connection.exchange(request) }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// What subscribers take while nothing happens, and for each new head.
    private func follow(_ news: ArraySlice<[UInt8]>, with server: ServedFile) async throws {
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
            for subscriber in subscribers { _ = try subscriber.receive() }
        }
        let count = Double(news.count * subscribers.count)
        report.add(
            "CPU to tell one of 1,000 a new head",
            (try server.cpuSeconds - cpu) / count * 1e6,
            6,
            "µs",
            .below
        )
    }
}

/// Runs something that blocks on a thread of its own.
private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A server in this process that keeps the requests which it gets, as a client sends them over HTTP.
private final class Recorder: ReplicaTransport {
    private let server: ReplicaServer
    private let kept = Mutex<[ReplicaName: [[UInt8]]]>([:])

    init(server: ReplicaServer) { self.server = server }

    var requests: [ReplicaName: [[UInt8]]] { kept.withLock(\.self) }

    func create(_ replica: ReplicaName) async throws { try await server.create(replica) }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let head = """
            POST /v1/replicas/\(replica)/exchange HTTP/1.1\r
            host: localhost\r
            content-type: application/octet-stream\r
            godwit-client: \(client)\r
            content-length: \(body.count)\r
            \r

            """
        kept.withLock { $0[replica, default: []].append(Array(head.utf8) + body) }
        return try await server.answer(body, from: client, of: replica)
    }

    func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        AsyncThrowingStream { $0.finish() }
    }
}

/// A process of this program that serves a file.
struct ServedFile: Sendable {
    let port: Int
    private let process: Int32

    /// Starts the process, and waits until it listens.
    init(_ path: String) throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["--serve", path]
        process.standardOutput = output
        try process.run()
        self.process = process.processIdentifier
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw RawConnection.Failed(description: "the server says: \(line)")
        }
        self.port = port
    }

    /// Serves a file until the process is killed, and prints the port.
    static func serve(_ path: String) async throws {
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let server = SyncServer(store: try Store(.file(path)), port: 0, logger: logger) { port in
            FileHandle.standardOutput.write(Data("\(port)\n".utf8))
        }
        try await server.run()
    }

    func stop() { kill(process, SIGKILL) }

    /// The seconds of CPU that the process has taken: fields 14 and 15 of Linux's `stat`, in ticks.
    var cpuSeconds: Double {
        get throws {
            let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12])
            else { throw WrongResult() }
            return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    var residentBytes: Int {
        get throws {
            let fields = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
                .split(separator: " ")
            guard fields.count > 1, let pages = Int(fields[1]) else { throw WrongResult() }
            return pages * Int(getpagesize())
        }
    }
}
