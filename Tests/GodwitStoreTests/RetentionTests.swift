import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitStore

/// Objects that go by themselves.
@Suite struct RetentionTests {
    /// A calendar that a test turns by hand.
    final class Calendar: Sendable {
        private let seconds = Mutex(1_000_000.0)

        var clock: StoreClock {
            StoreClock(
                elapsed: { .zero },
                now: { Date(timeIntervalSince1970: self.seconds.withLock { $0 }) }
            )
        }

        func advance(_ count: Double) { seconds.withLock { $0 += count } }
    }

    let folder: TemporaryFolder
    let calendar = Calendar()
    let numbers = Store.Collection<Int>("numbers")

    init() throws { folder = try TemporaryFolder() }

    private func open(_ rules: CollectionRules) throws -> Store {
        var options = Store.Options()
        options.collections = [rules]
        options.clock = calendar.clock
        return try Store(.file(folder.path("store.sqlite")), options: options)
    }

    /// Removes each negative number in the transaction that puts it in.
    private struct Filter: TransactionHook {
        let numbers: Store.Collection<Int>

        func willCommit(
            _ changes: [ObjectChange],
            in transaction: borrowing WriteTransaction
        ) throws {
            for change in changes where try change.newValue()?.integer ?? 0 < 0 {
                try transaction.remove(change.key.key.text, in: numbers)
            }
        }
    }

