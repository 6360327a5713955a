public import GodwitReplication
public import GodwitStore
public import Observation

/// How a replica is kept in sync, for a screen: it changes as the connector and the store do.
///
/// ```swift
/// let sync = LiveReplica(shopping, of: connector)
/// Text(sync.status.isConnected ? "\(sync.pendingCount) to send" : "Offline")
/// ```
///
/// It follows replica and connector until it is freed, or the replica is closed or left.
@MainActor @Observable
public final class LiveReplica {
    /// The connection, the last time in sync, the progress of a download, the last error.
    public private(set) var status: SyncStatus
    /// How many objects have changes that the server has not taken.
    public private(set) var pendingCount = 0
    /// The objects that the server has refused, and why: they are sent again when they are edited.
    public private(set) var rejections: [ObjectKey: Rejection.Reason] = [:]
    /// The objects of the server that a hook of the app refuses, in the order of their keys.
    public private(set) var refusedByApp: [ObjectKey] = []
    /// Whether the store has been read, and why not; `LivePhase.ended` when the replica is not open any more.
    public private(set) var phase = LivePhase.loading

    @ObservationIgnored private let statuses = CancelledTask()
    @ObservationIgnored private let counts = CancelledTask()

    /// - Parameters:
    ///   - replica: The replica that is shown.
    ///   - connector: The connector that has opened it.
    public init(_ replica: Replica, of connector: ReplicaConnector) {
        status = connector.status(of: replica.name) ?? SyncStatus()
        // Subscribed to before the tasks begin: the replica may be closed meanwhile.
        let (news, store) = (connector.statuses(of: replica.name), replica.store)
        statuses.replace(
            with: Task { [weak self] in
                for await status in news {
                    if Task.isCancelled { return }
                    self?.status = status
                }
                self?.end()
            }
        )
        counts.replace(
            with: Task { [weak self] in
                let end = await followed(store.changes()) {
                    for try await found in store.values({ try replica.status(in: $0) }) {
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

    private func take(_ found: ReplicaStatus) {
        if pendingCount != found.pendingCount { pendingCount = found.pendingCount }
        if rejections != found.rejections { rejections = found.rejections }
        if refusedByApp != found.refusedByApp { refusedByApp = found.refusedByApp }
        if case .current = phase { return }
        phase = .current
    }

    /// The replica is not in sync any more.
    private func end() {
        if Task.isCancelled { return }
        counts.cancel()
        phase = .ended
    }
}
