public import GodwitTree

/// The name of a collection, the type of the objects in it, and how older objects become
/// objects of this version.
///
/// ```swift
/// let contacts = Store.Collection<Contact>("contacts")
///
/// // The second version of the app has split the name.
/// let people = Store.Collection<ContactV1>("contacts").upgraded(to: Person.self) { old in
///     let words = old.name.split(separator: " ", maxSplits: 1).map(String.init)
///     return Person(first: words.first ?? "", last: words.dropFirst().first ?? "")
/// }
/// ```
///
/// An object is upgraded when it is read, and stored in the new form when it is next set.
/// Fields that the type does not know stay in the object when it is set again: an older app
/// beside a newer one loses nothing.
public struct StoreCollection<Object: Codable & Sendable>: Sendable {
    /// Makes a value of the next version from a value of the given one.
    public typealias Upgrade = @Sendable (_ value: Value, _ version: Int) throws -> Value

    public let name: Key
    /// The version of the type; the first one is 1.
    public let version: Int
    private let upgrade: Upgrade

    /// A collection whose older objects are upgraded as plain data.
    ///
    /// ```swift
    /// let people = Store.Collection<Person>("contacts", version: 2) { value, version in
    ///     var map = value.map ?? [:]
    ///     (map["nickname"], map["nick"]) = (map["nick"], nil)
    ///     return .map(map)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The collection's name in the store.
    ///   - version: The version of the type; the first one is 1.
    ///   - upgrade: Makes a value of the next version. See ``upgraded(to:_:)`` for upgrades with types.
    public init(
        _ name: Key,
        version: Int = 1,
        upgrade: @escaping Upgrade = { value, _ in value }
    ) {
        precondition(version >= 1, "The first version of a type is 1")
        self.name = name
        self.version = version
        self.upgrade = upgrade
    }

    /// The place of an object of this collection.
    public func place(_ key: some StoreKey) -> ObjectKey {
        ObjectKey(collection: name, key: Key(key.storeKey))
    }
}

extension StoreCollection {
    /// The same collection with the next version of its type, made from the type so far.
    ///
    /// ```swift
    /// let people = Store.Collection<ContactV1>("contacts")
    ///     .upgraded(to: ContactV2.self) { ContactV2(name: $0.name, isOnline: $0.presence == "online") }
    ///     .upgraded(to: Person.self) { Person(first: $0.name, last: "") }
    /// ```
    ///
    /// `upgrade` has to make the same object of an old one each time, on every device: without a new `UUID()`,
    /// a date of now, or anything else from outside. The first change of an object that is stored in an older
    /// version is merged as a change of the whole object: what two devices add does not add up yet.
    ///
    /// Each upgrade is a version: `people` has version 3. Fields that the old type does not know stay in the
    /// object. Where an object cannot be upgraded, because its old type cannot read it or `upgrade` throws, the
    /// others are read all the same; see ``QueryRows/unreadable``.
    public func upgraded<New: Codable & Sendable>(
        to type: New.Type = New.self,
        _ upgrade: @escaping @Sendable (_ old: Object) throws -> New
    ) -> StoreCollection<New> {
        StoreCollection<New>(name, version: version + 1) { value, found in
            guard found == version else { return try self.upgrade(value, found) }
            let old = try ValueDecoder().decode(Object.self, from: value)
            let new = try ValueEncoder().encode(try upgrade(old))
            return new.keeping(value, beyond: try ValueEncoder().encode(old))
        }
    }

    /// A value of this version, from one of an older version.
    ///
    /// - Parameter target: The version to upgrade to; nil for this one.
    /// - Throws: ``StoreError/newerObject(_:found:known:)`` for a value of a newer version.
    func upgraded(
        _ value: Value,
        at key: ObjectKey,
        from found: Int,
        to target: Int? = nil
    ) throws -> Value {
        let target = target ?? version
        guard found <= target else {
            throw StoreError.newerObject(key, found: found, known: target)
        }
        return try (found..<target).reduce(value) { try upgrade($0, $1) }
    }

    package func decode(
        _ value: Value,
        at key: ObjectKey,
        version found: Int
    ) throws -> Object {
        try ValueDecoder().decode(Object.self, from: upgraded(value, at: key, from: found))
    }

    /// - Throws: ``StoreError/unreadableObject(_:reason:)`` for a value of another type.
    func check(_ value: Value, at key: ObjectKey) throws(StoreError) {
        do {
            _ = try ValueDecoder().decode(Object.self, from: value)
        } catch {
            throw StoreError(unreadable: key, because: error)
        }
    }

    /// Plain data with its scalars as this type writes them: JSON has no bytes, no dates and no
    /// decimals.
    ///
    /// All else stays as it is: fields that the type does not know, in lists too, fields that are
    /// missing, and words that it knows by another name.
    ///
    /// - Throws: ``StoreError/unreadableObject(_:reason:)`` for a value of another type.
    func retyped(_ value: Value, at key: ObjectKey) throws(StoreError) -> Value {
        do {
            let object = try ValueDecoder().decode(Object.self, from: value)
            return value.retyped(like: try ValueEncoder().encode(object))
        } catch {
            throw StoreError(unreadable: key, because: error)
        }
    }
}

extension Value {
    /// This map with the fields of an older one that its type did not know.
    fileprivate func keeping(_ old: Value, beyond known: Value) -> Value {
        guard case .map(var map) = self, let old = old.map, let known = known.map else {
            return self
        }
        for entry in old {
            switch (known[entry.key], map[entry.key]) {
            case (nil, nil): map[entry.key] = entry.value
            case (let known?, let new?): map[entry.key] = new.keeping(entry.value, beyond: known)
            case (nil, _?), (_?, nil): break
            }
        }
        return .map(map)
    }

    /// This value with the scalars of another one where those are of another kind.
    fileprivate func retyped(like typed: Value) -> Value {
        switch (self, typed) {
        case (.map(let map), .map(let typed)):
            .map(
                Value.Map(
                    map.map { entry in
                        (entry.key, typed[entry.key].map(entry.value.retyped) ?? entry.value)
                    }
                )
            )
        case (.list(let items), .list(let typed)) where items.count == typed.count:
            .list(Value.List(zip(items, typed).map { $0.retyped(like: $1) }))
        case (.map, _), (.list, _), (.null, _), (_, .map), (_, .list), (_, .null): self
        default: kind == typed.kind ? self : typed
        }
    }
}
