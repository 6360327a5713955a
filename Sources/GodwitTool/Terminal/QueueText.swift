import Foundation
import GodwitQueue
import GodwitStore
import GodwitTree

extension StoreTransaction where Self: ~Copyable {
    /// An operation by its number, as `list` shows it, or by its identifier.
    borrowing func find(_ name: String) throws -> QueuedOperation {
        if let number = OperationNumber(name), let found = try operation(number) { return found }
        if let id = OperationID(name), let found = try operation(id) { return found }
        throw ToolError("there is no operation \(name)")
    }
}

extension OperationStatus {
    /// What a person wants to read.
    func text(_ operation: QueuedOperation) -> String {
        switch self {
        case .waiting:
            guard operation.attempts > 0, let reason = operation.reason else { return description }
            return "\(description) (\(operation.attempts) tried, last: \(reason))"
        case .conflict, .deadLetter: return "\(description): \(operation.reason ?? "")"
        case .running, .finished, .unknown: return description
        }
    }
}

extension QueueSnapshot {
    /// What a program wants to read.
    func described(_ operation: QueuedOperation) -> Value {
        let needs = edges.filter { $0.operation == operation.number }
            .map { Value.string(Key($0.need.description)) }
        return [
            "number": .string(Key(operation.number.description)),
            "id": .string(Key(operation.id.description)),
            "commit": .int(operation.commit.rawValue),
            "pipeline": .string(Key(operation.pipeline)),
            "kind": .string(Key(operation.kind)),
            "state": .string(Key(operation.state.rawValue)),
            "priority": .int(Int64(operation.priority)),
            "attempts": .int(Int64(operation.attempts)),
            "mayHaveRun": .bool(operation.mayHaveRun),
            "idempotencyKey": .string(Key(operation.idempotencyKey)),
            "userInfo": operation.userInfo,
            "body": operation.body,
            "needs": .list(needs),
            "why": .string(Key(status(of: operation.number).text(operation))),
        ]
    }
}

extension Attempt {
    var line: String {
        "attempt \(number), \(ended.formatted(.iso8601)): \(outcome), \(reason)"
    }

    var described: Value {
        var map: Value.Map = [
            "attempt": .int(Int64(number)), "ended": .string(Key(ended.formatted(.iso8601))),
            "outcome": .string(Key(outcome)), "reason": .string(Key(reason)),
        ]
        map["request"] = request.map { .string(Key($0)) }
        map["response"] = response.map { .string(Key($0)) }
        return .map(map)
    }
}
