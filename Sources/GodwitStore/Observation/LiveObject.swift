public import Observation

/// The object under a key, for a screen: it changes as the store does.
///
/// ```swift
/// let robbie = LiveObject("robbie", of: contacts, in: store)
/// Text(robbie.object?.name ?? "")
/// ```
///
/// It follows the store until it is freed: a read that fails is tried again after the next change.
@MainActor @Observable
public final class LiveObject<Object: Codable & Sendable> {
    /// The object; nil while there is none, or none has been read yet.
    public private(set) var object: Object?
    /// Whether the object has been read, and why not.
    public private(set) var phase = LivePhase.loading

    @ObservationIgnored private let task = CancelledTask()

    public init(_ key: some StoreKey, of collection: StoreCollection<Object>, in store: Store) {
        task.replace(
            with: Task { [weak self] in
                let end = await followed(store.changes(of: key, in: collection)) {
                    for try await object in store.values(of: key, in: collection) {
                        if Task.isCancelled { return }
                        self?.take(object)
                    }
                } failed: { error in
                    self?.phase = .failed(error)
                }
                if end == .closed { self?.phase = .ended }
            }
        )
    }

    private func take(_ object: Object?) {
        self.object = object
        if case .current = phase { return }
        phase = .current
    }
}
