import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitReplication

private let lists = StoreCollection<Value>("lists")
private let cards = StoreCollection<Value>("cards")
private let list = ObjectKey(collection: "lists", key: "a")

/// Answers that come late, transactions that fail, other programs, and damaged files.
@Suite struct StoredFaultTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func add(_ number: Int, _ store: Store) async throws {
        try await store.write {
            try $0.set(["id": .int(Int64(number))], for: "c\(number)", in: cards)
        }
    }

    private static func count(_ number: Int, _ store: Store) async throws {
        try await store.write { transaction in
            try transaction.edit("a", in: lists) { $0.count += number }
        }
    }

    /// A device with a list in which something is counted, in sync.
    private static func counting(_ line: TestLine = TestLine()) async throws -> Pair {
        let pair = try await Pair(Store(.memory), line)
        try await pair.replica.store.write { try $0.set(["count": 0], for: "a", in: lists) }
        try await pair.synchronize()
        return pair
    }

    private func store(_ name: String) throws -> Store {
        var options = Store.Options()
        options.processes = .several
        return try Store(.file(folder.path(name)), options: options)
    }
}

/// Comparisons while a batch is under way.
extension StoredFaultTests {
    @Test func `a batch whose answer is lost counts once for a device that compares`() async throws
    {
        let ours = try await Self.counting()
        let (replica, store) = (ours.replica, ours.replica.store)
        try await Self.count(5, store)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        _ = try ours.line.serve(request)
        try await Self.count(2, store)
        try await store.write { try replica.distrust(in: $0) }
        try await ours.synchronize()
        #expect(ours.line.objects[list] == ["count": 7])
        #expect(try await store.read { try $0.get("a", in: lists) } == ["count": 7])
        #expect(try await store.write { try replica.problems(in: $0) } == [])
    }

    @Test func `what others add counts beside a number that is set while an answer is lost`()
        async throws
    {
        let ours = try await Self.counting()
        let theirs = try await Pair(Store(.memory), ours.line)
        try await theirs.synchronize()
        let (replica, store) = (ours.replica, ours.replica.store)
        try await Self.count(1, store)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        _ = try ours.line.serve(request)
        try await Self.count(1, theirs.replica.store)
        try await theirs.synchronize()
        try await store.write { try $0.set(["count": 2], for: "a", in: lists) }
        try await ours.synchronize()
        #expect(ours.line.objects[list] == ["count": 3])
    }

    @Test func `a batch that never arrived is sent by a device that compares`() async throws {
        let ours = try await Self.counting()
        let (replica, store) = (ours.replica, ours.replica.store)
        try await Self.count(5, store)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        try await store.write { try replica.distrust(in: $0) }
        try await ours.synchronize()
        #expect(ours.line.objects[list] == ["count": 5])
        _ = try ours.line.serve(request)
        #expect(ours.line.objects[list] == ["count": 5])
    }

    @Test func `a device that compares learns of its clone`() async throws {
        let line = TestLine()
        let ours = try await Pair(store("ours.sqlite"), line)
        try await Self.add(1, ours.replica.store)
        try await ours.synchronize()
        try await ours.replica.store.backup(to: folder.path("clone.sqlite"))
        let clone = try await Pair(store("clone.sqlite"), line)
        try await Self.add(2, clone.replica.store)
        try await clone.synchronize()
        try await Self.add(3, ours.replica.store)
        _ = try await ours.replica.store.write { try ours.replica.nextRequest(in: $0) }
        try await ours.replica.store.write { try ours.replica.distrust(in: $0) }
        for pair in [ours, clone] { try await pair.synchronize() }
        #expect(line.objects.count == 3)
        #expect(try await ours.client != clone.client)
    }

    @Test func `a device that takes a third id names the one that the server knows`() throws {
        let ids = try (1...3).map { number in
            ClientID(try #require(Identifier(bytes: [UInt8](repeating: UInt8(number), count: 16))))
        }
        var slice = DeviceSlice(
            replica: DeviceReplica(),
            identity: DeviceIdentity(client: ids[0]),
            pending: [:],
            objects: [:]
        )
        for id in ids[1...] {
            let adoption = try slice.forked(fresh: id)
            (slice.replica, slice.identity) = (adoption.replica, adoption.identity)
        }
        #expect(slice.identity.client == ids[2])
        #expect(slice.replica.former == ids[0])
    }
}

/// Requests of several replicas, and of several programs.
extension StoredFaultTests {
    @Test func `two replicas of one server may ask at once`() async throws {
        let store = try Store(.memory)
        let ours = try await Pair(store)
        let notes = try await Pair(store, named: ReplicaName("notes"), collections: ["notes"])
        try await Self.add(1, store)
        try await store.write { try $0.set("x", for: "n", in: StoreCollection<Value>("notes")) }
        var requests: [ReplicaRequest] = []
        for pair in [ours, notes] {
            requests.append(try await store.write { try pair.replica.nextRequest(in: $0) })
        }
        for (pair, request) in zip([ours, notes], requests) {
            let answer = try pair.line.serve(request)
            let isBehind = try await store.write {
                try pair.replica.receive(answer, to: request, in: $0)
            }
            #expect(!isBehind)
        }
    }

