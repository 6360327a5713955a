public import GodwitStore
public import GodwitTree

/// An operation whose change was made on an older version than the cloud has.
public struct PushConflict: Sendable {
    /// Decides what to do; nil leaves it in conflict until the app decides.
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
    /// What the cloud has, `Value.null` for nothing any more; nil when it was not read.
    public let theirs: Value?
    public let tag: CloudTag?
    /// The rules for merges that the object's type declares, if the store has `CollectionRules` for it.
    let policy: MergePolicy

    /// Both changes in one value, by the rules that the object's type declares, and what was in doubt.
    ///
    /// An edit beats a removal.
    public func merged() -> (value: Value?, conflicts: [Conflict]) {
        let theirs = theirs == .null ? nil : theirs
        guard let ours else { return (theirs == base ? nil : theirs, []) }
        guard let theirs else { return (ours == base ? nil : ours, []) }
        let result = Merge(base: base ?? .null, ours: ours, theirs: theirs, policy: policy)
        return (result.value, result.conflicts)
    }

    /// The merge of both, if nothing was in doubt and the cloud's version is known.
    public func resolvedIfClean() -> Resolution? {
        guard key != nil, theirs != nil else { return nil }
        let (value, conflicts) = merged()
        return conflicts.isEmpty ? .take(value) : nil
    }
}
