internal import Synchronization

/// Subscribers that learn when a replica has a new head.
///
/// A slow one gets the newest head only.
final class Followers: Sendable {

    private struct State {
        var ticket = 0
        var continuations: [ReplicaName: [Int: AsyncStream<LineState>.Continuation]] = [:]
    }

    private let state = Mutex(State())

    func subscribe(to name: ReplicaName, current: LineState) -> AsyncStream<LineState> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LineState.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let ticket = state.withLock { state in
            state.ticket += 1
            state.continuations[name, default: [:]][state.ticket] = continuation
            return state.ticket
        }
        continuation.onTermination = { [weak self] _ in self?.remove(ticket, of: name) }
        continuation.yield(current)
        return stream
    }

    func notify(_ head: LineState, of name: ReplicaName) {
        let continuations = state.withLock { $0.continuations[name] ?? [:] }
        // In the order in which they came.
        for (_, continuation) in continuations.sorted(by: { $0.key < $1.key }) {
            continuation.yield(head)
        }
    }

    private func remove(_ ticket: Int, of name: ReplicaName) {
        state.withLock { state in
            state.continuations[name]?[ticket] = nil
            if state.continuations[name]?.isEmpty == true { state.continuations[name] = nil }
        }
    }
}
