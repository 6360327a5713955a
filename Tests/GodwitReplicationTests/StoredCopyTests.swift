import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

private let lists = StoreCollection<Value>("lists")
private let cards = StoreCollection<Value>("cards")

/// Backups that are restored, clones, and several servers.
@Suite struct StoredCopyTests {
    private static func keys(_ pair: Pair) async throws -> [String] {
        try await pair.replica.store.read { try $0.keys(in: cards) }
    }

    private static func add(_ number: Int, _ pair: Pair) async throws {
        try await pair.replica.store.write {
            try $0.set(["id": .int(Int64(number))], for: "c\(number)", in: cards)
        }
    }

    /// A copy of a store's file, opened.
    private static func copy(_ store: Store, _ folder: TemporaryFolder) async throws -> Store {
        let path = folder.path("copy.sqlite")
        try await store.backup(to: path)
        return try Store(.file(path))
    }

    @Test func `a clone takes an id of its own, and what both write is there`() async throws {
        let (folder, line) = (try TemporaryFolder(), TestLine())
        let store = try Store(.file(folder.path("store.sqlite")))
        let ours = try await Pair(store, line)
        let notes = ReplicaName("notes")
        let other = try await Pair(store, TestLine(), named: notes, collections: ["notes"])
        try await Self.add(1, ours)
        try await ours.synchronize()
        let theirs = try await Pair(Self.copy(store, folder), line)
        let copies = try await Pair(
            theirs.replica.store,
            other.line,
            named: notes,
            collections: ["notes"]
        )
        #expect(try await ours.client == theirs.client)
        for (number, pair) in [(2, ours), (3, theirs), (4, ours), (5, theirs)] {
            try await Self.add(number, pair)
            try await pair.synchronize()
        }
        for pair in [ours, theirs] { try await pair.synchronize() }
        for pair in [ours, theirs] {
            #expect(try await Self.keys(pair) == ["c1", "c2", "c3", "c4", "c5"])
        }
        #expect(line.objects.count == 5)
        let clients = Set([try await ours.client, try await theirs.client])
        #expect(clients.count == 2)
        // The other replica of the clone has the same server, and takes the same id.
        #expect(try await copies.client == theirs.client)
        #expect(try await other.client == ours.client)
    }

    @Test func `a device that was restored from a backup gets what it had sent`() async throws {
        let (folder, line) = (try TemporaryFolder(), TestLine())
        let store = try Store(.file(folder.path("store.sqlite")))
        let ours = try await Pair(store, line)
        try await Self.add(1, ours)
        try await ours.synchronize()
        let backup = try await Self.copy(store, folder)
        try await Self.add(2, ours)
        try await ours.replica.store.write { try $0.remove("c1", in: cards) }
        try await ours.synchronize()
        let restored = try await Pair(backup, line)
        try await Self.add(3, restored)
        try await restored.synchronize()
        #expect(try await Self.keys(restored) == ["c2", "c3"])
        #expect(line.objects.count == 2)
    }

    @Test func `a server that was restored from a backup gets back what it has lost`() async throws
    {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        let theirs = try await Pair(Store(.memory), line)
        for number in 1...3 { try await Self.add(number, ours) }
        for pair in [ours, theirs] { try await pair.synchronize() }
        let backup = line.backup
        try await ours.replica.store.write { try $0.remove("c1", in: cards) }
        try await Self.add(4, theirs)
        for pair in [ours, theirs, ours] { try await pair.synchronize() }
        line.backup = backup
        try await Self.add(5, ours)
        for pair in [ours, theirs, ours] { try await pair.synchronize() }
        for pair in [ours, theirs] {
            #expect(try await Self.keys(pair) == ["c2", "c3", "c4", "c5"])
        }
        #expect(line.objects.count == 4)
    }

    @Test func `a device that does not trust its objects compares them`() async throws {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        for number in 1...100 { try await Self.add(number, ours) }
        try await ours.synchronize()
        try await Self.add(101, ours)
        try await ours.replica.store.write { try ours.replica.distrust(in: $0) }
        try await ours.synchronize()
        #expect(try await Self.keys(ours).count == 101)
        #expect(line.objects.count == 101)
        #expect(try await ours.replica.store.write { try ours.replica.problems(in: $0) } == [])
    }

    @Test func `one collection may be in replicas of two servers`() async throws {
        let store = try Store(.memory)
        let ours = try await Pair(store)
        let mirror = try await Pair(store, server: "mirror")
        let theirs = try await Pair(Store(.memory), mirror.line)
        try await Self.add(1, ours)
        try await Self.add(2, theirs)
        for pair in [ours, theirs, mirror, ours] { try await pair.synchronize() }
        #expect(try await Self.keys(ours) == ["c1", "c2"])
        #expect(ours.line.objects == mirror.line.objects)
        #expect(ours.line.objects.count == 2)
        #expect(try await ours.client != mirror.client)
    }

    @Test func `an object that a hook refuses is not removed when the server is another one`()
        async throws
    {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        let theirs = try await Pair(Store(.memory), line)
        try await Self.add(1, ours)
        for pair in [ours, theirs] { try await pair.synchronize() }
        try await ours.replica.store.write { try $0.set(["id": -1], for: "c1", in: cards) }
        try await ours.synchronize()
        let (store, replica) = (theirs.replica.store, theirs.replica)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        let answer = try line.serve(request)
        try await store.write { try replica.receive(answer, to: request, .heldBack, in: $0) }
        #expect(try await replica.refusedObjects().count == 1)

        let other = Pair(replica, TestLine())
        try await other.synchronize()
        #expect(try await Self.keys(other) == ["c1"])
        #expect(other.line.objects.count == 1)
    }
}
