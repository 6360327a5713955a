internal import GodwitReplication
internal import Synchronization

/// A replica that is open, and the gate for its exchanges.
final class ReplicaLink: Sendable {
    let replica: Replica
    let pushes: PushMarker
    /// A push and a pull would otherwise overtake each other, and one of the two answers would be for nothing.
    let gate = Turnstile()
    let status = ObservedStatus()
    let pieceSize = Mutex(PieceSize())

    private struct State {
        var isClosed = false
        /// Whether the app gives up what the exchange under way may bring.
        var isGivenUp = false
        var endExchange: (@Sendable () -> Void)?
        /// Ends what runs until the replica is closed.
        var end: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    init(replica: Replica, pushes: PushMarker) { (self.replica, self.pushes) = (replica, pushes) }

    var isClosed: Bool { state.withLock(\.isClosed) }

    var isGivenUp: Bool { state.withLock(\.isGivenUp) }

    /// Ends the exchange under way: it may be waiting for a token, or for a slow connection.
    func giveUp() {
        let end = state.withLock { state in
            state.isGivenUp = true
            return state.endExchange
        }
        end?()
    }

    /// The replica stays after all.
    func goOn() { state.withLock { $0.isGivenUp = false } }

    /// Does something that ends early when the app gives it up; one exchange goes on at a time.
    func exchanging<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        let isGivenUp = state.withLock { state in
            state.endExchange = { end.finish() }
            return state.isGivenUp
        }
        if isGivenUp { end.finish() }
        defer { state.withLock { $0.endExchange = nil } }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in ends {}
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let result = first else {
                throw CancellationError()
            }
            return result
        }
    }

    /// Ends what goes on, because the replica is closed.
    func end() {
        let end = state.withLock { state in
            state.isClosed = true
            return state.end.take()
        }
        status.finish()
        end?()
    }

    /// Does something until the replica is closed.
    func untilClosed(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        let isClosed = state.withLock { state in
            state.end = { end.finish() }
            return state.isClosed
        }
        if isClosed { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { for await _ in ends {} }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// The replicas that are open.
struct ReplicaLinks {
    private(set) var all: [ReplicaLink] = []
    /// Those that the server does not have: nothing follows them.
    private var leftOut: Set<ObjectIdentifier> = []
    private var continuation: AsyncStream<ReplicaLink>.Continuation?

    subscript(name: ReplicaName) -> ReplicaLink? { all.first { $0.replica.name == name } }

    mutating func add(_ link: ReplicaLink) {
        all.append(link)
        continuation?.yield(link)
    }

    mutating func remove(_ link: ReplicaLink) {
        all.removeAll { $0 === link }
        leftOut.remove(ObjectIdentifier(link))
    }

    /// Those that are open now, and each that will be.
    mutating func follow() -> AsyncStream<ReplicaLink> {
        let (stream, continuation) = AsyncStream.makeStream(of: ReplicaLink.self)
        for link in all { continuation.yield(link) }
        leftOut = []
        self.continuation = continuation
        return stream
    }

    func endFollowing() { continuation?.finish() }

    /// Stops following a replica that the server does not have.
    ///
    /// - Returns: Whether others are followed.
    mutating func leaveOut(_ link: ReplicaLink) -> Bool {
        leftOut.insert(ObjectIdentifier(link))
        return all.contains { !leftOut.contains(ObjectIdentifier($0)) }
    }

    /// Follows a replica again: the server has it after all.
    mutating func takeBack(_ link: ReplicaLink) {
        if leftOut.remove(ObjectIdentifier(link)) != nil { continuation?.yield(link) }
    }
}
