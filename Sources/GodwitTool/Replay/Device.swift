import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTree
import Synchronization

/// One device: a store, and the replica of one collection of documents in it.
final class Device: Sendable {
    static let documents: Key = "d"

    let store: Store
    let connector: ReplicaConnector
    let traffic: Traffic

    init(
        path: String,
        replica: ReplicaName,
        transport: any ReplicaTransport,
        traffic: Traffic = Traffic()
    ) async throws {
        self.traffic = traffic
        store = try Store(.file(path))
        connector = try await ReplicaConnector(
            replica,
            in: store,
            collections: [Self.documents],
            transport: transport
        ) { event in traffic.note(event) }
    }

    /// The document under a key, with all local changes.
    func document(_ key: Key) async throws -> Value? {
        try await store.read { try $0.value(of: ObjectKey(collection: Self.documents, key: key)) }
    }

    /// Waits until this device has adopted a state and has nothing left to send.
    func reach(_ head: StateID) async throws {
        let changes = store.changes()
        guard !hasReached(head) else { return }
        for await _ in changes where hasReached(head) { return }
        throw ToolError("the store was closed before \(head.short) arrived")
    }

    private func hasReached(_ head: StateID) -> Bool {
        let status = connector.replica.status
        return status.base == head && !status.isDirty
    }
}

/// What went over the wire to the server, by size.
final class Traffic: Sendable {
    private struct State {
        var edits: [Int] = []
        var totalSizeInBytes = 0
        var failures = 0
    }

    private let state = Mutex(State())

    func note(_ event: ReplicaConnector.Event) {
        state.withLock { state in
            switch event {
            case .sending(let size, let carriesEdit):
                state.totalSizeInBytes += size
                if carriesEdit { state.edits.append(size) }
            case .adopted: break
            case .failed: state.failures += 1
            }
        }
    }

    /// The sizes of the request bodies that carried an edit, in order.
    var edits: [Int] { state.withLock { $0.edits } }
    var totalSizeInBytes: Int { state.withLock { $0.totalSizeInBytes } }
    var failures: Int { state.withLock { $0.failures } }
}
