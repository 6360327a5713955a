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
    let replica: Replica
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
        connector = try ReplicaConnector(store, transport: transport) { traffic.note($0) }
        self.replica = try await connector.open(replica, collections: [Self.documents])
    }

    /// The document under a key, with all local changes.
    func document(_ key: Key) async throws -> Value? {
        try await store.read { try $0.value(of: ObjectKey(collection: Self.documents, key: key)) }
    }

    /// Waits until this device has adopted a state and has nothing left to send.
    func reach(_ head: StateID) async throws {
        let changes = store.changes()
        guard try await !hasReached(head) else { return }
        for await _ in changes where try await hasReached(head) { return }
        throw ToolError("the store was closed before \(head.short) arrived")
    }

    private func hasReached(_ head: StateID) async throws -> Bool {
        let status = try await replica.status()
        return status.base.id == head && !status.isDirty
    }

    /// All documents by their keys, with all local changes.
    func allDocuments() async throws -> Value {
        try await store.read { transaction in
            let keys = try transaction.keys(in: StoreCollection<Value>(Self.documents))
            return .map(
                Value.Map(
                    try keys.compactMap { key in
                        let place = ObjectKey(collection: Self.documents, key: Key(key))
                        return try transaction.value(of: place).map { (Key(key), $0) }
                    }
                )
            )
        }
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
            case .sending(_, let size, let carriesChanges):
                state.totalSizeInBytes += size
                if carriesChanges { state.edits.append(size) }
            case .adopted, .closed: break
            case .failed: state.failures += 1
            }
        }
    }

    /// The sizes of the request bodies that carried an edit, in order.
    var edits: [Int] { state.withLock { $0.edits } }
    var totalSizeInBytes: Int { state.withLock { $0.totalSizeInBytes } }
    var failures: Int { state.withLock { $0.failures } }
}
