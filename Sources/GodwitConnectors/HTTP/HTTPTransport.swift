#if HTTP
internal import AsyncHTTPClient
internal import Foundation
public import GodwitReplication
public import GodwitTree
internal import NIOCore
internal import NIOHTTP1

/// Carries exchanges to a Godwit server over HTTP.
///
/// Requests and answers are canonical CBOR; new heads arrive as server-sent events.
public struct HTTPTransport: ReplicaTransport {
    private let server: String
    private let client = HTTPClient.shared

    /// The largest answer that is accepted, in bytes.
    public static let answerSizeMax = 256 << 20
    private static let timeout = TimeAmount.seconds(60)

    /// - Parameter server: The server's address, such as `http://127.0.0.1:7007`.
    /// - Throws: ``ConnectorError/invalidAddress(_:)``.
    public init(server: String) throws {
        guard let url = URL(string: server), let scheme = url.scheme, url.host != nil,
            ["http", "https"].contains(scheme)
        else { throw ConnectorError.invalidAddress(server) }
        self.server = server.hasSuffix("/") ? String(server.dropLast()) : server
    }

    public func create(_ replica: ReplicaName) async throws {
        var request = HTTPClientRequest(url: url(replica))
        request.method = .PUT
        _ = try await bytes(for: request)
    }

    public func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url(replica) + "/exchange")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/cbor")
        request.headers.add(name: "accept", value: "application/cbor")
        request.headers.add(name: "godwit-client", value: client.description)
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await bytes(for: request)
    }

    public func heads(of replica: ReplicaName) -> AsyncThrowingStream<StateID, any Error> {
        let request = HTTPClientRequest(url: url(replica) + "/events")
        return AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    try await read(request) { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// What else the server tells about a replica: its summary, or below `/value` all of it.
    public func fetch(_ path: String, of replica: ReplicaName) async throws -> Value {
        var request = HTTPClientRequest(url: url(replica) + path)
        request.headers.add(name: "accept", value: "application/cbor")
        let answer = try await bytes(for: request)
        do {
            // The app has asked for all of it, and the size of the answer has its own limit.
            return try Value(canonicalBytes: answer, budget: .unlimited)
        } catch {
            throw ConnectorError.malformedAnswer(reason: error.description)
        }
    }
}

extension HTTPTransport {
    private func url(_ replica: ReplicaName) -> String { "\(server)/v1/replicas/\(replica)" }

    private func bytes(for request: HTTPClientRequest) async throws -> [UInt8] {
        let response = try await reaching {
            try await client.execute(request, timeout: Self.timeout)
        }
        let body = try await reaching { try await response.body.collect(upTo: Self.answerSizeMax) }
        let bytes = Array(body.readableBytesView)
        guard (200..<300).contains(response.status.code) else {
            throw Self.refusal(status: Int(response.status.code), body: bytes)
        }
        return bytes
    }

    /// Reads server-sent events until the connection ends: the data of an event is an id.
    private func read(
        _ request: HTTPClientRequest,
        _ yield: (StateID) -> Void
    ) async throws {
        let response = try await reaching { try await client.execute(request, timeout: .hours(24)) }
        guard response.status == .ok else {
            let body = try await response.body.collect(upTo: 1 << 16)
            throw Self.refusal(
                status: Int(response.status.code),
                body: Array(body.readableBytesView)
            )
        }
        var lines = EventLines()
        for try await chunk in response.body {
            for data in try lines.data(in: Array(chunk.readableBytesView)) {
                guard let id = [UInt8](hex: data).flatMap({ StateID(bytes: $0) }) else {
                    throw ConnectorError.malformedAnswer(reason: "an event without an id")
                }
                yield(id)
            }
        }
    }

    private static func refusal(status: Int, body: [UInt8]) -> ConnectorError {
        let value = (try? Value(json: body)) ?? .null
        return .refused(
            status: status,
            code: value["error"]?.text ?? "unknown",
            message: value["message"]?.text ?? "no reason given"
        )
    }

    private func reaching<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw ConnectorError.unreachable(reason: "\(error)")
        }
    }
}

/// Takes the data lines out of a stream of server-sent events, however it is cut.
struct EventLines {
    private var rest: [UInt8] = []

    private static let lineSizeMax = 1 << 16

    mutating func data(in chunk: [UInt8]) throws(ConnectorError) -> [String] {
        rest += chunk
        var found: [String] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest.removeFirst(end + 1)
            if line.hasPrefix("data: ") { found.append(String(line.dropFirst(6))) }
        }
        guard rest.count <= Self.lineSizeMax else {
            throw .malformedAnswer(reason: "an event without an end")
        }
        return found
    }
}
#endif
