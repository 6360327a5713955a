public import GodwitStore
public import GodwitTree

extension StoreTransaction where Self: ~Copyable {
    /// The last known revision of something; nil when none was recorded.
    public borrowing func tag(for key: some StoreKey, identifier: String = "") throws -> Value? {
        guard try hasQueue() else { return nil }
        return try TagTable.value(of: key.storeKey, identifier, in: database)
    }

    /// All revisions that are recorded under a key, by identifier.
    public borrowing func tags(for key: some StoreKey) throws -> [String: Value] {
        guard try hasQueue() else { return [:] }
        return try TagTable.values(of: key.storeKey, in: database)
    }
}

extension WriteTransaction {
    /// Records a revision; nil removes it.
    ///
    /// - Throws: ``QueueError/unsuitableTag(_:)`` unless it is a string, a number or bytes.
    public borrowing func setTag(
        _ value: Value?,
        for key: some StoreKey,
        identifier: String = ""
    ) throws {
        try journal().update(in: self) { _ in }
        try TagTable.set(value, of: key.storeKey, identifier, in: database)
    }

    /// Records a revision that is a text, such as an ETag; nil removes it.
    @_disfavoredOverload
    public borrowing func setTag(
        _ text: String?,
        for key: some StoreKey,
        identifier: String = ""
    ) throws {
        try setTag(text.map { .string(Key($0)) }, for: key, identifier: identifier)
    }

    /// Removes all revisions that are recorded under a key.
    public borrowing func removeTags(for key: some StoreKey) throws {
        try journal().update(in: self) { _ in }
        try TagTable.remove(key.storeKey, in: database)
    }
}
