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
    case wrongBase(path: ValuePath, reason: String)

    /// The delta contradicts itself; it applies to no value.
    case invalidDelta(reason: String)

    /// The value is not a valid JSON Patch; `operation` counts from 0, and is nil when the patch is
    /// not a list.
    case invalidPatch(operation: Int?, reason: String)

    /// The patch was made for another document; `operation`, from 0, is the first that fails.
    case patchFailed(operation: Int, reason: String)

    /// Another format has no way to say what is meant; `path` says where.
    case inexpressible(path: ValuePath, reason: String)

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
