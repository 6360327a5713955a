/// Why bytes, a text or a delta were refused.
///
/// A function that throws a `TreeError` has changed nothing.
public enum TreeError: Error, Hashable, Sendable {
    /// The input is not well-formed; `offset` counts bytes from its beginning.
    case malformed(format: Format, offset: Int, reason: String)

    /// The input nests containers deeper than the limit.
    case tooDeep(limit: Int)

    /// To read the input would take more than its ``ReadBudget`` has: send less at once, or read it
    /// with a larger budget.
    case overBudget(ReadBudget.Resource, limit: Int)

    /// The delta was made for another value; `path` says where they part.
    case wrongBase(path: Path, reason: String)

    /// The delta contradicts itself; it applies to no value.
    case invalidDelta(reason: String)

    /// The value is not a valid JSON Patch; `operation` counts from 0, and is nil when the patch is
    /// not a list.
    case invalidPatch(operation: Int?, reason: String)

    /// The patch was made for another document; `operation`, from 0, is the first that fails.
    case patchFailed(operation: Int, reason: String)

    /// Another format has no way to say what is meant; `path` says where.
    case inexpressible(path: Path, reason: String)

    public enum Format: String, Sendable {
        case cbor = "CBOR"
        case json = "JSON"
        case edn = "EDN"
        case pointer = "JSON Pointer"
        case delta
        case compressed
    }
}

extension TreeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let format, let offset, let reason):
            "malformed \(format.rawValue) at byte \(offset): \(reason)"
        case .tooDeep(let limit):
            "nested deeper than \(limit) levels"
        case .overBudget(let resource, let limit):
            """
            this takes more than \(limit) \(resource.rawValue): send less at once, or read it with \
            a larger budget
            """
        case .wrongBase(let path, let reason):
            "the delta was made for another value: at \(path), \(reason)"
        case .invalidDelta(let reason):
            "the delta is invalid: \(reason)"
        case .invalidPatch(let operation?, let reason):
            "operation \(operation) of the patch is invalid: \(reason)"
        case .invalidPatch(nil, let reason):
            "the patch is invalid: \(reason)"
        case .patchFailed(let operation, let reason):
            "operation \(operation) of the patch fails: \(reason)"
        case .inexpressible(let path, let reason):
            "this cannot be expressed: at \(path), \(reason)"
        }
    }
}

/// The way from the root of a value to one of its parts.
public struct Path: Hashable, Sendable {
    public enum Step: Hashable, Sendable {
        case key(Key)
        case position(Int)
    }

    public var steps: [Step]

    public init(_ steps: [Step] = []) { self.steps = steps }

    public func appending(_ step: Step) -> Path { Path(steps + [step]) }
}

extension Path {
    /// Reads a JSON Pointer (RFC 6901), whose steps all count as keys; a leading `/` may be
    /// missing, and `/` alone is the root.
    public init(pointer: String) {
        var keys: [Key] = []
        for step in pointer.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
            keys.append(Key(Self.unescaped(step)))
        }
        if pointer.utf8.first == UInt8(ascii: "/") { keys.removeFirst() }
        self.init(keys == [""] ? [] : keys.map { .key($0) })
    }

    private static func unescaped(_ step: Substring.UnicodeScalarView) -> String {
        var text = String.UnicodeScalarView()
        var rest = step
        while let scalar = rest.popFirst() {
            switch (scalar, rest.first) {
            case ("~", "0"): rest.removeFirst()
            case ("~", "1"):
                rest.removeFirst()
                text.append("/")
                continue
            default: break
            }
            text.append(scalar)
        }
        return String(text)
    }
}

extension Path: CustomStringConvertible {
    /// The path as a JSON Pointer (RFC 6901); the root is shown as `/`.
    public var description: String {
        guard !steps.isEmpty else { return "/" }
        return steps.map { "/" + $0.pointer }.joined()
    }
}

extension Path.Step {
    fileprivate var pointer: String {
        switch self {
        case .position(let position):
            String(position)
        case .key(let key):
            key.pointerToken
        }
    }
}
