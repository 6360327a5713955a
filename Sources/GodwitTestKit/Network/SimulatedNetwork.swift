public import GodwitConnectors
public import GodwitReplication
public import GodwitStore
internal import Synchronization

/// A server in the same process, and a network that loses what its script says.
///
/// Messages go through their bytes, as on a real wire. A request that is lost never arrives; an
/// answer that is lost was given, but its client learns nothing of it.
public final class SimulatedNetwork: ReplicaTransport {
    /// What happens to one exchange.
    public enum Delivery: Sendable, Equatable {
        case arrives, loseRequest, loseAnswer, damageAnswer
        /// The server refuses it, with a word for why such as `tokenExpired`.
        case refuse(status: Int, code: String)
        /// The server has too much to do, and names when to ask again.
        case busy(retryAfter: Duration)
    }

    private struct State {
        var isOnline = true
        var delivery: @Sendable (Int) -> Delivery = { _ in .arrives }
        var count = 0
        var streams: [Int: AsyncThrowingStream<LineState, any Error>.Continuation] = [:]
        var streamCount = 0
    }

    /// The server at the other end.
    public let server: ReplicaServer
    private let state = Mutex(State())

    /// - Parameters:
    ///   - store: What the server keeps its replicas in.
    ///   - options: What the server takes, and how it merges.
    public init(
        store: Store,
        options: ReplicaServer.Options = ReplicaServer.Options()
    ) async throws {
        server = try await ReplicaServer(store, options: options)
    }

    /// Whether anything gets through at all; clients that follow a replica lose their connection when not.
    public var isOnline: Bool {
        get { state.withLock { $0.isOnline } }
        set {
            let cut = state.withLock { state in
                state.isOnline = newValue
                let cut = newValue ? [:] : state.streams
                if !newValue { state.streams = [:] }
                return cut.values
            }
            for stream in cut { stream.finish(throwing: Self.noNetwork) }
        }
    }

    private static let noNetwork = ConnectorError.unreachable(
        reason: "the simulated network lost the request"
    )

    /// How many exchanges were begun.
    public var exchangeCount: Int { state.withLock { $0.count } }

    /// Decides what happens to each exchange from now on, by its number: 0 for the next one.
    ///
    /// ```swift
    /// let network = try await SimulatedNetwork(store: Store(.memory))
    /// network.deliver { number in number == 0 ? .loseAnswer : .arrives }
    /// ```
    public func deliver(_ delivery: @escaping @Sendable (Int) -> Delivery) {
        state.withLock { state in
            let first = state.count
            state.delivery = { delivery($0 - first) }
        }
    }

    public func create(_ replica: ReplicaName) async throws { try await server.create(replica) }

    public func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let (delivery, isOnline) = state.withLock { state in
            defer { state.count += 1 }
            return (state.delivery(state.count), state.isOnline)
        }
        guard isOnline, delivery != .loseRequest else { throw Self.noNetwork }
        switch delivery {
        case .refuse(let status, let code):
            throw ConnectorError.refused(
                status: status,
                code: code,
                message: "the simulated network refuses"
            )
        case .busy(let wait):
            throw ConnectorError.busy(retryAfter: wait, message: "the simulated network is busy")
        default: break
        }
        var answer = try await refusing {
            try await server.answer(body, from: client, of: replica)
        }
        switch delivery {
        case .loseAnswer:
            throw ConnectorError.interrupted(reason: "the simulated network lost the answer")
        case .damageAnswer:
            answer[answer.count / 2] ^= 0x40
        default: break
        }
        return answer
    }

    public func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        AsyncThrowingStream { continuation in
            let number = state.withLock { state -> Int? in
                guard state.isOnline else { return nil }
                state.streamCount += 1
                state.streams[state.streamCount] = continuation
                return state.streamCount
            }
            guard let number else { return continuation.finish(throwing: Self.noNetwork) }
            let task = Task {
                do {
                    let heads = try await refusing { try await server.heads(of: replica) }
                    for await head in heads { continuation.yield(head) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { [weak self] _ in
                task.cancel()
                self?.state.withLock { $0.streams[number] = nil }
            }
        }
    }

    /// Refuses as a server over HTTP does.
    private func refusing<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as ReplicationError {
            throw ConnectorError.refused(
                status: error.httpStatus,
                code: error.code,
                message: error.description
            )
        }
    }
}
