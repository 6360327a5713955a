#if HTTP
internal import AsyncHTTPClient
internal import Foundation
public import GodwitReplication
public import GodwitTree
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// Carries exchanges to a Godwit server over HTTP.
///
/// ```swift
/// let transport = try HTTPTransport(server: "https://sync.example.com", token: "…")
/// try await transport.create(ReplicaName("shopping"))
/// ```
///
/// Messages are binary; new heads arrive as server-sent events. A server that refuses the connection
/// is reported at once.
public struct HTTPTransport: ReplicaTransport {
    /// How long the transport waits.
    public struct Timeouts: Sendable {
        /// Until the connection stands.
        public var connect: Duration = .seconds(10)
        /// Without a byte of the answer, or of a subscription: its server sends one every 20 seconds.
        public var idle: Duration = .seconds(60)

        public init() {}
    }

    private let server: String
    private let headers: [String: String]
    private let token: @Sendable () async throws -> String?
    private let timeouts: Timeouts
    private let client: HTTPClient

    /// The largest answer that is accepted, in bytes.
    public static let answerSizeMax = 256 << 20

    /// - Parameters:
    ///   - server: The server's address, such as `http://127.0.0.1:7007`.
    ///   - token: What the server lets the device in by, if it asks for it: an API key, or a signed token.
    ///     Where it is not taken, requests throw ``ConnectorError/refused(status:code:message:)`` with
    ///     status 401. For tokens that expire, see ``init(server:headers:timeouts:rootCertificates:token:)``.
    ///   - headers: Others to send with each request, by name.
    ///   - timeouts: How long to wait for a connection, an answer and the next bytes.
    ///   - rootCertificates: The path of a PEM file with root certificates to trust beside the system's:
    ///     for a server whose certificate a root of your own has signed.
    /// - Throws: ``ConnectorError/invalidAddress(_:)``, ``ConnectorError/unusableCertificates(path:reason:)``.
    public init(
        server: String,
        token: String? = nil,
        headers: [String: String] = [:],
        timeouts: Timeouts = Timeouts(),
        rootCertificates: String? = nil
    ) throws {
        try self.init(
            server: server,
            headers: headers,
            timeouts: timeouts,
            rootCertificates: rootCertificates,
            token: { token }
        )
    }

    /// A transport whose token changes: for signed tokens that expire.
    ///
    /// ```swift
    /// let transport = try HTTPTransport(server: "https://sync.example.com") {
    ///     try await session.freshToken()
    /// }
    /// ```
    ///
    /// The transport asks for the token before each request. If `token` throws, the request fails as if
    /// the server could not be reached, and the connector tries again. Keep a token until shortly before
    /// it expires: a request waits for `token`.
    ///
    /// - Parameters:
    ///   - server: The server's address, such as `http://127.0.0.1:7007`.
    ///   - headers: Others to send with each request, by name.
    ///   - timeouts: How long to wait for a connection, an answer and the next bytes.
    ///   - rootCertificates: The path of a PEM file with root certificates to trust beside the system's.
    ///   - token: The token at this moment; nil for none.
    /// - Throws: ``ConnectorError/invalidAddress(_:)``, ``ConnectorError/unusableCertificates(path:reason:)``.
    public init(
        server: String,
        headers: [String: String] = [:],
        timeouts: Timeouts = Timeouts(),
        rootCertificates: String? = nil,
        token: @escaping @Sendable () async throws -> String?
    ) throws {
        guard let url = URL(string: server), let scheme = url.scheme, url.host != nil,
            ["http", "https"].contains(scheme)
        else { throw ConnectorError.invalidAddress(server) }
        self.server = server.hasSuffix("/") ? String(server.dropLast()) : server
        (self.headers, self.token) = (headers, token)
        self.timeouts = timeouts
        client = try HTTPClients.client(for: timeouts, rootCertificates)
    }

    public func create(_ replica: ReplicaName) async throws {
        var request = try await request(url(replica))
        request.method = .PUT
        _ = try await bytes(for: request)
    }

