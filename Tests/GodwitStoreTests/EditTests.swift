import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// `transaction.edit`: the object is stored, and hooks see how it was edited.
@Suite struct EditTests {
    struct List: Codable, Equatable, Sendable {
        var items: [String]
        var count: Int
    }

    /// Keeps what it sees.
    private final class Witness: TransactionHook {
        let changes = Mutex<[ObjectChange]>([])

        func willCommit(_ changes: [ObjectChange], in transaction: borrowing WriteTransaction) {
            self.changes.withLock { $0 += changes }
        }

        func takeLast() throws -> ObjectChange {
            try #require(changes.withLock { $0.popLast() })
        }
    }

    private let lists = Store.Collection<List>("lists")
    private let store: Store
    private let witness = Witness()

    init() async throws {
        store = try Store(.memory)
        let lists = lists
        try await store.write {
            try $0.set(List(items: ["a", "b", "c"], count: 1), for: "l", in: lists)
        }
        try store.addHook(witness, named: "witness")
    }

    @Test func `an edit stores the object, and hands hooks the edits`() async throws {
        let lists = lists
        let delta = try await store.write { transaction in
            try transaction.edit("l", in: lists) {
                $0.items.move(from: 2, to: 0)
                $0.count += 2
            }
        }
        let list = try await store.read { try $0.get("l", in: lists) }
        #expect(list == List(items: ["c", "a", "b"], count: 3))
        #expect(delta.ednText() == "{:count #d/inc 2 :items {:> {2 0}}}")
        let change = try witness.takeLast()
        #expect(change.recordedDelta == delta && change.kind == .updated)
        #expect(try change.delta() == delta)
    }

    @Test func `several edits in one transaction are one delta`() async throws {
        let lists = lists
        try await store.write { transaction in
            try transaction.edit("l", in: lists) { $0.count += 2 }
            try transaction.replaceMetadata("m", of: "l", in: lists)
            try transaction.edit("l", in: lists) { $0.count += 3 }
        }
        let change = try witness.takeLast()
        #expect(change.recordedDelta?.ednText() == "{:count #d/inc 5}")
    }

    @Test func `a transaction that also sets the object has the difference instead`() async throws {
        let lists = lists
        for isSetFirst in [true, false] {
            let items = isSetFirst ? ["x"] : ["y"]
            try await store.write { transaction in
                if isSetFirst {
                    try transaction.set(List(items: items, count: 1), for: "l", in: lists)
                }
                try transaction.edit("l", in: lists) { $0.count += 2 }
                if !isSetFirst {
                    try transaction.set(List(items: items, count: 9), for: "l", in: lists)
                }
            }
            let change = try witness.takeLast()
            #expect(change.recordedDelta == nil)
            let (old, new) = (try #require(try change.oldValue()), try change.newValue())
            #expect(try change.delta()?.applied(to: old) == new)
        }
    }

    @Test func `an object that the same transaction made has no recorded edits`() async throws {
        let lists = lists
        try await store.write { transaction in
            try transaction.set(List(items: [], count: 0), for: "new", in: lists)
            try transaction.edit("new", in: lists) { $0.count += 2 }
            try transaction.remove("l", in: lists)
        }
        let changes = witness.changes.withLock { $0 }
        #expect(changes.count == 2)
        for change in changes {
            #expect(try change.recordedDelta == nil && change.delta() == nil, "\(change.key)")
        }
    }

    @Test func `an edit that does not fit changes nothing`() async throws {
        let lists = lists
        await #expect(throws: StoreError.noObject(lists.place("none"))) {
            try await store.write { try $0.edit("none", in: lists) { $0.count += 1 } }
        }
        let result = try await store.writeLater { transaction in
            let unreadable = StoreError.unreadableObject(
                lists.place("l"),
                reason: "count: there is a string"
            )
            #expect(throws: unreadable) {
                try transaction.editValue(of: "l", in: lists) { $0.count = "many" }
            }
            #expect(throws: TreeError.self) {
                try transaction.edit("l", in: lists) { $0.items.move(from: 1, to: 7) }
            }
            try transaction.edit("l", in: lists) { _ in }
        }.finish()
        #expect(result.commit == nil, "nothing was changed")
    }

    @Test func `an edit of an older object stores the new version, and records no edits`()
        async throws
    {
        let newer = Store.Collection<List>("lists", version: 2) { value, _ in
            var map = value.map ?? [:]
            map["count"] = 10
            return .map(map)
        }
        try await store.write { try $0.edit("l", in: newer) { $0.count += 1 } }
        #expect(try await store.read { try $0.get("l", in: newer) }?.count == 11)
        let change = try witness.takeLast()
        #expect(change.recordedDelta == nil && change.kind == .updated)
    }

    @Test func `the recorded edits always lead from the old value to the new one`() async throws {
        let plain = Store.Collection<Value>("plain")
        try await store.write { try $0.set(["n": 0, "l": [1, 2, 3]], for: "p", in: plain) }
        let store = store
        for seed in 0..<UInt64(300) {
            var random = Seeded(seed: seed)
            let steps = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                Int.random(in: 0...5, using: &random)
            }
            try await store.write { transaction in
                for step in steps {
                    switch step {
                    case 0: try transaction.edit("p", in: plain) { $0.n += 1 }
                    case 1: try transaction.edit("p", in: plain) { $0.l.list.append(7) }
                    case 2: try transaction.edit("p", in: plain) { $0.l = [step] }
                    case 3: try transaction.replaceMetadata(seed, of: "p", in: plain)
                    case 4: try transaction.set(["n": 0, "l": [1, 2, 3]], for: "p", in: plain)
                    default: try transaction.touch("p", in: plain)
                    }
                }
            }
            for change in witness.changes.withLock({ $0 }) {
                guard let delta = change.recordedDelta, let old = try change.oldValue() else {
                    continue
                }
                #expect(try delta.applied(to: old) == change.newValue(), "seed \(seed)")
            }
            witness.changes.withLock { $0 = [] }
        }
    }
}
