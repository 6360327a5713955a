public import GodwitTree

/// What a store keeps for a collection: indexes, how long objects stay, which version is written.
///
/// ```swift
/// var options = Store.Options()
/// options.collections = [
///     CollectionRules(contacts, indexes: [byPresence]),
///     CollectionRules(messages, retention: .age(.seconds(30 * 24 * 3600))),
///     CollectionRules(typing, isEphemeral: true),
/// ]
/// ```
///
/// Rules are matched when a store opens: indexes that are new are built, those that are gone are
/// dropped. A collection without rules keeps what it has. Where several processes share a store,
/// none drops an index that another one may use; each one that opens empties ephemeral collections.
public struct CollectionRules: Sendable {
    public let name: Key
    /// The version of values that arrive as plain data, from a replica for instance.
    public let version: Int
    public let indexes: [StoreIndex]
    public let retention: Retention?
    /// Whether the collection is emptied when the store opens.
    public let isEphemeral: Bool
    /// The rules that the type of the objects declares for merges.
    package let mergePolicy: MergePolicy?
    /// The default object of the type; see ``Defaulted``.
    let defaults: Value?
    private let upgrade: @Sendable (Value, ObjectKey, Int, Int) throws -> Value
    private let retype: @Sendable (Value, ObjectKey) throws -> Value

    public init<Object>(
        _ collection: StoreCollection<Object>,
        indexes: [StoreIndex] = [],
        retention: Retention? = nil,
        isEphemeral: Bool = false
    ) {
        precondition(
            Set(indexes.map(\.name)).count == indexes.count,
            "Two indexes of \(collection.name) have one name"
        )
        name = collection.name
        version = collection.version
        self.indexes = indexes
        self.retention = retention
        self.isEphemeral = isEphemeral
        mergePolicy = (Object.self as? any MergePolicyProviding.Type)?.mergePolicy
        defaults = defaultValue(of: Object.self)
        upgrade = { try collection.upgraded($0, at: $1, from: $2, to: $3) }
        retype = { try collection.retyped($0, at: $1) }
    }

    /// What the fields of an index are of an object that was stored without them.
    func defaults(of index: StoreIndex) -> [Value?] {
        index.fields.map { $0.value(in: defaults) }
    }

    func retyped(_ value: Value, at key: ObjectKey) throws -> Value { try retype(value, key) }

    /// - Parameter target: The version to upgrade to; nil for the one of the rules.
    func upgraded(
        _ value: Value,
        at key: ObjectKey,
        from found: Int,
        to target: Int? = nil
    ) throws -> Value {
        try upgrade(value, key, found, target ?? version)
    }
}

/// How long the objects of a collection stay.
///
/// What has to go is removed as by an ordinary write: observers and hooks see it.
public enum Retention: Hashable, Sendable {
    /// Objects that were last written longer ago than this are removed.
    case age(Duration)
    /// Beyond so many objects, those written longest ago are removed.
    case count(Int)
}
