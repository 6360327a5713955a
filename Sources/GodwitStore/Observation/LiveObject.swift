public import Observation

/// The object under a key, for a screen: it changes as the store does.
///
/// ```swift
/// let robbie = LiveObject(of: "robbie", in: contacts, store)
/// Text(robbie.object?.name ?? "nobody")
/// ```
///
/// It follows the store until it is freed.
@MainActor @Observable
public final class LiveObject<Object: Codable & Sendable> {
    /// The object; nil while there is none, or none has been read yet.
    public private(set) var object: Object?
    /// What stands in the way of the object.
    public private(set) var phase = LivePhase.loading

    @ObservationIgnored private let task = CancelledTask()

    public init(of key: some StoreKey, in collection: StoreCollection<Object>, _ store: Store) {
        let values = store.values(of: key, in: collection)
        task.replace(
            with: Task { [weak self] in
                do {
                    for try await object in values { self?.take(object) }
                    self?.phase = .ended
                } catch {
                    if !Task.isCancelled { self?.phase = .failed(error) }
                }
            }
        )
    }

    private func take(_ object: Object?) {
        self.object = object
        if case .current = phase { return }
        phase = .current
    }
}
