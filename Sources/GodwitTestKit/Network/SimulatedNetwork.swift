public import GodwitConnectors
public import GodwitReplication
public import GodwitStore
internal import GodwitTree
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
        var replicas: [ReplicaName: HostedReplica] = [:]
        var isOnline = true
        var fate: @Sendable (Int) -> Fate = { _ in .arrives }
        var count = 0
    }

    private let store: Store
    private let state = Mutex(State())

    /// - Parameter store: What the server keeps its replicas in.
    public init(store: Store) { self.store = store }

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

    public func create(_ replica: ReplicaName) async throws {
        let hosted = try await HostedReplica.create(replica, in: store)
        state.withLock { if $0.replicas[replica] == nil { $0.replicas[replica] = hosted } }
    }

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
        let request = try ExchangeRequest(
            encoded: Value(canonicalBytes: body, depthMax: ExchangeRequest.depthMax)
        )
        var answer = try await hosted(replica).exchange(request, from: client)
            .encoded.canonicalBytes
        switch fate {
        case .loseAnswer:
            throw ConnectorError.unreachable(reason: "the simulated network lost the answer")
        case .damageAnswer:
            answer[answer.count / 2] ^= 0x40
        case .arrives, .loseRequest: break
        }
        return answer
    }

    public func heads(of replica: ReplicaName) -> AsyncThrowingStream<StateID, any Error> {
        let server = Result { try hosted(replica) }
        return AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    for await head in try server.get().heads() { continuation.yield(head) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// The server's side of a replica.
    public func hosted(_ replica: ReplicaName) throws -> HostedReplica {
        guard let hosted = state.withLock({ $0.replicas[replica] }) else {
            throw ConnectorError.refused(
                status: 404,
                code: "unknownReplica",
                message: "there is no such replica"
            )
        }
        return hosted
    }
}