    @Test func `an object that a hook removes at once takes no other one's place`() async throws {
        let store = try open(CollectionRules(numbers, retention: .count(3)))
        let numbers = numbers
        try store.addHook(Filter(numbers: numbers), named: "filter")
        for number in 1...3 {
            try await store.write { try $0.set(number, for: "\(number)", in: numbers) }
            try await store.write { try $0.set(-number, for: "spam \(number)", in: numbers) }
        }
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys == ["1", "2", "3"])
        try store.close()
    }

    @Test func `beyond a count the objects written longest ago are removed`() async throws {
        let store = try open(CollectionRules(numbers, retention: .count(3)))
        let numbers = numbers
        var changes = store.changes().makeAsyncIterator()
        for number in 1...5 {
            calendar.advance(1)
            try await store.write { try $0.set(number, for: "\(number)", in: numbers) }
        }
        calendar.advance(1)
        try await store.write { try $0.set(33, for: "3", in: numbers) }
        try await store.write { try $0.set(6, for: "6", in: numbers) }
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys == ["3", "5", "6"], "what was written again is young again")
        for _ in 1...3 { _ = await changes.next() }
        #expect(await changes.next()?.removed == [numbers.place("1")], "observers see it go")
        let noted = try await store.read { transaction in
            try String.fetchSet(transaction.database, sql: "SELECT key FROM godwit_retention")
        }
        #expect(noted == ["3", "5", "6"], "what is gone leaves no note")
        try store.close()
    }

    @Test func `the last ones stay, whatever the calendar says`() async throws {
        let store = try open(CollectionRules(numbers, retention: .count(3)))
        let numbers = numbers
        for number in 1...3 {
            try await store.write { try $0.set(number, for: "\(number)", in: numbers) }
        }
        calendar.advance(-3_600)
        try await store.write { try $0.set(4, for: "4", in: numbers) }
        try await store.write { try $0.set(22, for: "2", in: numbers) }
        try await store.write { try $0.set(0, for: "0", in: numbers) }
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys == ["0", "2", "4"])
        try store.close()
    }

    @Test func `what is too old is removed at a write, on request, and at opening`() async throws {
        let rules = CollectionRules(numbers, retention: .age(.seconds(10)))
        var store = try open(rules)
        let numbers = numbers
        let keys = { (store: Store) in try await store.read { try $0.keys(in: numbers) } }
        try await store.write { try $0.set(1, for: "1", in: numbers) }
        calendar.advance(6)
        try await store.write { try $0.set(2, for: "2", in: numbers) }
        calendar.advance(6)
        #expect(try await keys(store) == ["1", "2"], "nothing happens by itself")
        try await store.write { try $0.set(3, for: "3", in: numbers) }
        #expect(try await keys(store) == ["2", "3"])
        calendar.advance(6)
        try await store.expire()
        #expect(try await keys(store) == ["3"])
        try store.close()
        calendar.advance(6)
        store = try open(rules)
        #expect(try await keys(store) == [])
        try store.close()
    }

    @Test func `objects from before the retention are young when it begins`() async throws {
        let numbers = numbers
        var store = try open(CollectionRules(numbers))
        try await store.write { try $0.set(1, for: "1", in: numbers) }
        try store.close()
        calendar.advance(1_000)
        store = try open(CollectionRules(numbers, retention: .age(.seconds(10))))
        let count = try await store.read { try $0.count(in: numbers) }
        #expect(count == 1)
        calendar.advance(11)
        try await store.expire()
        let later = try await store.read { try $0.count(in: numbers) }
        #expect(later == 0)
        try store.close()
    }

    @Test func `what was written while there was no retention goes too, when it is old`()
        async throws
    {
        let rules = CollectionRules(numbers, retention: .age(.seconds(10)))
        let numbers = numbers
        var store = try open(rules)
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        try store.close()
        store = try open(CollectionRules(numbers))
        try await store.write { transaction in
            try transaction.set(2, for: "b", in: numbers)
            try transaction.remove("a", in: numbers)
        }
        try store.close()
        store = try open(rules)
        calendar.advance(11)
        try await store.expire()
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys == [])
        try store.close()
    }

    @Test func `an ephemeral collection is empty when the store opens`() async throws {
        let numbers = numbers
        var store = try open(CollectionRules(numbers, isEphemeral: true))
        try await store.write { try $0.set(1, for: "1", in: numbers) }
        try store.close()
        store = try open(CollectionRules(numbers, isEphemeral: true))
        let (count, commit) = try await store.read { (try $0.count(in: numbers), $0.lastCommit) }
        #expect(count == 0)
        #expect(commit == CommitNumber(rawValue: 2), "cleared by an ordinary commit")
        try store.close()
    }

    @Test func `a process without the rules leaves the notes alone`() async throws {
        let rules = CollectionRules(numbers, retention: .count(2))
        let numbers = numbers
        var store = try open(rules)
        for key in ["c", "a", "b"] {
            calendar.advance(1)
            try await store.write { try $0.set(1, for: key, in: numbers) }
        }
        try store.close()
        // A tool opens the file, and writes an object that is about to go.
        let other = Store.Collection<Int>("other")
        store = try open(CollectionRules(other))
        try await store.write { try $0.set(2, for: "a", in: numbers) }
        try store.close()
        calendar.advance(1)
        store = try open(rules)
        try await store.write { try $0.set(1, for: "d", in: numbers) }
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys == ["a", "d"], "the one that was written longest ago is gone")
        try store.close()
    }

    @Test func `what another process has written meanwhile is as young as that`() async throws {
        var options = Store.Options()
        options.processes = .several
        options.clock = calendar.clock
        let location = Store.Location.file(folder.path("store.sqlite"))
        let numbers = numbers
        let plain = try Store(location, options: options)
        options.collections = [CollectionRules(numbers, retention: .age(.seconds(30)))]
        let store = try Store(location, options: options)
        try await store.write { try $0.set(1, for: "old", in: numbers) }
        try await store.write { try $0.set(1, for: "young", in: numbers) }
        calendar.advance(29)
        try await plain.write { try $0.set(2, for: "young", in: numbers) }
        calendar.advance(2)
        try await store.expire()
        let kept = try await store.read { try $0.keys(in: numbers) }
        #expect(kept == ["young"])
        calendar.advance(31)
        try await store.expire()
        let later = try await store.read { try $0.keys(in: numbers) }
        #expect(later == [])
        try store.close()
        try plain.close()
    }

    @Test func `only a collection that was written by others is walked at opening`() async throws {
        let rules = CollectionRules(numbers, retention: .count(2))
        let numbers = numbers
        var store = try open(rules)
        try await store.write { transaction in
            for number in 0..<3 { try transaction.set(number, for: "\(number)", in: numbers) }
        }
        try await store.write { try $0.remove("1", in: numbers) }
        let isNoted = try await store.read { transaction in
            let total = try Ledger.total(of: "numbers", in: transaction.database)
            return try RetentionTable.total(of: "numbers", in: transaction.database) == total
        }
        #expect(isNoted)
        try store.close()
        store = try open(CollectionRules(Store.Collection<Int>("other")))
        try await store.write { try $0.set(9, for: "9", in: numbers) }
        let isNotedStill = try await store.read { transaction in
            let total = try Ledger.total(of: "numbers", in: transaction.database)
            return try RetentionTable.total(of: "numbers", in: transaction.database) == total
        }
        #expect(!isNotedStill)
        try store.close()
    }
}
