/// Why an exchange, or a stored history, was refused.
///
/// Nothing has changed then.
public enum ReplicationError: Error, Hashable, Sendable {
    /// The server has no replica of this name.
    case unknownReplica(String)
    /// A replica cannot be named like this.
    case invalidName(String)
    /// A message is not of the form that the protocol has.
    case malformedMessage(reason: String)
    /// A message is not what its sender wrote.
    case damagedMessage
    /// A message is of a version that this program does not speak.
    case unknownVersion(Int64)
    /// The delta does not apply to the state that it names as its base.
    case invalidDelta(reason: String)
    /// The delta leads to another value than the sender says.
    case wrongContent
    /// What is stored does not fit together.
    case damagedHistory(reason: String)
}

extension ReplicationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownReplica(let name): "there is no replica \"\(name)\""
        case .invalidName(let name):
            "\"\(name)\" is no name for a replica: 1 to 128 letters, digits, '.', '_' or '-'"
        case .malformedMessage(let reason): "malformed message: \(reason)"
        case .damagedMessage: "the message was damaged on the way"
        case .unknownVersion(let version): "messages of version \(version) are not understood"
        case .invalidDelta(let reason): "the delta cannot be applied: \(reason)"
        case .wrongContent: "the delta leads to another value than was announced"
        case .damagedHistory(let reason): "the stored history is damaged: \(reason)"
        }
    }

    /// The case as one word, for messages between programs.
    public var code: String {
        switch self {
        case .unknownReplica: "unknownReplica"
        case .invalidName: "invalidName"
        case .malformedMessage: "malformedMessage"
        case .damagedMessage: "damagedMessage"
        case .unknownVersion: "unknownVersion"
        case .invalidDelta: "invalidDelta"
        case .wrongContent: "wrongContent"
        case .damagedHistory: "damagedHistory"
        }
    }
}
