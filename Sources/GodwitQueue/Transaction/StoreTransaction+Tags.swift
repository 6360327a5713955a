public import GodwitStore
public import GodwitTree

extension StoreTransaction where Self: ~Copyable {
    /// The last known revision of something; nil when none was recorded.
    public borrowing func tag(for key: String, identifier: String = "") throws -> Value? {
        guard try hasQueue() else { return nil }
        return try TagTable.value(of: key, identifier, in: database)
    }

    /// All revisions that are recorded under a key, by identifier.
    public borrowing func tags(for key: String) throws -> [String: Value] {
        guard try hasQueue() else { return [:] }
        return try TagTable.values(of: key, in: database)
    }
}

extension WriteTransaction {
    /// Records a revision; nil removes it.
    ///
    /// - Throws: ``QueueError/unsuitableTag(_:)`` unless it is a string, a number or bytes.
    public borrowing func setTag(
        _ value: Value?,
        for key: String,
        identifier: String = ""
    ) throws {
        try journal().update(in: self) { _ in }
        try TagTable.set(value, of: key, identifier, in: database)
    }

    /// Records a revision that is a text, such as an ETag; nil removes it.
    @_disfavoredOverload
    public borrowing func setTag(
        _ text: String?,
        for key: String,
        identifier: String = ""
    ) throws {
        try setTag(text.map { .string(Key($0)) }, for: key, identifier: identifier)
    }

    /// Removes all revisions that are recorded under a key.
    public borrowing func removeTags(for key: String) throws {
        try journal().update(in: self) { _ in }
        try TagTable.remove(key, in: database)
    }
}
