public import GodwitStore
public import GodwitTree

/// Enqueues operations by itself for the objects that transactions change.
///
/// ```swift
/// let push = AutomaticOperations(of: contacts) { change in
///     switch change.kind {
///     case .removed: [DeleteContact(id: change.key.key.text)]
///     default: [UploadContact(id: change.key.key.text)]
///     }
/// }
/// try store.addHook(push, named: "push contacts")
/// ```
///
/// The operations are enqueued in the transaction that changes the objects, with its commit, once for
/// each object. Metadata alone, objects that a ``GodwitStore/Retention`` removes, and the object of a
/// conflict that is resolved enqueue nothing. A transaction that stores what the cloud has sent calls
/// `WriteTransaction.skipAutomaticOperations()`, so that it is not pushed back.
public struct AutomaticOperations: TransactionHook {
    public let collections: Set<Key>?
    private let operations: @Sendable (ObjectChange) throws -> [any PushOperation]
    private let placement: @Sendable (any PushOperation) -> Placement
    private let identity = Identity()

    /// - Parameters:
    ///   - collection: The collection whose changes enqueue operations.
    ///   - placement: Where an operation is put; the default is the default pipeline.
    ///   - operations: What is enqueued for a change. If it throws, the transaction is rolled back.
    public init<Object>(
        of collection: Store.Collection<Object>,
        placement: @escaping @Sendable (any PushOperation) -> Placement = { _ in Placement() },
        _ operations: @escaping @Sendable (ObjectChange) throws -> [any PushOperation]
    ) {
        collections = [collection.name]
        self.placement = placement
        self.operations = operations
    }

    public func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        guard try !transaction.skipsAutomaticOperations else { return }
        for change in changes {
            guard let isRemoval = change.pushedRemoval,
                try transaction.isFirst(change.key, isRemoval, for: ObjectIdentifier(identity))
            else { continue }
            for operation in try operations(change) {
                try transaction.enqueue(operation, placement(operation))
            }
        }
    }

    /// Tells this hook from others.
    private final class Identity: Sendable {}
}

extension WriteTransaction {
    /// Has ``AutomaticOperations`` enqueue nothing for this transaction: the cloud knows already what
    /// it changes.
    public borrowing func skipAutomaticOperations() throws {
        try journal().update(in: self, touches: false) { $0.skipsAutomaticOperations = true }
    }

    /// Has ``AutomaticOperations`` leave an object alone in this transaction.
    borrowing func skipAutomaticOperations(of key: ObjectKey) throws {
        try journal().update(in: self) { draft in
            for isRemoval in [true, false] {
                draft.automatic.insert(AutomaticKey(key: key, isRemoval: isRemoval, hook: nil))
            }
        }
    }

    /// Whether a hook is told of an object for the first time in this transaction: others may change
    /// it again.
    fileprivate borrowing func isFirst(
        _ key: ObjectKey,
        _ isRemoval: Bool,
        for hook: ObjectIdentifier
    ) throws -> Bool {
        let own = AutomaticKey(key: key, isRemoval: isRemoval, hook: hook)
        let all = AutomaticKey(key: key, isRemoval: isRemoval, hook: nil)
        return try journal().update(in: self, touches: false) { draft in
            !draft.automatic.contains(all) && draft.automatic.insert(own).inserted
        }
    }

    fileprivate var skipsAutomaticOperations: Bool {
        get throws {
            try journal().update(in: self, touches: false) { $0.skipsAutomaticOperations }
        }
    }
}

/// An object that a hook has enqueued for; of no hook if none is to.
struct AutomaticKey: Hashable {
    let key: ObjectKey
    let isRemoval: Bool
    let hook: ObjectIdentifier?
}

extension ObjectChange {
    /// Whether the object is to be removed from the cloud; nil if there is nothing to push.
    fileprivate var pushedRemoval: Bool? {
        switch kind {
        case .inserted, .updated: false
        case .removed: isExpired ? nil : true
        case .describedAnew, .touched, nil: nil
        }
    }
}
