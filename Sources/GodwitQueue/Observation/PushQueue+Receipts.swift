internal import GodwitStore
internal import Synchronization

extension PushQueue {
    /// Where an operation stands, now and whenever that changes, until it has left the queue.
    ///
    /// ```swift
    /// for await status in queue.statuses(of: id) { label.text = "\(status)" }
    /// ```
    ///
    /// Each status is the newest; a slow reader misses those in between. The last one is
    /// ``OperationStatus/finished(_:)`` or ``OperationStatus/unknown``, also for an operation
    /// that left the queue in an earlier launch.
    public func statuses(of id: OperationID) -> OperationStatuses {
        OperationStatuses(queue: self, id: id)
    }

    /// Waits until an operation has left the queue, in this launch or an earlier one.
    ///
    /// A dead letter, or a conflict that the app has to decide, is waited for like the rest.
    ///
    /// - Throws: ``QueueError/unknownOperation(_:)`` when it was never enqueued, or left too long
    ///   ago to be remembered; `CancellationError`; what the store throws.
    public func result(of id: OperationID) async throws -> OperationResult {
        for await status in statuses(of: id) {
            if case .finished(let fate) = status { return fate }
        }
        try Task.checkCancellation()
        // What the store throws is no unknown operation.
        _ = try await store.read { try $0.place(of: id) }
        throw QueueError.unknownOperation(id)
    }

    /// What happens in the queue from now on.
    ///
    /// A listener that is thousands of events behind misses some, and is told how many.
    public func events() -> AsyncStream<QueueEvent> {
        let buffer = EventBuffer()
        state.withLock { $0.events.listen(buffer) }
        return AsyncStream {
            await buffer.next()
        } onCancel: {
            buffer.end()
        }
    }

    /// Says whenever something may have happened; several times in a row count once.
    func ticks() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let ticket = state.withLock { $0.events.tick(continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.events.forget(ticket) }
        }
        return stream
    }

    /// How many operations are where, now and whenever that changes; the newest counts only.
    public func summaries() -> AsyncStream<QueueSummary> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: QueueSummary.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let ticket = state.withLock { $0.events.summarize(continuation) }
        change { _, _ in }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.events.forget(ticket) }
        }
        return stream
    }
}
