import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

private let lists = StoreCollection<Value>("lists")
private let cards = StoreCollection<Value>("cards")

/// What an app does with a replica in a store.
@Suite struct StoredReplicaTests {
    @Test func `edits of two devices meet as they were recorded`() async throws {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        let theirs = try await Pair(Store(.memory), line)
        let items: Value = ["Milk", "Bread", "Salt"]
        try await ours.replica.store.write {
            try $0.set(["items": items, "count": 0, "note": "for the party"], for: "a", in: lists)
        }
        try await ours.synchronize()
        try await theirs.synchronize()
        try await ours.replica.store.write { transaction in
            try transaction.edit("a", in: lists) {
                $0.items.list.move(from: 2, to: 0)
                $0.count += 1
            }
        }
        try await ours.replica.store.write { transaction in
            try transaction.edit("a", in: lists) { $0.count += 1 }
        }
        try await theirs.replica.store.write { transaction in
            try transaction.edit("a", in: lists) {
                $0.items.list.append("Tea")
                $0.count += 5
                $0.note.text.append(" on Friday")
            }
        }
        for _ in 0..<2 {
            try await ours.synchronize()
            try await theirs.synchronize()
        }
        let wanted: Value = [
            "items": ["Salt", "Milk", "Bread", "Tea"], "count": 7,
            "note": "for the party on Friday",
        ]
        for pair in [ours, theirs] {
            #expect(try await pair.replica.store.read { try $0.get("a", in: lists) } == wanted)
        }
    }

    @Test func `a device that compares its objects while the line grows ends at the head`()
        async throws
    {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        let theirs = try await Pair(Store(.memory), line)
        for pair in [ours, theirs] { try await pair.synchronize() }
        try await ours.replica.store.write { try $0.set(["id": 1], for: "c1", in: cards) }
        for pair in [ours, theirs] { try await pair.synchronize() }
        let replica = theirs.replica
        try await replica.store.write { try replica.distrust(in: $0) }
        // The server names the state to compare with, and the line goes on.
        let request = try await replica.store.write { try replica.nextRequest(in: $0) }
        let answer = try line.serve(request)
        _ = try await replica.store.write { try replica.receive(answer, to: request, in: $0) }
        try await ours.replica.store.write { try $0.set(["id": 2], for: "c2", in: cards) }
        try await ours.synchronize()
        try await theirs.synchronize()
        #expect(try await replica.base().serial == line.serial)
        #expect(try await replica.store.read { try $0.keys(in: cards) } == ["c1", "c2"])
    }

    @Test func `objects that were there before are sent`() async throws {
        let (line, store) = (TestLine(), try Store(.memory))
        try await store.write { try $0.set(["id": 1], for: "c1", in: cards) }
        let ours = try await Pair(store, line, collections: ["lists"])
        try await ours.synchronize()
        #expect(line.objects.isEmpty)
        ours.replica.close()
        try await Pair(store, line).synchronize()
        #expect(line.objects == [ObjectKey(collection: "cards", key: "c1"): ["id": 1]])
    }

    @Test func `a collection that another device has added joins here`() async throws {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        let theirs = try await Pair(Store(.memory), line, collections: ["lists"])
        try await ours.replica.store.write { try $0.set(["id": 1], for: "c1", in: cards) }
        for pair in [ours, theirs] { try await pair.synchronize() }
        try await theirs.replica.store.write { try $0.set(["id": 2], for: "c2", in: cards) }
        for pair in [theirs, ours] { try await pair.synchronize() }
        for pair in [ours, theirs] {
            #expect(try await pair.replica.store.read { try $0.keys(in: cards) } == ["c1", "c2"])
        }
    }

