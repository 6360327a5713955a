internal import GodwitStore
internal import Synchronization

extension PushQueue {
    /// Why an operation does not run, in sentences: its own reasons, then those of what it waits
    /// for, down to the end.
    ///
    /// ```swift
    /// print(try await queue.why(id).joined(separator: "\n"))
    /// // 14.1 waits for 12.1
    /// // 12.1 is held by godwit.retry until 2026-11-21T16:05:00Z
    /// ```
    ///
    /// At most sixteen operations are named. One that runs, or has left, says so in one sentence.
    public func why(_ id: OperationID) async throws -> [String] {
        let status = try await status(of: id)
        guard let number = try await store.read({ try $0.operation(id)?.number }) else {
            return ["\(id) \(status)"]
        }
        let now = now
        return state.withLock { $0.why(number, at: now) }
    }
}

extension QueueState {
    private static let whyMax = 16

    fileprivate mutating func why(_ number: OperationNumber, at now: Moment) -> [String] {
        var (sentences, left, seen) = ([String](), [number], Set([number]))
        while !left.isEmpty, sentences.count < Self.whyMax {
            let next = left.removeFirst()
            let status = status(of: next, at: now)
            sentences.append("\(next) \(status)")
            guard case .waiting(let reasons) = status else { continue }
            var causes: [OperationNumber] = []
            for reason in reasons {
                switch reason {
                case .dependencies(let needs): causes += needs
                case .commitOrder:
                    guard let lane = machine.schedule.position(of: next)?.lane else { continue }
                    causes += machine.schedule.openOperations(of: lane).prefix(1)
                default: break
                }
            }
            left += causes.sorted().filter { seen.insert($0).inserted }
        }
        return sentences
    }
}

extension OperationStatus: CustomStringConvertible {
    public var description: String {
        switch self {
        case .waiting(let reasons): reasons.map(\.description).sorted().joined(separator: "; ")
        case .running(let progress?): "is running, \(Int(progress * 100)) % done"
        case .running(nil): "is running"
        case .conflict: "is in conflict"
        case .deadLetter: "is a dead letter"
        case .finished(.completed): "is completed"
        case .finished(.skipped(let reason)): "was skipped" + (reason.map { ": \($0)" } ?? "")
        case .finished(.merged(let doer)): "was merged into \(doer)"
        case .unknown: "is unknown"
        }
    }
}