    public func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        var request = try await request(url(replica) + "/exchange")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/octet-stream")
        request.headers.add(name: "godwit-client", value: client.description)
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await bytes(for: request)
    }

    public func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        let url = url(replica) + "/events"
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    try await read(try await request(url)) { continuation.yield($0) }
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
        var request = try await request(url(replica) + path)
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
    /// For a request as a whole: an answer that still arrives is not too late.
    private static let answerTimeout = TimeAmount.hours(24)

    private func url(_ replica: ReplicaName) -> String { "\(server)/v1/replicas/\(replica)" }

    private func request(_ url: String) async throws -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        do {
            if let token = try await token() {
                request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(token)")
            }
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch {
            throw ConnectorError.unreachable(reason: "there is no token: \(error)")
        }
        return request
    }

    private func bytes(for request: HTTPClientRequest) async throws -> [UInt8] {
        let response = try await reaching {
            try await client.execute(request, timeout: Self.answerTimeout)
        }
        let body = try await reaching { try await response.body.collect(upTo: Self.answerSizeMax) }
        let bytes = Array(body.readableBytesView)
        guard (200..<300).contains(response.status.code) else {
            throw Self.refusal(response, body: bytes)
        }
        return bytes
    }

    /// Reads server-sent events until the connection ends: the data of an event is a state.
    private func read(
        _ request: HTTPClientRequest,
        _ yield: (LineState) -> Void
    ) async throws {
        let response = try await reaching {
            try await client.execute(request, timeout: Self.answerTimeout)
        }
        guard response.status == .ok else {
            let body = try await reaching { try await response.body.collect(upTo: 1 << 16) }
            throw Self.refusal(response, body: Array(body.readableBytesView))
        }
        var lines = EventLines()
        try await reaching {
            for try await chunk in response.body {
                for data in try lines.data(in: Array(chunk.readableBytesView)) {
                    guard let state = LineState(eventData: data) else {
                        throw ConnectorError.malformedAnswer(reason: "an event without a state")
                    }
                    yield(state)
                }
            }
        }
    }

    private static func refusal(_ response: HTTPClientResponse, body: [UInt8]) -> ConnectorError {
        let value = (try? Value(json: body)) ?? .null
        let message = value["message"]?.text ?? "no reason given"
        // RFC 9110, section 10.2.3; a date instead of seconds is left to the backoff.
        if [429, 503].contains(response.status.code),
            let seconds = response.headers.first(name: "retry-after").flatMap({ Int64($0) }),
            (0...waitMax).contains(seconds)
        {
            return .busy(retryAfter: .seconds(seconds), message: message)
        }
        return .refused(
            status: Int(response.status.code),
            code: value["error"]?.text ?? "unknown",
            message: message
        )
    }

    /// The longest wait that a server may ask for, in seconds.
    private static let waitMax: Int64 = 3_600

    private func reaching<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch let error as ConnectorError {
            throw error
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw Self.isInterruption(error)
                ? ConnectorError.interrupted(reason: "\(error)")
                : ConnectorError.unreachable(reason: "\(error)")
        }
    }

    /// Whether there was a connection: all errors but those of connecting may come in the middle of a
    /// message.
    private static func isInterruption(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError:
            ![.connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout].contains(error)
        case let error as IOError:
            ![ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN].contains(error.errnoCode)
        // The certificate was not taken, and nothing was sent.
        case NIOSSLError.handshakeFailed, is NIOSSLExtraError: false
        // They are of modules that this one does not import, the second on Apple's systems alone.
        default: !["NIOConnectionError", "NWTLSError"].contains("\(type(of: error))")
        }
    }
}

extension LineState {
    /// Reads the data of an event: the serial and the id, with a space between.
    fileprivate init?(eventData: String) {
        let words = eventData.split(separator: " ")
        guard words.count == 2, let serial = Int64(words[0]), serial >= 0,
            let id = [UInt8](hex: String(words[1])).flatMap({ StateID(bytes: $0) })
        else { return nil }
        self.init(serial: serial, id: id)
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
