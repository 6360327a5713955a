internal import GodwitStore
public import GodwitTree

/// The change of one object: its creation, an edit of its value, or its removal.
///
/// A value of another version is always set whole, because a delta was made for the shape that the
/// type had.
public struct ObjectDelta: Hashable, Sendable {
    public let change: MapDelta.Change
    /// The version of the type that wrote the new value.
    public let version: Int

    /// The object goes.
    public static let removed = ObjectDelta(.remove, version: 1)

    /// The object has this value afterwards, whether it was there or not.
    public static func set(_ object: VersionedValue) -> ObjectDelta {
        ObjectDelta(.apply(.set(object.value)), version: object.version)
    }

    public init(_ change: MapDelta.Change, version: Int) {
        self.change = change
        self.version = version
    }

    /// The difference of two objects; nil when there is none.
    public static func diff(
        _ old: VersionedValue?,
        _ new: VersionedValue?,
        policy: MergePolicy = .standard
    ) -> ObjectDelta? {
        guard old != new else { return nil }
        guard let new else { return .removed }
        guard let old, old.version == new.version else { return .set(new) }
        return ObjectDelta(
            .apply(.diff(old.value, new.value, policy: policy)),
            version: new.version
        )
    }
}

extension ObjectDelta {
    /// Whether it leads to the same object from any other.
    var isWhole: Bool {
        switch change {
        case .remove, .apply(.set): true
        case .apply: false
        }
    }

    /// Whether it counts again when it is made again.
    var hasIncrement: Bool {
        if case .apply(let delta) = change { delta.hasIncrement } else { false }
    }

    /// The object that the change leads to; nil when there is none afterwards.
    ///
    /// - Throws: ``ReplicationError/invalidDelta(reason:)`` when the change was made for another
    ///   object.
    public func applied(
        to old: VersionedValue?
    ) throws(ReplicationError) -> VersionedValue? {
        switch change {
        case .remove: return nil
        case .apply(.set(let value)): return VersionedValue(value, version: version)
        case .apply(let delta):
            guard let old, old.version == version else {
                throw .invalidDelta(reason: "there is no object of version \(version)")
            }
            return VersionedValue(
                try refusing { () throws(TreeError) in
                    try delta.applied(to: old.value)
                },
                version: version
            )
        }
    }

    /// Both changes as one; nil when they cancel each other out.
    ///
    /// - Throws: ``ReplicationError/invalidDelta(reason:)`` when `next` was made for another
    ///   object than this change leads to.
    func composed(with next: ObjectDelta) throws(ReplicationError) -> ObjectDelta? {
        guard case .apply(let delta) = next.change, !next.isWhole else { return next }
        guard case .apply(let first) = change, version == next.version else {
            throw .invalidDelta(reason: "there is no object of version \(next.version)")
        }
        let both = try refusing { () throws(TreeError) in try first.composed(with: delta) }
        return both == .keep ? nil : ObjectDelta(.apply(both), version: version)
    }

    /// The change that leads back to `old`; nil when this one changes nothing of it.
    func inverted(
        on old: VersionedValue?
    ) throws(ReplicationError) -> ObjectDelta? {
        guard let old else { return change == .remove ? nil : .removed }
        guard case .apply(let delta) = change, !isWhole else {
            return try applied(to: old) == old ? nil : .set(old)
        }
        let back = try refusing { () throws(TreeError) in try delta.inverted(on: old.value) }
        return back == .keep ? nil : ObjectDelta(.apply(back), version: version)
    }
}

extension ObjectDelta? {
    /// Whether it leads to the same object from any other.
    var isWhole: Bool { self?.isWhole ?? false }

    /// Both changes as one, where nil changes nothing.
    func composed(with next: ObjectDelta?) throws(ReplicationError) -> ObjectDelta? {
        guard let self else { return next }
        guard let next else { return self }
        return try self.composed(with: next)
    }

    func applied(to old: VersionedValue?) throws(ReplicationError) -> VersionedValue? {
        guard let self else { return old }
        return try self.applied(to: old)
    }
}

/// What the tree refuses, as an error of replication.
func refusing<Result>(
    _ body: () throws(TreeError) -> Result
) throws(ReplicationError) -> Result {
    do throws(TreeError) {
        return try body()
    } catch {
        throw ReplicationError(refusing: error)
    }
}
