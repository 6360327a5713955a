/// Something that happened in a queue, after it was committed.
public enum QueueEvent: Hashable, Sendable {
    case enqueued(OperationNumber, OperationID)
    case started(OperationNumber)
    /// An attempt is over, and another one will follow.
    case requeued(OperationNumber)
    case stopped(OperationNumber, QueuedOperation.State)
    case resumed(OperationNumber)
    case modified(OperationNumber)
    case finished(OperationNumber, OperationID, OperationResult)
    /// nil for all pipelines.
    case suspended(pipeline: String?, reason: String)
    case unsuspended(pipeline: String?, reason: String)
    /// The listener has not been told of so many: it was too slow, or the queue was read anew, after
    /// which there may be more.
    case missed(Int)
}

/// Who wants to hear what happens.
struct EventFeed {
    private var listeners: [EventBuffer.Reference] = []
    private var watchers: [OperationNumber: [Int: AsyncStream<OperationStatus>.Continuation]] = [:]
    private var summaries: [Int: AsyncStream<QueueSummary>.Continuation] = [:]
    private var lastSummary: QueueSummary?
    private var tickers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var next = 0

    var wantsSummary: Bool { !summaries.isEmpty }

    func isWatched(_ number: OperationNumber) -> Bool {
        !watchers.isEmpty && watchers[number] != nil
    }

    mutating func listen(_ buffer: EventBuffer) { listeners.append(.init(buffer: buffer)) }

    mutating func watch(
        _ number: OperationNumber,
        _ continuation: AsyncStream<OperationStatus>.Continuation
    ) -> Int {
        next += 1
        watchers[number, default: [:]][next] = continuation
        return next
    }

    mutating func summarize(_ continuation: AsyncStream<QueueSummary>.Continuation) -> Int {
        next += 1
        summaries[next] = continuation
        lastSummary = nil
        return next
    }

    mutating func tick(_ continuation: AsyncStream<Void>.Continuation) -> Int {
        next += 1
        tickers[next] = continuation
        return next
    }

    /// Something has happened.
    func tickAll() { for continuation in tickers.values { continuation.yield() } }

    mutating func forget(_ ticket: Int) {
        tickers[ticket] = nil
        summaries[ticket] = nil
        for (number, continuations) in watchers where continuations[ticket] != nil {
            watchers[number]?[ticket] = nil
            if watchers[number]?.isEmpty ?? true { watchers[number] = nil }
        }
    }
}

extension EventFeed {
    /// - Returns: What ends the streams of those who watched an operation that is gone; it calls
    ///   back, and must not be called under the lock that guards this value.
    mutating func announce(_ change: QueueChange) -> [@Sendable () -> Void] {
        if !listeners.isEmpty, let event = QueueEvent(change) { yield(event) }
        guard case .finished(let number, _, let fate) = change,
            let gone = watchers.removeValue(forKey: number)
        else { return [] }
        return gone.values.map { continuation in
            {
                continuation.yield(.finished(fate))
                continuation.finish()
            }
        }
    }

    /// Ends the streams of those who watch what is not there any more: they have to ask.
    ///
    /// - Returns: What ends them; see ``announce(_:)``.
    mutating func endGone(_ isThere: (OperationNumber) -> Bool) -> [@Sendable () -> Void] {
        let gone = watchers.keys.filter { !isThere($0) }
        return gone.flatMap { number -> [@Sendable () -> Void] in
            (watchers.removeValue(forKey: number) ?? [:]).values.map { stream in
                { @Sendable in stream.finish() }
            }
        }
    }

    mutating func yield(_ event: QueueEvent) {
        guard !listeners.isEmpty else { return }
        listeners.removeAll { $0.buffer == nil }
        for listener in listeners { listener.buffer?.put(event) }
    }

    /// Something may have happened that no listener is told of.
    func miss() { for listener in listeners { listener.buffer?.miss() } }

    /// There is no queue any more.
    func end() { for listener in listeners { listener.buffer?.end() } }

    func tell(_ number: OperationNumber, _ status: OperationStatus) {
        for continuation in (watchers[number] ?? [:]).values { continuation.yield(status) }
    }

    mutating func tell(_ summary: QueueSummary) {
        guard summary != lastSummary else { return }
        lastSummary = summary
        for continuation in summaries.values { continuation.yield(summary) }
    }
}

extension QueueEvent {
    fileprivate init?(_ change: QueueChange) {
        switch change {
        case .enqueued(let new): self = .enqueued(new.outline.number, new.id)
        case .finished(let number, let id, let fate): self = .finished(number, id, fate)
        case .requeued(let number): self = .requeued(number)
        case .stopped(let number, let state): self = .stopped(number, state)
        case .resumed(let number): self = .resumed(number)
        case .reprioritized(let number, _), .needsChanged(let number, _):
            self = .modified(number)
        case .started, .held, .released, .reordered: return nil
        case .suspended(let pipeline, let reason):
            self = .suspended(pipeline: pipeline, reason: reason)
        case .unsuspended(let pipeline, let reason):
            self = .unsuspended(pipeline: pipeline, reason: reason)
        }
    }
}
