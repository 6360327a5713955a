internal import Synchronization

/// A write that was asked for: its place in the line is fixed, its result comes later.
///
/// ```swift
/// let ticket = try store.writeLater { try $0.set(draft, for: "draft", in: notes) }
/// // ... and somewhere else:
/// let commit = try await ticket.finish().commit
/// ```
///
/// A ticket may be discarded: if its write fails, ``Store/flush()`` throws the error.
public final class WriteTicket<Result: Sendable>: Sendable {
    typealias Body = @Sendable (borrowing WriteTransaction) throws -> Result

    private enum State {
        case waiting(Body, [CheckedContinuation<WriteResult<Result>, any Error>])
        case done(Swift.Result<WriteResult<Result>, any Error>)
    }

    let durability: Durability
    let isAwaited: Bool
    private let state: Mutex<State>
    private let provisional = Mutex<Result?>(nil)

    init(durability: Durability, isAwaited: Bool, _ body: @escaping Body) {
        self.durability = durability
        self.isAwaited = isAwaited
        state = Mutex(.waiting(body, []))
    }

    /// Waits until the write is committed.
    ///
    /// - Throws: What the body has thrown, or why there was no commit.
    public func finish() async throws -> WriteResult<Result> {
        try await withCheckedThrowingContinuation { continuation in
            let done = state.withLock { state -> Swift.Result<WriteResult<Result>, any Error>? in
                switch state {
                case .done(let result): return result
                case .waiting(let body, let waiting):
                    state = .waiting(body, waiting + [continuation])
                    return nil
                }
            }
            if let done { continuation.resume(with: done) }
        }
    }

    /// The result, once it is known.
    var result: Swift.Result<Result, any Error>? {
        state.withLock { state in
            guard case .done(let result) = state else { return nil }
            return result.map(\.value)
        }
    }

    /// - Returns: Whether a task gets the result.
    @discardableResult
    private func settle(_ result: Swift.Result<WriteResult<Result>, any Error>) -> Bool {
        let waiting = state.withLock {
            state -> [CheckedContinuation<WriteResult<Result>, any Error>] in
            guard case .waiting(_, let waiting) = state else { return [] }
            state = .done(result)
            return waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
        return isAwaited || !waiting.isEmpty
    }
}

/// What a write has returned, and the commit that it became.
public struct WriteResult<Value: Sendable>: Sendable {
    public let value: Value
    /// nil when nothing was changed.
    public let commit: CommitNumber?
}

/// A write as the writer sees it: without its type.
protocol WriteRequest: AnyObject, Sendable {
    var durability: Durability { get }
    /// Whether a task awaits the result from the start.
    var isAwaited: Bool { get }
    /// Runs the body; its result is kept until the fate of the commit is known.
    func run(in transaction: borrowing WriteTransaction) throws
    func succeed(commit: CommitNumber?)
    /// - Returns: Whether a task gets the error.
    func fail(_ error: any Error) -> Bool
}

extension WriteTicket: WriteRequest {
    func run(in transaction: borrowing WriteTransaction) throws {
        let body = state.withLock { state -> Body? in
            guard case .waiting(let body, _) = state else { return nil }
            return body
        }
        guard let body else { throw CancellationError() }
        let result = try body(transaction)
        provisional.withLock { $0 = result }
    }

    func succeed(commit: CommitNumber?) {
        guard let value = provisional.withLock({ $0.take() }) else { return }
        settle(.success(WriteResult(value: value, commit: commit)))
    }

    func fail(_ error: any Error) -> Bool {
        provisional.withLock { $0 = nil }
        return settle(.failure(error))
    }
}
