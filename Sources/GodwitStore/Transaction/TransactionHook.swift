public import GodwitTree

/// Takes part in every commit, within its transaction.
///
/// This is how a replica records what changed, and how an operation is queued, in the
/// transaction that made the change. A hook may also derive other objects, or refuse.
///
/// ```swift
/// struct NoEmptyNames: TransactionHook {
///     let collections: Set<Key>? = ["contacts"]
///
///     func willCommit(
///         _ changes: [ObjectChange],
///         in transaction: borrowing WriteTransaction
///     ) throws {
///         for change in changes {
///             guard try change.newValue()?["name"] != "" else { throw EmptyName() }
///         }
///     }
/// }
/// ```
public protocol TransactionHook: Sendable {
    /// The collections whose changes ``willCommit(_:in:)`` is called with; nil for all of the app.
    ///
    /// It is not called with Godwit's own collections, whose names begin with `godwit.`, so that no hook
    /// can refuse them. ``didCommit(_:)`` is called with all that a commit has changed.
    var collections: Set<Key>? { get }

    /// Called before a commit with what it changes.
    ///
    /// What the hook writes belongs to the same commit, and is shown to the other hooks, not to
    /// itself; hooks are called until none of them has anything new to see. If another hook takes back
    /// what this one was told of, it is told again, with ``ObjectChange/kind`` nil. When one throws, the
    /// request whose changes it saw is rolled back, and no other.
    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws

    /// Called on the writer's thread when the commit is durable; it must not block.
    func didCommit(_ changes: ChangeSet)
}

/// A hook has refused what a transaction changes.
///
/// Only transactions that take in objects of others throw it; all others throw what the hook has
/// thrown.
public struct HookRefusal: Error, CustomStringConvertible {
    /// What the hook has thrown.
    public let error: any Error
    package let hook: any TransactionHook

    public var description: String { "a hook refuses the change: \(error)" }
}

extension TransactionHook {
    public var collections: Set<Key>? { nil }
    public func didCommit(_ changes: ChangeSet) {}

    func wants(_ key: ObjectKey) -> Bool { collections?.contains(key.collection) ?? true }
}

/// A hook of Godwit itself, which sees Godwit's own collections too.
package protocol OwnHook: TransactionHook {}
