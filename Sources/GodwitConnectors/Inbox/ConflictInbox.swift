public import GodwitStore
public import Observation

/// The conflicts about a collection's objects, for a screen: those of replicas and of clouds, in one list.
///
/// ```swift
/// let inbox = ConflictInbox(of: contacts, in: store)
/// List(inbox.conflicts) { conflict in
///     Button("Take \(conflict.other?.name ?? "the removal")") {
///         Task { try await inbox.resolve(conflict, .takeOther) }
///     }
/// }
/// ```
///
/// It follows the store until it is freed: a read that fails is tried again after the next change.
@MainActor @Observable
public final class ConflictInbox<Object: Codable & Sendable> {
    /// The conflicts that are not resolved, in the order of the objects' keys.
    public private(set) var conflicts: [ObjectConflict<Object>] = []
    /// Whether the conflicts have been read, and why not.
    public private(set) var phase = LivePhase.loading

    @ObservationIgnored private let collection: Store.Collection<Object>
    @ObservationIgnored private let store: Store
    @ObservationIgnored private let task = CancelledTask()

    public init(of collection: Store.Collection<Object>, in store: Store) {
        (self.collection, self.store) = (collection, store)
        task.replace(
            with: Task { [weak self] in
                let end = await followed(store.changes()) {
                    for try await found in store.values({ try $0.conflicts(in: collection) }) {
                        if Task.isCancelled { return }
                        self?.take(found)
                    }
                } failed: { error in
                    self?.phase = .failed(error)
                }
                if end == .closed { self?.phase = .ended }
            }
        )
    }

    private func take(_ found: [ObjectConflict<Object>]) {
        conflicts = found
        if case .current = phase { return }
        phase = .current
    }

    /// Resolves a conflict; it leaves the list with the commit.
    ///
    /// - Throws: What `WriteTransaction.resolve(_:in:_:)` throws.
    public func resolve(
        _ conflict: ObjectConflict<Object>,
        _ choice: ConflictResolution<Object>
    ) async throws {
        let collection = collection
        try await store.write { try $0.resolve(conflict, in: collection, choice) }
    }
}