    @Test func `an answer is dropped when another program has gone on`() async throws {
        let line = TestLine()
        let ours = try await Pair(store("store.sqlite"), line)
        let other = try await Pair(store("store.sqlite"), line)
        try await Self.add(1, ours.replica.store)
        let request = try await ours.replica.store.write { try ours.replica.nextRequest(in: $0) }
        let answer = try line.serve(request)
        try await other.synchronize()
        try await Self.add(2, other.replica.store)
        try await other.synchronize()
        try await ours.replica.store.write {
            try ours.replica.receive(answer, to: request, in: $0)
        }
        #expect(try await ours.replica.store.write { try ours.replica.problems(in: $0) } == [])
        try await Self.add(3, ours.replica.store)
        for pair in [ours, other] { try await pair.synchronize() }
        #expect(line.objects.count == 3)
    }

    @Test func `a collection that another program adds is sent here too`() async throws {
        let calls = Mutex(0)
        let store = try store("store.sqlite")
        let ours = try await Replica.open(
            .simulated,
            server: "line",
            in: store,
            collections: ["lists"]
        ) { _ in calls.withLock { $0 += 1 } }
        let line = TestLine()
        let pair = Pair(ours, line)
        let other = try await Pair(self.store("store.sqlite"), line)
        other.replica.close()
        try await store.write { try $0.set(["count": 0], for: "a", in: cards) }
        #expect(calls.withLock { $0 } == 1)
        try await pair.synchronize()
        for _ in 0..<2 {
            try await store.write { transaction in
                try transaction.edit("a", in: cards) { $0.count += 1 }
            }
        }
        let theirs = try await Pair(Store(.memory), line)
        try await theirs.synchronize()
        try await theirs.replica.store.write { transaction in
            try transaction.edit("a", in: cards) { $0.count += 5 }
        }
        for pair in [theirs, pair] { try await pair.synchronize() }
        #expect(line.objects[ObjectKey(collection: "cards", key: "a")] == ["count": 7])
    }

    @Test func `a collection that loses objects by itself does not join through an answer`()
        async throws
    {
        let ours = try await Pair(Store(.memory))
        try await Self.add(1, ours.replica.store)
        try await ours.synchronize()
        var options = Store.Options()
        options.collections = [CollectionRules(cards, retention: .count(3))]
        let store = try Store(.memory, options: options)
        let theirs = try await Pair(store, ours.line, collections: ["lists"])
        await #expect(
            throws: ReplicationError.unsuitableCollection("cards", reason: "it has a retention")
        ) { try await theirs.synchronize() }
        #expect(try await store.read { try $0.count(in: cards) } == 0)
    }

    @Test func `a server cannot choose which objects are sent to it`() async throws {
        let ours = try await Pair(Store(.memory), collections: ["lists"])
        let secret = StoreCollection<Value>("secret")
        try await ours.replica.store.write { try $0.set("s", for: "a", in: secret) }
        let theirs = try await Pair(Store(.memory), ours.line, collections: ["secret"])
        try await theirs.replica.store.write { try $0.set("t", for: "b", in: secret) }
        try await theirs.synchronize()
        await #expect(throws: ReplicationError.self) { try await ours.synchronize() }
        #expect(ours.line.objects.count == 1)
    }

    @Test func `a collection of a replica cannot get a retention later`() async throws {
        let ours = try await Pair(store("store.sqlite"))
        try ours.replica.store.close()
        var options = Store.Options()
        options.processes = .several
        options.collections = [CollectionRules(cards, retention: .count(3))]
        let again = try Store(.file(folder.path("store.sqlite")), options: options)
        await #expect(throws: ReplicationError.self) {
            try await Pair(again, collections: ["lists"])
        }
    }
}

