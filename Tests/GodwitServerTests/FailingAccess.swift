import GodwitReplication
import GodwitStore
import GodwitTree
import Synchronization

@testable import GodwitServer

/// The keys of a store, which cannot be read for a while.
final class FailingAccess: AccessStorage {
    private struct Busy: Error {}

    private let storage: StoreAccess
    private let left = Mutex((failing: 0, failed: 0))
    /// How often a key could not be read.
    let failures: AsyncStream<Int>
    private let failed: AsyncStream<Int>.Continuation

    init(of store: Store) {
        storage = StoreAccess(store: store)
        (failures, failed) = AsyncStream.makeStream(of: Int.self)
    }

    func fail(times count: Int) { left.withLock { $0.failing = count } }

    func row(_ id: String) async throws -> AccessKeyTable.Row? {
        let count: Int? = left.withLock { left in
            guard left.failing > 0 else { return nil }
            left.failing -= 1
            left.failed += 1
            return left.failed
        }
        if let count {
            failed.yield(count)
            throw Busy()
        }
        return try await storage.row(id)
    }

    var clock: StoreClock { storage.clock }
    func prepare() throws { try storage.prepare() }
    func insert(_ row: AccessKeyTable.Row) async throws { try await storage.insert(row) }
    func keys() async throws -> APIKeyList { try await storage.keys() }
    func remove(_ id: String) async throws -> Bool { try await storage.remove(id) }
    func noteUse(of id: String, at time: Int64) async { await storage.noteUse(of: id, at: time) }

    func principals(in name: ReplicaName) async throws -> [ClientID: String] {
        try await storage.principals(in: name)
    }

    func principals(of clients: [ClientID], in name: ReplicaName) async throws -> [Key?] {
        try await storage.principals(of: clients, in: name)
    }

    func clientCount(of name: ReplicaName, for identity: Key) async throws -> Int {
        try await storage.clientCount(of: name, for: identity)
    }

    func bind(_ client: ClientID, of name: ReplicaName, to identity: Key) async throws {
        try await storage.bind(client, of: name, to: identity)
    }
}
