internal import Synchronization

/// Subscribers that learn when a replica has a new head.
///
/// A slow one gets the newest head only.
final class Followers: Sendable {
    private struct Line {
        /// What was told last; nil before the first one is read.
        var head: LineState?
        var continuations: [Int: AsyncStream<LineState>.Continuation] = [:]
    }

    private struct State {
        var ticket = 0
        var lines: [ReplicaName: Line] = [:]
        var whenChanged: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// The replicas that have subscribers.
    var names: Set<ReplicaName> { state.withLock { Set($0.lines.keys) } }

    /// Whether a replica has subscribers.
    func isFollowed(_ name: ReplicaName) -> Bool { state.withLock { $0.lines[name] != nil } }

    /// Has `body` called when a replica gets its first subscriber, or has lost its last one.
    func whenNamesChange(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenChanged = body }
    }

    /// A stream of the heads that are told from now on, and its ticket.
    func subscribe(to name: ReplicaName) -> (stream: AsyncStream<LineState>, ticket: Int) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LineState.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let (ticket, isNew) = state.withLock { state in
            state.ticket += 1
            let isNew = state.lines[name] == nil
            state.lines[name, default: Line()].continuations[state.ticket] = continuation
            return (state.ticket, isNew)
        }
        continuation.onTermination = { [weak self] _ in self?.remove(ticket, of: name) }
        if isNew { state.withLock(\.whenChanged)?() }
        return (stream, ticket)
    }

    /// Tells a new subscriber a replica's head, also if the others know it.
    func begin(_ ticket: Int, of name: ReplicaName, at head: LineState) {
        state.withLock { $0.lines[name]?.continuations[ticket] }?.yield(head)
        // Another server may have made it, and the others do not know it.
        notify(head, of: name)
    }

    /// Tells the subscribers of a replica its head, unless it was told last.
    func notify(_ head: LineState, of name: ReplicaName) {
        let continuations = state.withLock { state -> [Int: AsyncStream<LineState>.Continuation] in
            guard let line = state.lines[name], line.head != head else { return [:] }
            state.lines[name]?.head = head
            return line.continuations
        }
        // In the order in which they came.
        for (_, continuation) in continuations.sorted(by: { $0.key < $1.key }) {
            continuation.yield(head)
        }
    }

    private func remove(_ ticket: Int, of name: ReplicaName) {
        let whenChanged = state.withLock { state -> (@Sendable () -> Void)? in
            state.lines[name]?.continuations[ticket] = nil
            guard state.lines[name]?.continuations.isEmpty == true else { return nil }
            state.lines[name] = nil
            return state.whenChanged
        }
        whenChanged?()
    }
}
