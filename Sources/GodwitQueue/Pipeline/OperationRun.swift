internal import Synchronization

/// One attempt at an operation, as its executor sees it.
public final class OperationRun: Sendable {
    public let operation: QueuedOperation

    private struct Notes {
        var request: String?
        var response: String?
    }

    private let notes = Mutex(Notes())
    private let report: @Sendable (Double) -> Void
    /// When the attempt began, by the queue's stopwatch.
    let began: Duration

    init(
        _ operation: QueuedOperation,
        began: Duration,
        report: @escaping @Sendable (Double) -> Void
    ) {
        self.operation = operation
        self.began = began
        self.report = report
    }

    /// Tells how much is done, from 0 to 1.
    public func progress(_ fraction: Double) { report(min(max(fraction, 0), 1)) }

    /// Puts what was sent, and what came back, in the attempt's record.
    ///
    /// Leave out what is secret: the record is stored as it is, and may be exported.
    public func record(request: String? = nil, response: String? = nil) {
        notes.withLock { notes in
            notes.request = request ?? notes.request
            notes.response = response ?? notes.response
        }
    }

    var recorded: (request: String?, response: String?) {
        notes.withLock { ($0.request, $0.response) }
    }
}
