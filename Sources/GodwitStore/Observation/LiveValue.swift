public import Observation

/// What a reading of a store gives, for a screen: a count, a sum, or whatever a closure makes of a transaction.
///
/// ```swift
/// let unpaid = invoices.where(\.isPaid, .equal(false))
/// let total = LiveValue(in: store) { try $0.sum(\.cents, of: unpaid) }
/// Text("\(total.value ?? 0)")
/// ```
///
/// The store reads again after each commit, off the main actor; values that are equal invalidate nothing. The
/// value follows the store until it is freed: a read that fails is tried again after the next commit.
@MainActor @Observable
public final class LiveValue<Value: Sendable> {
    /// The newest value; nil before the first one.
    public private(set) var value: Value?
    /// Whether the value has been read, and why not.
    public private(set) var phase = LivePhase.loading

    @ObservationIgnored private let task = CancelledTask()

    public init(
        in store: Store,
        _ read: @escaping @Sendable (borrowing ReadTransaction) throws -> Value
    ) where Value: Equatable {
        follow(store.values(read), store.changes())
    }

    init() {}

    /// Follows values, and begins again after one of some changes where they fail.
    func follow(_ values: StoreValues<Value>, _ changes: ChangeSets) {
        task.replace(
            with: Task { [weak self] in
                let end = await followed(changes) {
                    for try await value in values {
                        if Task.isCancelled { return }
                        self?.take(value)
                    }
                } failed: { error in
                    self?.phase = .failed(error)
                }
                if end == .closed { self?.phase = .ended }
            }
        )
    }

    private func take(_ value: Value) {
        self.value = value
        if case .current = phase { return }
        phase = .current
    }
}
