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
/// each object. A transaction that stores what the cloud has sent calls
/// ``GodwitStore/WriteTransaction/skipAutomaticOperations()``, so that it is not pushed back.
public struct AutomaticOperations: TransactionHook {
    public let collections: Set<Key>?
    private let operations: @Sendable (ObjectChange) throws -> [any Operation]
    private let placement: @Sendable (any Operation) -> Placement

    /// - Parameters:
    ///   - placement: Where an operation is put; the default is the default pipeline.
    ///   - operations: What is enqueued for a change. If it throws, the transaction is rolled back.
    public init<Object>(
        of collection: Store.Collection<Object>,
        placement: @escaping @Sendable (any Operation) -> Placement = { _ in Placement() },
        _ operations: @escaping @Sendable (ObjectChange) throws -> [any Operation]
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
        for change in changes where change.kind != .touched {
            for operation in try operations(change) {
                try transaction.enqueue(operation, placement(operation))
            }
        }
    }
}

extension WriteTransaction {
    /// Has ``AutomaticOperations`` enqueue nothing for this transaction: the cloud knows already what
    /// it changes.
    public borrowing func skipAutomaticOperations() throws {
        try journal().update(in: self, touches: false) { $0.skipsAutomaticOperations = true }
    }

    fileprivate var skipsAutomaticOperations: Bool {
        get throws {
            try journal().update(in: self, touches: false) { $0.skipsAutomaticOperations }
        }
    }
}
