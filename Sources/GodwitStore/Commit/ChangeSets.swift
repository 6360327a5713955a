internal import GodwitTree
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
/// A sequence of a collection or of a key has only the commits that touch it, and of each only
/// what does.
public struct ChangeSets: AsyncSequence, Sendable {
    let subscription: Subscription

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        public mutating func next() async -> ChangeSet? { await subscription.next() }
    }
}

/// What a subscriber wants to hear of.
enum Interest: Hashable, Sendable {
    case everything
    case collection(Key)
    case object(ObjectKey)
}

/// Hands each change set to those whom it concerns, in the order in which they subscribed.
///
/// Subscribers are found by what changed, so that those of other keys cost nothing.
final class ChangeFeed: Sendable {
    private struct WeakSubscription {
        weak var subscription: Subscription?
    }

    private struct State {
        var subscriptions: [Interest: [Int: WeakSubscription]] = [:]
        var lastID = 0
        var isClosed = false

        var all: [Subscription] { inOrder(Array(subscriptions.values)) }

        func inOrder(_ groups: [[Int: WeakSubscription]]) -> [Subscription] {
            groups.flatMap { $0 }.sorted { $0.key < $1.key }.compactMap(\.value.subscription)
        }
    }

    private let state = Mutex(State())

    func subscribe(to interest: Interest = .everything) -> ChangeSets {
        let (subscription, isClosed) = state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            let subscription = Subscription(interest) { [weak self] in
                self?.forget(id, interest)
            }
            state.subscriptions[interest, default: [:]][id] =
                WeakSubscription(subscription: subscription)
            return (subscription, state.isClosed)
        }
        if isClosed { subscription.finish() }
        return ChangeSets(subscription: subscription)
    }

    func publish(_ changes: ChangeSet) {
        for subscription in interested(in: changes) {
            subscription.receive(changes.restricted(to: subscription.interest))
        }
    }

    func finish() {
        let all = state.withLock { state in
            state.isClosed = true
            return state.all
        }
        for subscription in all { subscription.finish() }
    }

    private func interested(in changes: ChangeSet) -> [Subscription] {
        state.withLock { state in
            guard !state.subscriptions.isEmpty else { return [] }
            if changes.isReset { return state.all }
            let keys = changes.keys
            let interests =
                [.everything] + Set(keys.map(\.collection)).map(Interest.collection)
                + keys.map(Interest.object)
            return state.inOrder(interests.compactMap { state.subscriptions[$0] })
        }
    }

    /// Forgets a subscription that ends.
    ///
    /// It is found by its number: to look at a weak reference under the lock may end another
    /// subscription there.
    private func forget(_ id: Int, _ interest: Interest) {
        state.withLock { state in
            state.subscriptions[interest]?[id] = nil
            if state.subscriptions[interest]?.isEmpty == true {
                state.subscriptions[interest] = nil
            }
        }
    }
}

/// One reader's change sets: those it has not taken yet, or the reader that waits for one.
final class Subscription: Sendable {
    private struct State {
        var unread: [ChangeSet] = []
        var waiting: CheckedContinuation<ChangeSet?, Never>?
        var isFinished = false
    }

    static let unreadMax = 256

    let interest: Interest
    private let state = Mutex(State())
    private let onEnd: @Sendable () -> Void

    init(_ interest: Interest, onEnd: @escaping @Sendable () -> Void) {
        self.interest = interest
        self.onEnd = onEnd
    }

    deinit { onEnd() }

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

    /// Takes all unread change sets up to a commit, without waiting.
    func takeUnread(through commit: CommitNumber) -> [ChangeSet] {
        state.withLock { state in
            let taken = state.unread.prefix { $0.last <= commit }
            state.unread.removeFirst(taken.count)
            return Array(taken)
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

extension ChangeSet {
    /// What of this change set concerns an interest.
    func restricted(to interest: Interest) -> ChangeSet {
        switch interest {
        case .everything: self
        case .collection(let collection): filtered { $0.collection == collection }
        case .object(let key): filtered { $0 == key }
        }
    }
}
