import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitReplication

/// Who follows a replica hears of every new head, whenever it comes.
@Suite struct FollowerTests {
    @Test func `who follows is there before the first head is read`() async throws {
        let storage = WatchedStorage(try await SQLiteLineStorage(try Store(.memory)))
        let server = ReplicaServer(storage)
        try await server.create(.simulated)
        // A notice between the head and the subscription would have no subscriber.
        storage.whenHeadIsRead { [weak server] in
            #expect(server?.followedNames == [.simulated])
        }
        let heads = try await server.heads(of: .simulated)
        var iterator = heads.makeAsyncIterator()
        #expect(await iterator.next() == .root)
        #expect(storage.headCount == 1)
    }

    @Test func `a stream of a replica that is not there follows nothing`() async throws {
        let server = try await ReplicaServer(Store(.memory))
        await #expect(throws: ReplicationError.unknownReplica("simulated")) {
            _ = try await server.heads(of: .simulated)
        }
        #expect(server.followedNames == [])
    }

    @Test func `each of several streams begins with the head`() async throws {
        let server = try await ReplicaServer(Store(.memory))
        try await server.create(.simulated)
        for _ in 0..<3 {
            var iterator = try await server.heads(of: .simulated).makeAsyncIterator()
            #expect(await iterator.next() == .root)
        }
        #expect(server.followedNames == [])
    }
}

/// A storage that says when a head is read.
private final class WatchedStorage: LineStorage {
    private struct State {
        var headCount = 0
        var whenHeadIsRead: @Sendable () -> Void = {}
    }

    private let storage: any LineStorage
    private let state = Mutex(State())

    init(_ storage: any LineStorage) { self.storage = storage }

    var headCount: Int { state.withLock(\.headCount) }

    func whenHeadIsRead(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenHeadIsRead = body }
    }

    func head(of name: ReplicaName) async throws -> LineState {
        let body = state.withLock { state in
            state.headCount += 1
            return state.whenHeadIsRead
        }
        body()
        return try await storage.head(of: name)
    }

    func create(_ name: ReplicaName, epoch: Epoch) async throws {
        try await storage.create(name, epoch: epoch)
    }

    func load(_ reads: LineReads, of name: ReplicaName) async throws -> LineSlice {
        try await storage.load(reads, of: name)
    }

    func commit(
        _ writes: LineWrites,
        decidedOn slice: LineSlice,
        of name: ReplicaName
    ) async throws -> Bool {
        try await storage.commit(writes, decidedOn: slice, of: name)
    }

    func answer(
        _ request: RangeRequest,
        with state: LineState,
        of name: ReplicaName
    ) async throws -> [SpanAnswer]? {
        try await storage.answer(request, with: state, of: name)
    }

    func summary(of name: ReplicaName) async throws -> ReplicaSummary {
        try await storage.summary(of: name)
    }

    func objects(of name: ReplicaName) async throws -> [ObjectKey: VersionedValue] {
        try await storage.objects(of: name)
    }

    func lastChanges(
        of keys: [ObjectKey],
        in name: ReplicaName
    ) async throws -> [ObjectKey: LastChange] {
        try await storage.lastChanges(of: keys, in: name)
    }

    func names() async throws -> [ReplicaName] { try await storage.names() }

    func clients(of name: ReplicaName) async throws -> [ReplicaClient] {
        try await storage.clients(of: name)
    }

    func forget(_ client: ClientID, of name: ReplicaName) async throws -> Bool {
        try await storage.forget(client, of: name)
    }

    func collectGarbage(of name: ReplicaName, rowMax: Int) async throws -> Bool {
        try await storage.collectGarbage(of: name, rowMax: rowMax)
    }
}
