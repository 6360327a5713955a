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
    public enum Fate: Sendable {
        case arrives, loseRequest, loseAnswer, damageAnswer
    }

    private struct State {
        var isOnline = true
        var fate: @Sendable (Int) -> Fate = { _ in .arrives }
        var count = 0
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

    /// Whether anything gets through at all.
    public var isOnline: Bool {
        get { state.withLock { $0.isOnline } }
        set { state.withLock { $0.isOnline = newValue } }
    }

    /// How many exchanges were begun.
    public var exchangeCount: Int { state.withLock { $0.count } }

    /// Decides the fate of each exchange, by its number from 0.
    public func decide(_ fate: @escaping @Sendable (Int) -> Fate) {
        state.withLock { $0.fate = fate }
    }

    public func create(_ replica: ReplicaName) async throws { try await server.create(replica) }

    public func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        let (fate, isOnline) = state.withLock { state in
            defer { state.count += 1 }
            return (state.fate(state.count), state.isOnline)
        }
        guard isOnline, fate != .loseRequest else {
            throw ConnectorError.unreachable(reason: "the simulated network lost the request")
        }
        var answer = try await refusing {
            try await server.answer(body, from: client, of: replica)
        }
        switch fate {
        case .loseAnswer:
            throw ConnectorError.interrupted(reason: "the simulated network lost the answer")
        case .damageAnswer:
            answer[answer.count / 2] ^= 0x40
        case .arrives, .loseRequest: break
        }
        return answer
    }

    public func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    let heads = try await refusing { try await server.heads(of: replica) }
                    for await head in heads { continuation.yield(head) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
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
