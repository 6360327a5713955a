/// A JSON Patch (RFC 6902): operations on a document, one after the other.
///
/// ```swift
/// let patch = try JSONPatch([["op": "add", "path": "/items/-", "value": "Wine"]])
/// try patch.applied(to: ["items": ["Bread"]])  // {:items ["Bread" "Wine"]}
/// ```
///
/// A patch is read from the same ``Value`` that JSON text is read to, and is written as one. It
/// knows nothing of texts and counters: a patch made from a ``Delta`` replaces them as a whole.
public struct JSONPatch: Hashable, Sendable {
    /// One step; its pointers name places in the document as the steps before have left it.
    public enum Operation: Hashable, Sendable {
        /// Puts a value under a key, whether there is one or not, or before an item of a list.
        case add(JSONPointer, Value)
        case remove(JSONPointer)
        /// Puts another value in the place of one that is there.
        case replace(JSONPointer, Value)
        case move(from: JSONPointer, to: JSONPointer)
        case copy(from: JSONPointer, to: JSONPointer)
        /// Fails where there is another value. Numbers are equal when they are the same number.
        case test(JSONPointer, Value)
    }

    public var operations: [Operation]

    public init(operations: [Operation] = []) { self.operations = operations }
}

// MARK: - As data

extension JSONPatch {
    /// Reads a patch: a list of maps with `op`, `path`, and `value` or `from`; other members of them
    /// mean nothing.
    ///
    /// - Throws: ``TreeError/invalidPatch(operation:reason:)`` or
    ///   ``TreeError/overBudget(_:limit:)``.
    public init(_ value: Value, budget: ReadBudget = .standard) throws(TreeError) {
        guard case .list(let items) = value else {
            throw .invalidPatch(operation: nil, reason: "a patch is a list of operations")
        }
        operations = []
        var meter = ReadMeter(budget)
        try meter.take(items.count, each: ReadCost.operation)
        for (index, item) in items.enumerated() {
            for case .string(let pointer) in [item["path"], item["from"]] {
                let slashes = pointer.text.utf8.count { $0 == UInt8(ascii: "/") }
                try meter.take(slashes, each: ReadCost.token)
                try meter.take(memory: ReadCost.bytes(pointer.sizeInBytes))
            }
            operations.append(try OperationReader(item, index: index).operation())
        }
    }

    /// The patch as data; ``init(_:budget:)`` reads it back.
    public var encoded: Value { .list(operations.map(\.encoded)) }
}

extension JSONPatch.Operation {
    fileprivate var encoded: Value {
        switch self {
        case .add(let path, let value): ["op": "add", "path": Value(path), "value": value]
        case .remove(let path): ["op": "remove", "path": Value(path)]
        case .replace(let path, let value):
            ["op": "replace", "path": Value(path), "value": value]
        case .move(let from, let to): ["op": "move", "from": Value(from), "path": Value(to)]
        case .copy(let from, let to): ["op": "copy", "from": Value(from), "path": Value(to)]
        case .test(let path, let value): ["op": "test", "path": Value(path), "value": value]
        }
    }
}

extension Value {
    fileprivate init(_ pointer: JSONPointer) { self = .string(Key(pointer.description)) }
}

/// Reads one operation of a patch.
private struct OperationReader {
    private let members: Value.Map
    private let index: Int

    init(_ value: Value, index: Int) throws(TreeError) {
        guard case .map(let members) = value else {
            throw .invalidPatch(operation: index, reason: "an operation is a map")
        }
        (self.members, self.index) = (members, index)
    }

    func operation() throws(TreeError) -> JSONPatch.Operation {
        guard case .string(let name) = members["op"] else { throw fault("it has no \"op\"") }
        switch name {
        case "add": return .add(try pointer("path"), try value)
        case "remove": return .remove(try pointer("path"))
        case "replace": return .replace(try pointer("path"), try value)
        case "move":
            let (from, path) = (try pointer("from"), try pointer("path"))
            guard !from.isAbove(path) else { throw fault("nothing moves into its own part") }
            return .move(from: from, to: path)
        case "copy": return .copy(from: try pointer("from"), to: try pointer("path"))
        case "test": return .test(try pointer("path"), try value)
        default: throw fault("the op \"\(name)\" is unknown")
        }
    }

    private var value: Value {
        get throws(TreeError) {
            guard let value = members["value"] else { throw fault("it has no \"value\"") }
            return value
        }
    }

    private func pointer(_ name: Key) throws(TreeError) -> JSONPointer {
        guard case .string(let text) = members[name] else { throw fault("it has no \"\(name)\"") }
        do throws(TreeError) {
            return try JSONPointer(text)
        } catch {
            guard case .malformed(_, _, let reason) = error else { throw error }
            throw fault("\"\(name)\" is no pointer: \(reason)")
        }
    }

    private func fault(_ reason: String) -> TreeError {
        .invalidPatch(operation: index, reason: reason)
    }
}
