internal import GodwitStore
internal import Synchronization

/// Where one operation stands, now and whenever that changes, until it has left the queue.
public struct OperationStatuses: AsyncSequence, Sendable {
    let queue: PushQueue
    let id: OperationID

    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue, id: id) }

    public struct Iterator: AsyncIteratorProtocol {
        private let queue: PushQueue
        private var id: OperationID
        private var updates: AsyncStream<OperationStatus>.Iterator?
        private var isOver = false

        init(queue: PushQueue, id: OperationID) {
            self.queue = queue
            self.id = id
        }

        public mutating func next() async -> OperationStatus? {
            guard !isOver else { return nil }
            // Without an answer of the store nothing is known: the sequence ends.
            guard let status = await update() else { return nil }
            // An operation that was merged has the status of the one that does its work.
            if case .finished(.merged(let successor)) = status {
                id = successor
                updates = nil
                return await next()
            }
            isOver = status.isFinal
            return status
        }

        private mutating func update() async -> OperationStatus? {
            if let status = await updates?.next(isolation: nil) { return status }
            // The watch begins, or has ended without a word.
            updates = await queue.watch(id)?.makeAsyncIterator()
            // Asked for after the watch began: what happens from here on is an update.
            return try? await queue.status(of: id)
        }
    }
}

extension PushQueue {
    /// The statuses of an unfinished operation from now on; nil when it has left the queue.
    fileprivate func watch(_ id: OperationID) async -> AsyncStream<OperationStatus>? {
        guard case .unfinished(let number)? = try? await store.read({ try $0.place(of: id) })
        else { return nil }
        let (stream, continuation) = AsyncStream.makeStream(
            of: OperationStatus.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let ticket = state.withLock { $0.events.watch(number, continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.events.forget(ticket) }
        }
        return stream
    }
}
