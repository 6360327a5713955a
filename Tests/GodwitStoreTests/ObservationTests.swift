import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitStore

@Suite struct ObservationTests {
    let numbers = Store.Collection<Int>("numbers")
    let others = Store.Collection<Int>("others")

    @Test func `who observes a key or a collection hears of nothing else`() async throws {
        let store = try Store(.memory)
        let (numbers, others) = (numbers, others)
        var key = store.changes(of: "a", in: numbers).makeAsyncIterator()
        var collection = store.changes(in: numbers).makeAsyncIterator()
        var everything = store.changes().makeAsyncIterator()
        try await store.write { try $0.set(1, for: "b", in: numbers) }
        try await store.write { try $0.set(1, for: "a", in: others) }
        try await store.write { transaction in
            try transaction.set(1, for: "a", in: numbers)
            try transaction.set(2, for: "b", in: others)
        }
        try store.close()

        #expect(await key.next()?.keys == [numbers.place("a")])
        #expect(await key.next() == nil)
        #expect(await collection.next()?.keys == [numbers.place("b")])
        #expect(await collection.next()?.keys == [numbers.place("a")])
        #expect(await collection.next() == nil)
        for number in 1...3 as ClosedRange<Int64> {
            #expect(await everything.next()?.last.rawValue == number)
        }
    }

    @Test func `a query's list that is the same as before is not told again`() async throws {
        let byNumber = Store.Index("byNumber", on: "number")
        struct Item: Codable, Equatable, Sendable { var number: Int }
        let items = Store.Collection<Item>("items")
        var options = Store.Options()
        options.collections = [CollectionRules(items, indexes: [byNumber])]
        let store = try Store(.memory, options: options)
        try await store.write { try $0.set(Item(number: 1), for: "a", in: items) }
        let query = Store.Query(items, by: byNumber, from: 0, to: 10)
        var lists = store.values(of: query).makeAsyncIterator()
        #expect(try await lists.next()?.map(\.key) == ["a"])
        try await store.write { try $0.set(Item(number: 20), for: "b", in: items) }
        try await store.write { try $0.set(Item(number: 2), for: "c", in: items) }
        #expect(try await lists.next()?.map(\.key) == ["a", "c"])
        try await store.write { try $0.set(Item(number: 21), for: "b", in: items) }
        try await store.write { try $0.touch("a", in: items) }
        #expect(try await lists.next()?.map(\.key) == ["a", "c"], "a touch asks to look again")
        try store.close()
    }

    @Test func `an observer that falls far behind is told to look at everything`() {
        var changes = ChangeSet(commit: CommitNumber(rawValue: 1))
        let keyMax = ChangeSet.mergedMax
        let keys = (0..<keyMax).map { numbers.place("\($0)") }
        changes.merge(ChangeSet(commit: CommitNumber(rawValue: 2), inserted: Set(keys)))
        #expect(!changes.isReset && changes.inserted.count == keyMax)
        let one = ChangeSet(commit: CommitNumber(rawValue: 3), updated: [others.place("a")])
        changes.merge(one)
        #expect(changes.isReset && changes.keys.isEmpty && changes.last == one.last)
    }

