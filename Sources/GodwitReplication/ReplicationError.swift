public import GodwitStore
internal import GodwitTree

/// Why an exchange, or a stored history, was refused.
///
/// Nothing has changed then.
public enum ReplicationError: Error, Hashable, Sendable {
    /// The server has no replica of this name.
    case unknownReplica(String)
    /// A replica cannot be named like this.
    case invalidName(String)
    /// A collection cannot be kept the same on several devices.
    case unsuitableCollection(String, reason: String)
    /// There are more rules for merges of a collection, or longer ones, than other programs read.
    case tooManyRules(String)
    /// A message is not of the form that the protocol has.
    case malformedMessage(reason: String)
    /// A message is not what its sender wrote.
    case damagedMessage
    /// A message is of an older version than this program speaks: upgrade the side that sent it.
    case senderIsOlder(version: Int64, known: Int64)
    /// A message is of a newer version than this program speaks: upgrade this side.
    case senderIsNewer(version: Int64, known: Int64)
    /// The message would change a replica that its sender may only read: ask the server's
    /// administrator for the right to write.
    case readOnly(String)
    /// The delta does not apply to the state that it names as its base.
    case invalidDelta(reason: String)
    /// A change takes more memory than the other side may spend to read it: send it in parts.
    case overBudget(reason: String)
    /// The delta leads to another value than the sender says.
    case wrongContent
    /// Other servers of the same storage were faster, again and again: try again later.
    case contended
    /// What is stored does not fit together.
    case damagedHistory(reason: String)
    /// A replica has changes that its server does not have: send them first, or give them up.
    case unsentChanges(String, count: Int)
    /// The record of an object's conflicts has none of this id any more.
    case unknownConflict(ObjectKey)
    /// An object has changed since the merge that left a conflict in it.
    case changedSince(ObjectKey)
}

extension ReplicationError {
    /// Why a delta of another side was refused.
    init(refusing error: TreeError) {
        switch error {
        case .overBudget: self = .overBudget(reason: error.description)
        default: self = .invalidDelta(reason: error.description)
        }
    }
}

extension ReplicationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownReplica(let name): "there is no replica \"\(name)\""
        case .invalidName(let name):
            "\"\(name)\" is no name for a replica: 1 to 128 letters, digits, '.', '_' or '-'"
        case .unsuitableCollection(let name, let reason):
            "the collection \"\(name)\" cannot be in a replica: \(reason)"
        case .tooManyRules(let name):
            """
            the rules for merges of "\(name)" are more than 256, or their paths have more than 32 steps, or \
            1,024 together, or one names more than 8 fields, or the version is above 2^48: other programs \
            would not read them
            """
        case .malformedMessage(let reason): "malformed message: \(reason)"
        case .damagedMessage: "the message was damaged on the way"
        case .senderIsOlder(let version, let known):
            """
            the message is of version \(version), and version \(known) is spoken here: upgrade the \
            side that sent it
            """
        case .senderIsNewer(let version, let known):
            """
            the message is of version \(version), and version \(known) is spoken here: upgrade \
            this side
            """
        case .readOnly(let name):
            "the replica \"\(name)\" may be read, but not written to: ask for the right to write"
        case .invalidDelta(let reason): "the delta cannot be applied: \(reason)"
        case .overBudget(let reason): "the delta is too large: \(reason)"
        case .wrongContent: "the delta leads to another value than was announced"
        case .contended: "other servers were faster, again and again: try again later"
        case .damagedHistory(let reason): "the stored history is damaged: \(reason)"
        case .unsentChanges(let name, let count):
            "the replica \"\(name)\" has \(count) changes that its server does not have"
        case .unknownConflict(let key): "the conflict about \(key) is resolved already"
        case .changedSince(let key): "\(key) has changed since the conflict: edit it by hand"
        }
    }

    /// The HTTP status with which a server refuses.
    public var httpStatus: Int {
        switch self {
        case .unknownReplica: 404
        case .invalidName, .unsuitableCollection, .tooManyRules, .malformedMessage, .damagedMessage:
            400
        case .senderIsOlder, .senderIsNewer: 400
        case .readOnly: 403
        case .overBudget: 413
        case .invalidDelta, .wrongContent: 422
        case .contended: 503
        case .damagedHistory, .unsentChanges, .unknownConflict, .changedSince: 500
        }
    }

    /// The case as one word, for what a server answers to a client.
    public var code: String {
        switch self {
        case .unknownReplica: "unknownReplica"
        case .invalidName: "invalidName"
        case .unsuitableCollection: "unsuitableCollection"
        case .tooManyRules: "tooManyRules"
        case .malformedMessage: "malformedMessage"
        case .damagedMessage: "damagedMessage"
        case .senderIsOlder: "upgradeClient"
        case .senderIsNewer: "upgradeServer"
        case .readOnly: "readOnly"
        case .invalidDelta: "invalidDelta"
        case .overBudget: "overBudget"
        case .wrongContent: "wrongContent"
        case .contended: "contended"
        case .damagedHistory: "damagedHistory"
        case .unsentChanges: "unsentChanges"
        case .unknownConflict: "unknownConflict"
        case .changedSince: "changedSince"
        }
    }
}
