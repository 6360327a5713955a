import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

private let lists = StoreCollection<Value>("lists")
private let cards = StoreCollection<Value>("cards")
private let list = ObjectKey(collection: "lists", key: "a")

/// What clones of a device, other programs and restored servers do between a request and its answer.
@Suite struct StoredForkTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store(_ name: String) throws -> Store {
        var options = Store.Options()
        options.processes = .several
        return try Store(.file(folder.path(name)), options: options)
    }

    private static func add(_ number: Int, _ pair: Pair) async throws {
        try await pair.replica.store.write {
            try $0.set(["id": .int(Int64(number))], for: "c\(number)", in: cards)
        }
    }

    private static func count(_ number: Int, _ pair: Pair) async throws {
        try await pair.replica.store.write { transaction in
            try transaction.edit("a", in: lists) { $0.count += number }
        }
    }

    /// A device with a list in which something is counted, in sync.
    private func counting(_ line: TestLine = TestLine()) async throws -> Pair {
        let pair = try await Pair(store("ours.sqlite"), line)
        try await pair.replica.store.write { try $0.set(["count": 0], for: "a", in: lists) }
        try await pair.synchronize()
        return pair
    }

    private func clone(_ pair: Pair) async throws -> Pair {
        try await pair.replica.store.backup(to: folder.path("clone.sqlite"))
        return try await Pair(store("clone.sqlite"), pair.line)
    }

    /// Makes one request, and takes in its answer.
    @discardableResult
    private static func exchange(_ pair: Pair) async throws -> Bool {
        let replica = pair.replica
        let request = try await replica.store.write { try replica.nextRequest(in: $0) }
        let answer = try pair.line.serve(request)
        return try await replica.store.write {
            try replica.receive(answer, to: request, in: $0)
        }
    }

    @Test func `a device that learns of its clone asks again`() async throws {
        let ours = try await counting()
        let theirs = try await clone(ours)
        try await Self.add(1, theirs)
        try await theirs.synchronize()
        #expect(try await Self.exchange(ours))
        try await ours.synchronize()
        #expect(try await ours.replica.store.read { try $0.keys(in: cards) } == ["c1"])
    }

    @Test func `a program that uses up the nonces of a device does not end it`() async throws {
        let ours = try await counting()
        try await Self.count(5, ours)
        let replica = ours.replica
        // What is under way is lost, and a recovery that another program asks for has the last nonce.
        let request = try await replica.store.write { try replica.nextRequest(in: $0) }
        let status = try await replica.status()
        ours.line.setNonce((1 << 55) - 1, of: status.client)
        #expect(request.client == status.client)
        try await ours.synchronize()
        #expect(ours.line.objects[list] == ["count": 5])
        #expect(try await replica.status().client != status.client)
        #expect(try await !replica.status().isDirty)
    }

    @Test func `an edit after a fork counts beside what the clone has sent`() async throws {
        let ours = try await counting()
        try await Self.count(5, ours)
        let theirs = try await clone(ours)
        try await theirs.synchronize()
        try await Self.exchange(ours)
        try await Self.count(2, ours)
        for pair in [ours, theirs] { try await pair.synchronize() }
        #expect(ours.line.objects[list] == ["count": 7])
        for pair in [ours, theirs] {
            let store = pair.replica.store
            #expect(try await store.read { try $0.get("a", in: lists) } == ["count": 7])
            #expect(try await store.write { try pair.replica.problems(in: $0) } == [])
        }
    }

    @Test func `a batch of another replica is not doubled when a clone is found`() async throws {
        let ours = try await counting()
        let store = ours.replica.store
        let notes = StoreCollection<Value>("notes")
        let note = ObjectKey(collection: "notes", key: "n")
        let other = try await Pair(store, named: ReplicaName("notes"), collections: ["notes"])
        try await store.write { try $0.set(["count": 0], for: "n", in: notes) }
        try await other.synchronize()
        let theirs = try await clone(ours)
        try await Self.add(1, theirs)
        try await theirs.synchronize()
        try await store.write { transaction in
            try transaction.edit("n", in: notes) { $0.count += 5 }
        }
        let late = try await store.write { try other.replica.nextRequest(in: $0) }
        try await ours.synchronize()
        try await store.write { transaction in
            try transaction.edit("n", in: notes) { $0.count += 2 }
        }
        try await other.synchronize()
        _ = try other.line.serve(late)
        try await other.synchronize()
        #expect(other.line.objects[note] == ["count": 7])
        #expect(try await store.read { try $0.get("n", in: notes) } == ["count": 7])
        #expect(try await other.client == ours.client)
        #expect(try await store.write { try other.replica.problems(in: $0) } == [])
    }

    @Test func `a comparison begins anew when another program has gone on`() async throws {
        let ours = try await counting()
        let other = try await Pair(store("ours.sqlite"), ours.line)
        // The server keeps the state with which the comparison begins for another device.
        try await Pair(Store(.memory), ours.line).synchronize()
        let client = try await ours.client
        try await ours.replica.store.write { try ours.replica.distrust(in: $0) }
        #expect(try await Self.exchange(ours))
        for number in 1...3 {
            try await Self.count(number, other)
            try await other.synchronize()
        }
        try await Self.count(10, ours)
        try await ours.synchronize()
        #expect(ours.line.objects[list] == ["count": 16])
        #expect(try await ours.client == client)
    }

    @Test func `an answer is dropped when another program has gone on and this one has asked`()
        async throws
    {
        let ours = try await counting()
        let notes = try await Pair(
            ours.replica.store,
            named: ReplicaName("notes"),
            collections: ["notes"]
        )
        let other = try await Pair(store("ours.sqlite"), ours.line)
        let replica = ours.replica
        try await Self.count(1, ours)
        let request = try await replica.store.write { try replica.nextRequest(in: $0) }
        let answer = try ours.line.serve(request)
        try await other.synchronize()
        try await Self.count(2, other)
        try await other.synchronize()
        // The other replica takes a nonce behind those of the other program.
        try await notes.synchronize()
        let isBehind = try await replica.store.write {
            try replica.receive(answer, to: request, in: $0)
        }
        #expect(isBehind)
        #expect(try await replica.store.write { try replica.problems(in: $0) } == [])
        try await ours.synchronize()
        #expect(try await replica.store.read { try $0.get("a", in: lists) } == ["count": 3])
    }

    @Test func `what was removed stays removed when one backup is restored twice`() async throws {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        let theirs = try await Pair(Store(.memory), line)
        try await Self.add(1, ours)
        for pair in [ours, theirs] { try await pair.synchronize() }
        let backup = line.backup
        for number in [2, 4] {
            try await Self.add(number, ours)
            for pair in [ours, theirs] { try await pair.synchronize() }
        }
        line.backup = backup
        for pair in [ours, theirs] { try await pair.synchronize() }
        try await Self.add(3, ours)
        for pair in [ours, theirs] { try await pair.synchronize() }
        try await ours.replica.store.write { try $0.remove("c2", in: cards) }
        try await ours.synchronize()
        line.backup = backup
        for pair in [ours, theirs, ours] { try await pair.synchronize() }
        for pair in [ours, theirs] {
            let keys = try await pair.replica.store.read { try $0.keys(in: cards) }
            #expect(keys == ["c1", "c3", "c4"])
        }
    }

    @Test func `an answer to other objects than the device has makes it compare them`() async throws
    {
        let ours = try await Pair(Store(.memory))
        let theirs = try await Pair(Store(.memory), ours.line)
        let store = ours.replica.store
        try await store.write { try $0.set(["items": ["x", "y", "z"]], for: "a", in: lists) }
        for pair in [ours, theirs] { try await pair.synchronize() }
        try await store.write { try $0.set(["items": 1], for: "a", in: lists) }
        try await store.write { transaction in
            try transaction.database.execute(sql: "DELETE FROM godwit_device_pending")
            transaction.touch()
        }
        try await theirs.replica.store.write { transaction in
            try transaction.edit("a", in: lists) { $0.items[2] = "w" }
        }
        try await theirs.synchronize()
        await #expect(throws: ReplicationError.wrongContent) { try await ours.synchronize() }
        try await store.write { try ours.replica.distrust(in: $0) }
        try await ours.synchronize()
        let found = try await store.read { try $0.get("a", in: lists) }
        #expect(found == ["items": ["x", "y", "w"]])
    }

    @Test func `a fork doubts the edit of a refused object, too`() throws {
        let key = ObjectKey(collection: "lists", key: "a")
        var value: Value = ["count": 5]
        let edit = ObjectDelta(.apply(try value.edit { $0.count += 1 }), version: 1)
        let row = PendingObject(
            base: VersionedValue(["count": 8]),
            frozen: edit,
            tail: .set(VersionedValue(["count": 5])),
            rejection: .editedHere
        )
        let slice = DeviceSlice(
            replica: DeviceReplica(),
            identity: DeviceIdentity(client: ClientID(Identifier(high: 1, low: 1))),
            pending: [key: row],
            objects: [key: VersionedValue(["count": 6])]
        )
        let adoption = try slice.forked(fresh: ClientID(Identifier(high: 2, low: 2)))
        var wanted = row
        wanted.isDoubtful = true
        #expect(adoption.pending[key] == .some(wanted))
    }
}
