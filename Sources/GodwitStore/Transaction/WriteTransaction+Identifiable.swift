extension WriteTransaction {
    /// Puts an object under its own key, in the place of the one that was there.
    ///
    /// ```swift
    /// struct Contact: Codable, Identifiable, Sendable {
    ///     var id = UUID()
    ///     var name: String
    /// }
    ///
    /// try transaction.set(robbie, in: contacts)
    /// ```
    ///
    /// - Throws: What ``set(_:for:in:)`` throws.
    public borrowing func set<Object: Identifiable>(
        _ object: Object,
        in collection: StoreCollection<Object>
    ) throws where Object.ID: StoreKey {
        try set(object, for: object.id, in: collection)
    }

    /// Removes the object that has the key of this one; without one, nothing happens.
    public borrowing func remove<Object: Identifiable>(
        _ object: Object,
        in collection: StoreCollection<Object>
    ) throws where Object.ID: StoreKey {
        try remove(object.id, in: collection)
    }
}