    @Test func `what another program writes is sent`() async throws {
        let folder = try TemporaryFolder()
        var options = Store.Options()
        options.processes = .several
        let location = StoreLocation.file(folder.url.appendingPathComponent("store.sqlite").path)
        let store = try Store(location, options: options)
        let ours = try await Pair(store)
        try await store.write { try $0.set(["count": 0], for: "a", in: lists) }
        try await ours.synchronize()
        let other = try Store(location, options: options)
        try await other.write { transaction in
            try transaction.edit("a", in: lists) { $0.count += 2 }
            try transaction.set(["id": 1], for: "c1", in: cards)
        }
        try await store.write { transaction in
            try transaction.edit("a", in: lists) { $0.count += 1 }
        }
        try await other.write { transaction in
            try transaction.remove("c1", in: cards)
            try transaction.set(["id": 2], for: "c2", in: cards)
        }
        try await ours.synchronize()
        #expect(
            ours.line.objects == [
                ObjectKey(collection: "lists", key: "a"): ["count": 3],
                ObjectKey(collection: "cards", key: "c2"): ["id": 2],
            ]
        )
    }

    @Test func `a change that is taken back is not sent`() async throws {
        let ours = try await Pair(Store(.memory))
        try await ours.replica.store.write { try $0.set(["id": 1], for: "c1", in: cards) }
        try await ours.synchronize()
        let serial = ours.line.serial
        try await ours.replica.store.write { try $0.set(["id": 2], for: "c1", in: cards) }
        try await ours.replica.store.write { try $0.set(["id": 1], for: "c1", in: cards) }
        try await ours.replica.store.write { try $0.set(["id": 3], for: "c3", in: cards) }
        try await ours.replica.store.write { try $0.remove("c3", in: cards) }
        try await ours.synchronize()
        #expect(ours.line.serial == serial)
    }

    @Test func `an exchange that moves nothing writes nothing`() async throws {
        let ours = try await Pair(Store(.memory))
        try await ours.replica.store.write { try $0.set(["id": 1], for: "c1", in: cards) }
        try await ours.synchronize()
        try await ours.synchronize()
        func commit() async throws -> CommitNumber {
            try await ours.replica.store.read { $0.lastCommit }
        }
        let before = try await commit()
        for _ in 0..<100 { try await ours.synchronize() }
        #expect(try await commit() == before)
    }

    @Test func `an answer whose commit fails changes nothing, and is taken in again`() async throws
    {
        struct Refusal: Error {}
        let ours = try await Pair(Store(.memory))
        let (replica, store) = (ours.replica, ours.replica.store)
        try await store.write { try $0.set(["id": 1], for: "c1", in: cards) }
        let request = try await store.write { try replica.nextRequest(in: $0) }
        let answer = try ours.line.serve(request)
        await #expect(throws: Refusal.self) {
            try await store.write {
                try replica.receive(answer, to: request, in: $0)
                throw Refusal()
            }
        }
        #expect(try await store.write { try replica.isDirty(in: $0) })
        try await store.write { try replica.receive(answer, to: request, in: $0) }
        #expect(try await !store.write { try replica.isDirty(in: $0) })
        #expect(try await store.write { try replica.problems(in: $0) } == [])
    }

    @Test func `another hook may add to an edit that is recorded`() async throws {
        struct Stamp: TransactionHook {
            let collections: Set<Key>? = ["lists"]

            func willCommit(
                _ changes: [ObjectChange],
                in transaction: borrowing WriteTransaction
            ) throws {
                for change in changes {
                    try transaction.edit(change.key.key.text, in: lists) { $0.stamps += 1 }
                }
            }
        }
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        let theirs = try await Pair(Store(.memory), line)
        try await ours.replica.store.write {
            try $0.set(["count": 0, "stamps": 0], for: "a", in: lists)
        }
        for pair in [ours, theirs] { try await pair.synchronize() }
        try ours.replica.store.addHook(Stamp(), named: "stamp")
        for pair in [ours, theirs] {
            try await pair.replica.store.write { transaction in
                try transaction.edit("a", in: lists) { $0.count += 1 }
            }
        }
        ours.replica.store.removeHook(named: "stamp")
        for _ in 0..<2 { for pair in [ours, theirs] { try await pair.synchronize() } }
        #expect(Array(line.objects.values) == [["count": 2, "stamps": 1]])
    }

    @Test func `a collection that loses objects by itself cannot be in a replica`() async throws {
        var options = Store.Options()
        options.collections = [
            CollectionRules(cards, isEphemeral: true),
            CollectionRules(lists, retention: .count(3)),
        ]
        let store = try Store(.memory, options: options)
        for collection: Key in ["cards", "lists"] {
            await #expect(throws: ReplicationError.self) {
                try await Pair(store, collections: [collection])
            }
        }
    }
}