    @Test func `the values of a key begin with the current one and miss no later one`()
        async throws
    {
        let store = try Store(.memory)
        let numbers = numbers
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...300 {
                    try await store.write { try $0.set(number, for: "a", in: numbers) }
                }
            }
            for _ in 0..<8 {
                group.addTask {
                    var last = 0
                    for try await number in store.values(of: "a", in: numbers) {
                        let number = number ?? 0
                        #expect(number >= last, "never back in time")
                        last = number
                        if number == 300 { break }
                    }
                    #expect(last == 300, "the last value always comes")
                }
            }
            try await group.waitForAll()
        }
        try store.close()
    }

    @Test func `the value of a key is nil while there is no object`() async throws {
        let store = try Store(.memory)
        let numbers = numbers
        var values = store.values(of: "a", in: numbers).makeAsyncIterator()
        #expect(try await values.next() == .some(nil))
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        #expect(try await values.next() == .some(1))
        try await store.write { try $0.remove("a", in: numbers) }
        #expect(try await values.next() == .some(nil))
        try store.close()
        #expect(try await values.next() == nil)
    }

    @Test func `a hook sees old and new values, derives, and hears of the commit`() async throws {
        let store = try Store(.memory)
        let numbers = numbers
        let history = Recorder()
        try store.addHook(history, named: "history")
        try await store.write { transaction in
            try transaction.set(1, for: "a", in: numbers)
            try transaction.set(2, for: "a", in: numbers)
        }
        try await store.write { try $0.set(3, for: "a", in: numbers) }
        try await store.write { try $0.remove("a", in: numbers) }
        let log = Store.Collection<[String]>("log")
        let entries = try await store.read { try $0.get("a", in: log) }
        #expect(entries == ["nil 2", "2 3", "3 nil"])
        #expect(history.commits.withLock { $0 } == [1, 2, 3])
        store.removeHook(named: "history")
        try await store.write { try $0.set(4, for: "a", in: numbers) }
        #expect(history.commits.withLock { $0 }.count == 3)
        try store.close()
    }

    @Test func `hooks that answer each other for ever are stopped`() async throws {
        struct Echo: TransactionHook {
            let (from, to): (Key, Key)
            var collections: Set<Key>? { [from] }

            func willCommit(
                _ changes: [ObjectChange],
                in transaction: borrowing WriteTransaction
            ) throws {
                for change in changes {
                    let number = try change.newValue()?.integer ?? 0
                    let place = ObjectKey(collection: to, key: change.key.key)
                    try transaction.setValue(.int(number + 1), of: place)
                }
            }
        }
        let store = try Store(.memory)
        let numbers = numbers
        try store.addHook(Echo(from: "numbers", to: "others"), named: "there")
        try store.addHook(Echo(from: "others", to: "numbers"), named: "back")
        await #expect(throws: StoreError.endlessHooks(rounds: 16)) {
            try await store.write { try $0.set(1, for: "a", in: numbers) }
        }
        let keys = try await store.read { try $0.collections() }
        #expect(keys.isEmpty)
        try store.close()
    }

    @Test func `a view does not see what a failed commit has prepared`() async throws {
        struct Refusal: Error {}
        let store = try Store(.memory)
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        let view = try await store.view()
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                try transaction.set(2, for: "a", in: numbers)
                throw Refusal()
            }
        }
        #expect(try view.advance() == nil)
        let found = try await store.read { try $0.get("a", in: numbers) }
        #expect(try view.get("a", in: numbers) == 1 && found == 1)
        try store.close()
    }
}

/// Writes down each change of a number in another collection.
private final class Recorder: TransactionHook {
    let collections: Set<Key>? = ["numbers"]
    let commits = Mutex<[Int64]>([])

    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        let (numbers, log) = (Store.Collection<Int>("numbers"), Store.Collection<[String]>("log"))
        for change in changes {
            let key = change.key.key.text
            let (old, new) = (try change.old(in: numbers), try change.new(in: numbers))
            let line = "\(old.map { "\($0)" } ?? "nil") \(new.map { "\($0)" } ?? "nil")"
            try transaction.set(
                try transaction.get(key, in: log, or: []) + [line],
                for: key,
                in: log
            )
        }
    }

    func didCommit(_ changes: ChangeSet) {
        commits.withLock { $0.append(changes.last.rawValue) }
    }
}

extension ObjectReader where Self: ~Copyable {
    fileprivate borrowing func get<Object>(
        _ key: String,
        in collection: Store.Collection<Object>,
        or fallback: Object
    ) throws -> Object {
        try get(key, in: collection) ?? fallback
    }
}