/// Transactions that fail, and versions.
extension StoredFaultTests {
    @Test func `no nonce is used again after a commit that fails`() async throws {
        let ours = try await Pair(Store(.memory))
        let (replica, store) = (ours.replica, ours.replica.store)
        try await store.write { transaction in
            try transaction.database.execute(
                sql: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (
                        parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)
                    """
            )
            transaction.touch()
        }
        func nonce() async throws -> Int64 {
            let request = try await store.write { try replica.nextRequest(in: $0) }
            guard case .exchange(let request) = request.request else { return 0 }
            return request.nonce
        }
        var nonces: [Int64] = []
        for _ in 0..<4 {
            for _ in 0..<2 { nonces.append(try await nonce()) }
            await #expect(throws: (any Error).self) {
                try await store.write { transaction in
                    _ = try replica.nextRequest(in: transaction)
                    try transaction.database.execute(sql: "INSERT INTO child VALUES (1)")
                    transaction.touch()
                }
            }
        }
        #expect(Set(nonces).count == nonces.count)
        #expect(nonces.sorted() == nonces)
    }

    @Test func `an edit is sent with a version that changes beside it`() async throws {
        let ours = try await Self.counting()
        try await ours.replica.store.write { transaction in
            try transaction.edit("a", in: lists) { $0.count += 1 }
            let value = try #require(try transaction.value(of: list))
            try transaction.setValue(value, version: 3, of: list)
        }
        try await ours.synchronize()
        let object = try #require(ours.line.backup.objects[list]?.value)
        #expect(object == VersionedValue(["count": 1], version: 3))
    }
}

/// Files that were damaged, and saved in part.
extension StoredFaultTests {
    /// Opens a store again whose file has a damaged object.
    private func salvaged(
        _ pair: Pair,
        without key: String,
        and more: String = ""
    ) async throws -> Pair {
        let path = folder.path("store.sqlite")
        try pair.replica.store.close()
        let database = try DatabaseQueue(path: path)
        try await database.write { database in
            try database.execute(
                sql: "UPDATE godwit_object SET seal = zeroblob(32) WHERE key = ?",
                arguments: [key]
            )
            try database.execute(sql: "UPDATE godwit_ledger SET seal = zeroblob(32)")
            try database.execute(sql: more)
        }
        try database.close()
        var options = Store.Options()
        options.recovery = .salvage
        let store = try Store(.file(path), options: options)
        #expect(store.recovery != nil)
        return try await Pair(store, pair.line)
    }

    @Test func `a salvaged store gets back from the server what it has lost`() async throws {
        let ours = try await Pair(store("store.sqlite"))
        for number in 1...40 { try await Self.add(number, ours.replica.store) }
        try await ours.synchronize()
        let objects = ours.line.objects
        let again = try await salvaged(ours, without: "c7")
        #expect(try await again.replica.store.read { try $0.count(in: cards) } == 39)
        try await again.synchronize()
        #expect(again.line.objects == objects)
        #expect(try await again.replica.store.read { try $0.count(in: cards) } == 40)
        let problems = try await again.replica.store.write { try again.replica.problems(in: $0) }
        #expect(problems == [])
    }

    @Test func `a salvage that loses an edited object does not remove it`() async throws {
        let ours = try await Pair(store("store.sqlite"))
        for number in 1...40 { try await Self.add(number, ours.replica.store) }
        try await ours.synchronize()
        try await ours.replica.store.write { try $0.set(["id": 70], for: "c7", in: cards) }
        let again = try await salvaged(ours, without: "c7")
        try await again.synchronize()
        #expect(again.line.objects.count == 40)
        #expect(try await again.replica.store.read { try $0.count(in: cards) } == 40)
    }

    @Test func `a salvage that loses an object whose creation was held back brings it back`()
        async throws
    {
        let ours = try await Pair(store("store.sqlite"))
        let theirs = try await Pair(Store(.memory), ours.line)
        for number in 1...40 { try await Self.add(number, ours.replica.store) }
        try await ours.synchronize()
        try await theirs.replica.store.write { try $0.set(["theirs": 1], for: "c0", in: cards) }
        try await theirs.synchronize()
        let (replica, store) = (ours.replica, ours.replica.store)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        let answer = try ours.line.serve(request)
        try await store.write { try $0.set(["ours": 1], for: "c0", in: cards) }
        try await store.write { try replica.receive(answer, to: request, .heldBack, in: $0) }

        let again = try await salvaged(ours, without: "c0")
        let place = ObjectKey(collection: "cards", key: "c0")
        #expect(try await again.replica.store.read { try $0.value(of: place) } == ["ours": 1])
        try await again.synchronize()
        #expect(again.line.objects[place] == ["ours": 1, "theirs": 1])
    }

    @Test func `a salvage that loses the replica's row removes nothing`() async throws {
        let ours = try await Pair(store("store.sqlite"))
        for number in 1...40 { try await Self.add(number, ours.replica.store) }
        try await ours.synchronize()
        try await ours.replica.store.write { try $0.set(["id": 80], for: "c8", in: cards) }
        let lost = "DELETE FROM godwit_device_replica"
        let again = try await salvaged(ours, without: "c7", and: lost)
        try await again.synchronize()
        // The head stays, because nothing says which of the two is newer, and both are recorded.
        let eight = ObjectKey(collection: "cards", key: "c8")
        let record = try #require(ConflictRecord.key(about: eight))
        #expect(again.line.objects[eight] == ["id": 8])
        #expect(again.line.objects[record] != nil)
        let store = again.replica.store
        #expect(try await store.read { try $0.count(in: cards) } == 40)
        #expect(try await store.write { try again.replica.problems(in: $0) } == [])
    }

    @Test func `a salvaged store removes nothing from a server that was restored`() async throws {
        let ours = try await Pair(store("store.sqlite"))
        for number in 1...20 { try await Self.add(number, ours.replica.store) }
        try await ours.synchronize()
        let backup = ours.line.backup
        for number in 21...40 { try await Self.add(number, ours.replica.store) }
        try await ours.synchronize()
        let again = try await salvaged(ours, without: "c7")
        ours.line.backup = backup
        try await again.synchronize()
        #expect(again.line.objects.count == 40)
        #expect(try await again.replica.store.read { try $0.count(in: cards) } == 40)
    }
}
