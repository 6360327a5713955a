public import GodwitStore
public import GodwitTree

/// An operation with what the queue knows about it.
public struct QueuedOperation: Hashable, Sendable, Identifiable {
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// It will run: now, or when what it waits for is over.
        case waiting
        case running
        /// The cloud has something newer; the app has to merge.
        case conflict
        /// A dead letter: it runs again only if the app retries it.
        case deadLetter
        /// A dead letter that this version of the app cannot read; a later version tries it again.
        case unreadable

        /// Whether it has left the line until the app decides.
        public var isDeadLetter: Bool { self == .deadLetter || self == .unreadable }

        /// The state that a row has: where another version has written one of its own, the app decides.
        init(stored text: String) { self = Self(rawValue: text) ?? .deadLetter }

        /// The states of operations in line, as a list in SQL.
        static let inLine = allCases.filter { !$0.isDeadLetter }.map { "'\($0.rawValue)'" }
            .joined(separator: ", ")
    }

    public let id: OperationID
    public let number: OperationNumber
    /// The commit to whose graph it belongs.
    public let commit: CommitNumber
    public let pipeline: String
    public internal(set) var kind: String
    public var state: State
    /// A hint: of what may start, the higher goes first.
    public var priority: Int32
    /// Whom it talks to; see ``PushOperation/host``.
    public let host: String?
    /// How often it was tried without success.
    public var attempts: Int
    /// Whether it was started before and its end is not known: the cloud may have done
    /// the work already.
    ///
    /// An executor whose cloud does not know ``idempotencyKey`` looks there first.
    public var mayHaveRun: Bool
    /// Why it is where it is: the last error, or why it became a dead letter or a conflict.
    public var reason: String?
    /// What the cloud is told, so that the work is done once however often it is sent.
    ///
    /// It stays the same over all attempts and launches.
    public let idempotencyKey: String
    /// What the app has put beside it.
    public var userInfo: Value
    /// The app's operation, as data; null when what is stored is not what was enqueued.
    public var body: Value

    var keepsOrder = false
    /// The launch that runs it.
    var epoch: Int64?
    var parts: OperationParts = []

    /// Whether its id is of the app's choice, and tells nothing about its number.
    var isNamed: Bool { id.suggestedNumber != number }

    /// The app's operation.
    ///
    /// - Throws: `DecodingError` when `Work` is not what was enqueued.
    public func decoded<Work: PushOperation>(as type: Work.Type = Work.self) throws -> Work {
        try ValueDecoder().decode(Work.self, from: body)
    }
}

/// Which tables beside the operation's own have rows of it, so that only those are looked into.
struct OperationParts: OptionSet, Hashable, Sendable {
    let rawValue: Int64

    static let needs = OperationParts(rawValue: 1)
    static let dependents = OperationParts(rawValue: 2)
    static let holds = OperationParts(rawValue: 4)
    static let attempts = OperationParts(rawValue: 8)
    static let objects = OperationParts(rawValue: 16)
    static let conflict = OperationParts(rawValue: 32)
    static let footprint = OperationParts(rawValue: 64)
    static let effect = OperationParts(rawValue: 128)

    /// Whether others may wait for it: what a footprint adds is not noted.
    var mayHaveDependents: Bool { !isDisjoint(with: [.dependents, .footprint]) }
}
