public import Foundation
public import GodwitReplication
internal import Synchronization

/// How a connector keeps a replica in sync.
///
/// ``LiveReplica`` shows it on a screen, together with how many objects wait to be sent.
public struct SyncStatus: Sendable {
    /// Whether the server tells the device of new states as they come.
    public internal(set) var isConnected = false
    /// When the replica last had all changes of the server, and the server all of the device.
    public internal(set) var lastSynced: Date?
    /// How far a comparison of the objects with the server's has come, as a new device makes it; nil when
    /// none is under way.
    public internal(set) var download: DownloadProgress?
    /// Why the last exchange or connection failed: a ``ConnectorError``, a `ReplicationError`, or an error of
    /// the store; nil since one has succeeded.
    public internal(set) var lastError: (any Error)?

    public init() {}
}

extension SyncStatus: Equatable {
    /// Errors are the same if they say the same.
    public static func == (left: SyncStatus, right: SyncStatus) -> Bool {
        left.isConnected == right.isConnected && left.lastSynced == right.lastSynced
            && left.download == right.download
            && left.lastError.map { "\($0)" } == right.lastError.map { "\($0)" }
    }
}

/// A status that changes, and its observers.
final class ObservedStatus: Sendable {
    private struct State {
        var status = SyncStatus()
        var isFinished = false
        var ticket = 0
        var continuations: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
    }

    private let state = Mutex(State())

    var value: SyncStatus { state.withLock(\.status) }

    func update(_ body: (inout SyncStatus) -> Void) {
        state.withLock { state in
            let old = state.status
            body(&state.status)
            guard state.status != old else { return }
            for continuation in state.continuations.values { continuation.yield(state.status) }
        }
    }

    /// Ends what observers see.
    func finish() {
        let continuations = state.withLock { state in
            state.isFinished = true
            return state.continuations.values
        }
        for continuation in continuations { continuation.finish() }
    }

    /// The status as it is, then each newer one that is not overtaken.
    func values() -> AsyncStream<SyncStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncStatus.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let ticket = state.withLock { state in
            state.ticket += 1
            if state.isFinished { return state.ticket }
            state.continuations[state.ticket] = continuation
            continuation.yield(state.status)
            return state.ticket
        }
        if state.withLock(\.isFinished) { continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.continuations[ticket] = nil }
        }
        return stream
    }
}
