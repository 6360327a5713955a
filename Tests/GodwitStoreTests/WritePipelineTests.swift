import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@Suite struct WritePipelineTests {
    struct Refusal: Error, Equatable {}

    let folder: TemporaryFolder
    let numbers = Store.Collection<Int>("numbers")

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: Place.allCases)
    func `requests that share a commit keep their own results, errors and numbers`(
        place: Place
    ) async throws {
        let store = try place.open(folder)
        let numbers = numbers
        var changes = store.changes().makeAsyncIterator()
        await store.suspend()
        let first = try store.writeLater { transaction in
            try transaction.set(1, for: "a", in: numbers)
            return "first"
        }
        let failing = try store.writeLater { transaction in
            try transaction.set(2, for: "a", in: numbers)
            try transaction.set(2, for: "b", in: numbers)
            throw Refusal()
        }
        let reading = try store.writeLater { try $0.get("a", in: numbers) }
        let last = try store.writeLater { transaction in
            try transaction.set(3, for: "b", in: numbers)
            return try transaction.count(in: numbers)
        }
        store.resume()

        let results = try await (first.finish(), reading.finish(), last.finish())
        await #expect(throws: Refusal.self) { try await failing.finish() }
        #expect(results.0.value == "first" && results.0.commit == CommitNumber(rawValue: 1))
        #expect(results.1.value == 1 && results.1.commit == nil)
        #expect(results.2.value == 2 && results.2.commit == CommitNumber(rawValue: 2))
        let statistics = try await store.statistics()
        #expect(statistics.groupCount == 1, "one physical transaction")
        let found = try await store.read { try $0.get(["a", "b"], in: numbers) }
        #expect(found == ["a": 1, "b": 3])
        #expect(await changes.next()?.inserted.map(\.key) == ["a"])
        #expect(await changes.next()?.inserted.map(\.key) == ["b"])
        try store.close()
    }

    @Test func `requests run in the order in which they were asked for`() async throws {
        let store = try Store(.memory)
        let lists = Store.Collection<[Int]>("lists")
        for number in 0..<500 {
            try store.writeLater(durability: number.isMultiple(of: 3) ? .relaxed : .durable) {
                transaction in
                var list = try transaction.get("l", in: lists) ?? []
                list.append(number)
                try transaction.set(list, for: "l", in: lists)
            }
        }
        try await store.flush()
        let list = try await store.read { try $0.get("l", in: lists) }
        #expect(list == Array(0..<500))
        try store.close()
    }

    @Test func `a group ends at the threshold, and at a request of another durability`()
        async throws
    {
        var options = Store.Options()
        options.limits.saveThreshold = 10
        options.limits.ageMax = .seconds(60)
        let store = try Store(.file(folder.path("store.sqlite")), options: options)
        let numbers = numbers
        await store.suspend()
        for number in 0..<25 {
            try store.writeLater { try $0.set(number, for: "\(number)", in: numbers) }
        }
        for number in 25..<28 {
            try store.writeLater(durability: .relaxed) {
                try $0.set(number, for: "\(number)", in: numbers)
            }
        }
        store.resume()
        try await store.flush()
        let statistics = try await store.statistics()
        #expect(statistics.groupCount == 3, "10, 10 and the rest: relaxed ones may join")
        await store.suspend()
        try store.writeLater(durability: .relaxed) { try $0.set(0, for: "x", in: numbers) }
        try store.writeLater { try $0.set(0, for: "y", in: numbers) }
        store.resume()
        try await store.flush()
        let later = try await store.statistics()
        #expect(later.groupCount == 5, "a durable one does not join a relaxed group")
        try await store.flush()
        let flushed = try await store.statistics()
        #expect(flushed.groupCount == 5, "a flush of nothing is no transaction")
        try store.close()
    }

    @Test func `the threshold can be changed while the store is open`() async throws {
        var options = Store.Options()
        options.limits.ageMax = .seconds(60)
        let store = try Store(.file(folder.path("store.sqlite")), options: options)
        let numbers = numbers
        #expect(store.saveThreshold == 500)
        var groups = [0]
        for threshold in [10, 3, 100] {
            store.saveThreshold = threshold
            await store.suspend()
            for number in 0..<30 {
                try store.writeLater { try $0.set(threshold, for: "\(number)", in: numbers) }
            }
            store.resume()
            try await store.flush()
            groups.append(try await store.statistics().groupCount)
        }
        #expect(groups == [0, 3, 13, 14], "groups of 10, of 3, and one of 30")
        try store.close()
    }

    @Test func `a group ends when its objects are large, and when it is old`() async throws {
        let ticks = Mutex(Duration.zero)
        let step = Mutex(Duration.zero)
        var options = Store.Options()
        options.clock = StoreClock(
            elapsed: {
                ticks.withLock { ticks in
                    ticks += step.withLock { $0 }
                    return ticks
                }
            },
            now: { Date(timeIntervalSince1970: 0) }
        )
        options.limits.bytesMax = 1_000
        options.limits.ageMax = .milliseconds(20)
        let store = try Store(.file(folder.path("store.sqlite")), options: options)
        let texts = Store.Collection<String>("texts")
        var groups: [Int] = []
        for (size, age) in [(10, 0), (500, 0), (10, 12)] {
            step.withLock { $0 = .milliseconds(age) }
            await store.suspend()
            for number in 0..<10 {
                let text = String(repeating: "\(size % 7)", count: size + age)
                try store.writeLater { try $0.set(text, for: "\(number)", in: texts) }
            }
            store.resume()
            try await store.flush()
            groups.append(try await store.statistics().groupCount)
        }
        #expect(groups == [1, 6, 11], "all in one, two a group, two a group")
        try store.close()
    }

    @Test func `a lone write is committed at once, with no time passing`() async throws {
        var options = Store.Options()
        // The clock stands still: whatever waited for time would wait for ever.
        options.clock = StoreClock(elapsed: { .zero }, now: { Date(timeIntervalSince1970: 0) })
        options.limits.ageMax = .seconds(60)
        let store = try Store(.file(folder.path("store.sqlite")), options: options)
        let numbers = numbers
        let result = try await store.writeLater { try $0.set(1, for: "a", in: numbers) }.finish()
        #expect(result.commit == CommitNumber(rawValue: 1))
        #expect(try await store.statistics().groupCount == 1)
        try store.close()
    }

    @Test func `a change made from an older view is refused, and not stored over a newer one`()
        async throws
    {
        let store = try Store(.memory)
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        let seen = try await store.read { try $0.commit(of: "a", in: numbers) }
        try await store.write { try $0.set(2, for: "a", in: numbers) }
        let (place, now) = (numbers.place("a"), CommitNumber(rawValue: 2))
        let mismatch = StoreError.commitMismatch(place, expected: seen, found: now)
        await #expect(throws: mismatch) {
            try await store.write { transaction in
                try transaction.require(seen, of: "a", in: numbers)
                try transaction.set(3, for: "a", in: numbers)
            }
        }
        await #expect(throws: StoreError.commitMismatch(place, expected: nil, found: now)) {
            try await store.write { try $0.require(nil, of: "a", in: numbers) }
        }
        try await store.write { transaction in
            try transaction.require(now, of: "a", in: numbers)
            try transaction.require(nil, of: "b", in: numbers)
            try transaction.set(3, for: "a", in: numbers)
        }
        #expect(try await store.read { try $0.get("a", in: numbers) } == 3)
        #expect("\(mismatch)" == "the object numbers/a is of commit 2, and not of 1: read it again")
        try store.close()
    }

    @Test func `a write that is cancelled before its turn changes nothing`() async throws {
        let store = try Store(.memory)
        let numbers = numbers
        await store.suspend()
        let task = Task { try await store.write { try $0.set(1, for: "a", in: numbers) } }
        while try await store.statistics().queueDepth == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        store.resume()
        try await store.flush()
        let count = try await store.read { try $0.count(in: numbers) }
        #expect(count == 0)
        try store.close()
    }

    @Test func `beyond the bound a write is refused, and closing fails what waits`() async throws {
        var options = Store.Options()
        options.limits.queueMax = 3
        let store = try Store(.memory, options: options)
        let numbers = numbers
        await store.suspend()
        let tickets = try (0..<3).map { number in
            try store.writeLater { try $0.set(number, for: "\(number)", in: numbers) }
        }
        #expect(throws: StoreError.overloaded(limit: 3)) { try store.writeLater { _ in } }
        try store.close()
        for ticket in tickets {
            await #expect(throws: StoreError.closed) { try await ticket.finish() }
        }
        #expect(throws: StoreError.closed) { try store.writeLater { _ in } }
    }

    @Test func `a violated foreign key fails the request that did it, and no other`() async throws {
        var options = Store.Options()
        let tables = """
            CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
            """
        options.migrations = [.sql("create tables", tables)]
        let store = try Store(.file(folder.path("store.sqlite")), options: options)
        let numbers = numbers
        await store.suspend()
        let good = try store.writeLater { try $0.set(1, for: "a", in: numbers) }
        let bad = try store.writeLater { transaction in
            try transaction.set(2, for: "b", in: numbers)
            try transaction.database.execute(sql: "INSERT INTO child VALUES (7)")
        }
        store.resume()
        #expect(try await good.finish().commit == CommitNumber(rawValue: 1))
        await #expect(throws: DatabaseError.self) { try await bad.finish() }
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys == ["a"])
        try store.close()
    }

    @Test func `a body that ends the transaction is found out`() async throws {
        let store = try Store(.file(folder.path("store.sqlite")))
        let numbers = numbers
        await #expect(throws: StoreError.transactionEnded) {
            try await store.write { transaction in
                try transaction.set(1, for: "a", in: numbers)
                try transaction.database.execute(sql: "ROLLBACK")
            }
        }
        let commit = try await store.write { transaction in
            try transaction.set(2, for: "b", in: numbers)
            return transaction.commit
        }
        #expect(commit == CommitNumber(rawValue: 1))
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys == ["b"])
        try store.close()
    }

    @Test func `sixteen tasks write a thousand objects, each once and in its own commit`()
        async throws
    {
        let store = try Store(.file(folder.path("store.sqlite")))
        let numbers = numbers
        let commits = try await withThrowingTaskGroup(of: [CommitNumber].self) { group in
            for task in 0..<16 {
                group.addTask {
                    var commits: [CommitNumber] = []
                    for number in 0..<64 {
                        commits.append(
                            try await store.write { transaction in
                                try transaction.set(number, for: "\(task)-\(number)", in: numbers)
                                return transaction.commit
                            }
                        )
                    }
                    return commits
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(commits).count == 1_024)
        let count = try await store.read { try $0.count(in: numbers) }
        #expect(count == 1_024)
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        #expect(report.objectCount == 1_024)
        try store.close()
    }
}
