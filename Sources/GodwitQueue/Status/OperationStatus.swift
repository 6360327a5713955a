public import Foundation
public import GodwitStore

/// Where an operation stands.
public enum OperationStatus: Hashable, Sendable {
    /// It will run, but not yet.
    case waiting(Set<WaitReason>)
    /// It runs; with how much is done, from 0 to 1, if its executor tells.
    case running(progress: Double?)
    /// The app has to merge its object with the cloud's.
    case conflict
    /// A dead letter: it runs again only if the app retries it.
    case deadLetter
    case finished(OperationResult)
    /// It was never enqueued, or it finished too long ago to be remembered.
    case unknown

    public var isFinal: Bool {
        switch self {
        case .finished, .unknown: true
        case .waiting, .running, .conflict, .deadLetter: false
        }
    }
}

/// Why an operation does not run now; of several reasons, all.
public enum WaitReason: Hashable, Sendable {
    /// These operations have to be completed before.
    case dependencies([OperationNumber])
    /// Operations of earlier commits of its pipeline are unfinished.
    case commitOrder(CommitNumber)
    /// Until a moment, or until it is released.
    case held(context: String, until: Date?)
    case suspended(reason: String)
    case lacks(Requirements)
    /// Its host gets no more for now.
    case rate(host: String)
    /// As many run already as may.
    case concurrency(limit: Int)
    /// No pipeline of this queue has this name: another queue runs its operations, or none.
    case otherPipeline(String)
    /// Nothing: it is about to start.
    case none
}

extension WaitReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dependencies(let needs):
            "waits for \(needs.map(\.description).joined(separator: ", "))"
        case .commitOrder(let commit): "waits for the operations before commit \(commit)"
        case .held(HoldTable.retryContext, let until?):
            "will be tried again at \(until.formatted(.iso8601))"
        case .held(let context, let until):
            "is held\(context.isEmpty ? "" : " by \(context)")"
                + (until.map { " until \($0.formatted(.iso8601))" } ?? " until it is released")
        case .suspended(let reason): "its pipeline is suspended: \(reason)"
        case .lacks(let requirements): "waits for \(requirements)"
        case .rate(let host): "waits for \(host), which gets no more for now"
        case .concurrency(let limit): "waits for a place: \(limit) run already"
        case .otherPipeline(let name): "is for the pipeline '\(name)', which is not of this queue"
        case .none: "is ready, and starts when a process runs the queue"
        }
    }
}

/// How many operations are where.
public struct QueueSummary: Hashable, Sendable {
    /// All that are not finished, those that failed among them.
    public var unfinished = 0
    public var running = 0
    /// Those that will run.
    public var waiting = 0
    /// Those that the app has to merge.
    public var conflicts = 0
    /// Those that failed for good: they run again only if the app retries them.
    public var deadLetters = 0
    /// How much of what runs is done, from 0 to 1; nil when no executor tells.
    public var progress: Double?
    public var isRunning = false

    public init() {}
}

extension OperationStatus {
    /// What the database says of an operation that the queue does not have in memory.
    init(_ operation: QueuedOperation, isOurs: Bool) {
        self =
            switch operation.state {
            case .running: .running(progress: nil)
            case .conflict: .conflict
            case .waiting: .waiting([isOurs ? .none : .otherPipeline(operation.pipeline)])
            case .deadLetter, .unreadable: .deadLetter
            }
    }
}

extension Deadline {
    /// The date on which it is over, as far as it is known.
    func date(at now: Moment) -> Date? {
        switch self {
        case .elapsed(let deadline):
            Date(
                timeIntervalSince1970: Double(now.calendar) / 1_000
                    + (deadline - now.elapsed) / .seconds(1)
            )
        case .calendar(let date): Date(timeIntervalSince1970: Double(date) / 1_000)
        case .never: nil
        }
    }
}
