internal import Synchronization

/// The change sets of a store, one per commit, complete and in order.
///
/// ```swift
/// for await changes in store.changes() {
///     print(changes.last, changes.updated)
/// }
/// ```
///
/// The sequence begins with the first commit after it was asked for, ends when the store is
/// closed, and never makes a writer wait: beyond 256 unread change sets the newest are merged.
public struct ChangeSets: AsyncSequence, Sendable {
    fileprivate let subscription: Subscription

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        public mutating func next() async -> ChangeSet? { await subscription.next() }
    }
}

/// Hands the change sets of one store to all who subscribed.
final class ChangeFeed: Sendable {
    private struct State {
        var subscriptions: [WeakSubscription] = []
        var isClosed = false
    }

    private struct WeakSubscription {
        weak var subscription: Subscription?
    }

    private let state = Mutex(State())

    func subscribe() -> ChangeSets {
        let subscription = Subscription()
        let isClosed = state.withLock { state in
            state.subscriptions.append(WeakSubscription(subscription: subscription))
            return state.isClosed
        }
        if isClosed { subscription.finish() }
        return ChangeSets(subscription: subscription)
    }

    func publish(_ changes: ChangeSet) {
        for subscription in living() { subscription.receive(changes) }
    }

    func finish() {
        state.withLock { $0.isClosed = true }
        for subscription in living() { subscription.finish() }
    }

    private func living() -> [Subscription] {
        state.withLock { state in
            state.subscriptions.removeAll { $0.subscription == nil }
            return state.subscriptions.compactMap(\.subscription)
        }
    }
}

/// One reader's change sets: those it has not taken yet, or the reader that waits for one.
private final class Subscription: Sendable {
    private struct State {
        var unread: [ChangeSet] = []
        var waiting: CheckedContinuation<ChangeSet?, Never>?
        var isFinished = false
    }

    static let unreadMax = 256

    private let state = Mutex(State())

    func receive(_ changes: ChangeSet) {
        let waiting = state.withLock { state -> CheckedContinuation<ChangeSet?, Never>? in
            if let waiting = state.waiting.take() { return waiting }
            if state.unread.count < Self.unreadMax {
                state.unread.append(changes)
            } else {
                state.unread[state.unread.count - 1].merge(changes)
            }
            return nil
        }
        waiting?.resume(returning: changes)
    }

    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }

    func next() async -> ChangeSet? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wait(with: $0) }
        } onCancel: {
            finish()
        }
    }

    private func wait(with continuation: CheckedContinuation<ChangeSet?, Never>) {
        let answer = state.withLock { state -> ChangeSet?? in
            if !state.unread.isEmpty { return state.unread.removeFirst() }
            if state.isFinished { return .some(nil) }
            precondition(state.waiting == nil, "A change sequence has one reader")
            state.waiting = continuation
            return nil
        }
        if let answer { continuation.resume(returning: answer) }
    }
}
