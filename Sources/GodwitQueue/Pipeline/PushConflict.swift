public import GodwitStore
public import GodwitTree

/// An operation whose change was made on an older version than the cloud has.
public struct PushConflict: Sendable {
    /// Decides what to do; nil leaves it to somebody who is asked.
    public typealias Resolver = @Sendable (PushConflict) throws -> Resolution?

    public enum Resolution: Sendable {
        /// The object becomes this, and is pushed over what the cloud has; nil removes it.
        case take(Value?)
        /// The cloud's version stays; the operation is skipped.
        case skip
        /// The operation is tried again as it is.
        case retry
    }

    public let operation: QueuedOperation
    /// The object that is pushed; nil when the operation pushes none, or several.
    public let key: ObjectKey?
    /// The last version that both had; nil for none.
    public let base: Value?
    /// The object as it is here.
    public let ours: Value?
    /// What the cloud has, `Value.null` for nothing any more; nil when nobody has looked.
    public let theirs: Value?
    public let tag: Tag?

    /// Both changes in one value, and what was in doubt.
    ///
    /// An object that one side has removed counts as null; an edit beats a removal.
    public func merged() -> (value: Value?, conflicts: [Conflict]) {
        let result = Merge(base: base ?? .null, ours: ours ?? .null, theirs: theirs ?? .null)
        return (result.value == .null ? nil : result.value, result.conflicts)
    }

    /// The merge of both, if nothing was in doubt and the cloud's version is known.
    public func resolvedIfClean() -> Resolution? {
        guard key != nil, theirs != nil else { return nil }
        let (value, conflicts) = merged()
        return conflicts.isEmpty ? .take(value) : nil
    }
}
