import Foundation
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitStore

@Suite struct ViewTests {
    let folder: TemporaryFolder
    let numbers = Store.Collection<Int>("numbers")

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: Place.allCases)
    func `a view stays at its commit until it advances`(place: Place) async throws {
        let store = try place.open(folder)
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        let view = try await store.view()
        try await store.write { try $0.set(2, for: "a", in: numbers) }
        try await store.write { transaction in
            try transaction.set(3, for: "b", in: numbers)
            try transaction.remove("a", in: numbers)
        }

        #expect(try view.get("a", in: numbers) == 1)
        #expect(try view.get("b", in: numbers) == nil)
        #expect(try view.keys(in: numbers) == ["a"])
        let changes = try #require(try view.advance())
        #expect(changes.first == CommitNumber(rawValue: 2))
        #expect(changes.last == CommitNumber(rawValue: 3))
        #expect(changes.inserted.map(\.key) == ["b"] && changes.removed.map(\.key) == ["a"])
        #expect(try view.keys(in: numbers) == ["b"])
        #expect(try view.advance() == nil)
        try store.close()
    }

    @Test(arguments: Place.allCases)
    func `a view counts the objects of a range as they were at its commit`(
        place: Place
    )
        async throws
    {
        let store = try place.open(folder)
        let numbers = numbers
        try await store.write { transaction in
            for key in ["a", "b", "c", "d"] { try transaction.set(1, for: key, in: numbers) }
        }
        let view = try await store.view()
        try await store.write { transaction in
            try transaction.remove("b", in: numbers)
            try transaction.set(1, for: "bb", in: numbers)
            try transaction.set(1, for: "bc", in: numbers)
        }
        #expect(try view.count(in: numbers, range: KeyRange(from: "b", to: "d")) == 2)
        try view.advance()
        #expect(try view.count(in: numbers, range: KeyRange(from: "b", to: "d")) == 3)
        try store.close()
    }

    @Test(arguments: Place.allCases)
    func `a view is opened while a write is under way, and shows the commit before it`(
        place: Place
    ) async throws {
        let store = try place.open(folder)
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        let (began, end) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
        let ticket = try store.writeLater { transaction in
            try transaction.set(2, for: "a", in: numbers)
            began.continuation.finish()
            end.wait()
        }
        for await _ in began.stream {}
        let view = try await store.view()
        end.signal()
        _ = try await ticket.finish()

        #expect(try view.get("a", in: numbers) == 1)
        #expect(try view.advance()?.updated.map(\.key) == ["a"])
        #expect(try view.get("a", in: numbers) == 2)
        try store.close()
        await #expect(throws: StoreError.closed) { _ = try await store.view() }
    }

    @Test func `a view of a store that was opened again shows its newest commit`() async throws {
        let path = folder.path("store.sqlite")
        let numbers = numbers
        var store = try Store(.file(path))
        let commit = try await store.write { transaction in
            try transaction.set(1, for: "a", in: numbers)
            return transaction.commit
        }
        try store.close()
        store = try Store(.file(path))
        let view = try await store.view()
        #expect(view.commit == commit)
        #expect(try view.get("a", in: numbers) == 1)
        #expect(try view.advance() == nil)
        try store.close()
    }

    @Test func `old versions go with the last view that shows them`() async throws {
        let store = try Store(.memory)
        let numbers = numbers
        let pastCost = { store.context.cache.withVersions { $0.counts.pastCost } }
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        do {
            let (first, second) = (try await store.view(), try await store.view())
            try await store.write { try $0.set(2, for: "a", in: numbers) }
            #expect(try first.get("a", in: numbers) == 1)
            #expect(pastCost() > 0)
            try second.advance()
            #expect(pastCost() > 0, "the first one shows it still")
            withExtendedLifetime((first, second)) {}
        }
        try await store.write { try $0.set(3, for: "a", in: numbers) }
        #expect(pastCost() == 0)
        try store.close()
    }

    /// Whatever is asked of a view, its answer is that of a model frozen at the same commit.
    @Test(arguments: 1...6 * Soak.factor)
    func `a view answers everything as of its commit`(seed: Int) async throws {
        var random = Seeded(seed: UInt64(seed))
        var options = Store.Options()
        // With no cache, some, and plenty.
        options.cacheSizeInBytes = [0, 3_000, 1 << 20][seed % 3]
        let byTens = Store.Index("byTens", on: "tens")
        let objects = Store.Collection<Value>("objects")
        options.collections = [CollectionRules(objects, indexes: [byTens])]
        let place = seed.isMultiple(of: 2)
        let location: Store.Location =
            place ? .memory : .file(folder.path("store-\(seed).sqlite"))
        let store = try Store(location, options: options)
        var model: [String: Int64] = [:]
        let view = try await store.view()
        var frozen = model

        for _ in 0..<60 {
            let edits = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                (
                    key: "\(Int.random(in: 0..<30, using: &random))",
                    value: Bool.random(using: &random)
                        ? Int64.random(in: 0..<100, using: &random) : nil
                )
            }
            try await store.write { transaction in
                for (key, value) in edits {
                    if let value {
                        try transaction.set(
                            ["n": .int(value), "tens": .int(value / 10)],
                            for: key,
                            in: objects
                        )
                    } else {
                        try transaction.remove(key, in: objects)
                    }
                }
            }
            for (key, value) in edits { model[key] = value }
            if Int.random(in: 0..<5, using: &random) == 0 {
                try view.advance()
                frozen = model
            }
            try check(view, frozen, objects, byTens, &random, "seed \(seed)")
        }
        try store.close()
    }

    private func check(
        _ view: ReadView,
        _ model: [String: Int64],
        _ objects: Store.Collection<Value>,
        _ byTens: Store.Index,
        _ random: inout Seeded,
        _ comment: Comment
    ) throws {
        let sorted = model.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(try view.keys(in: objects) == sorted, comment)
        #expect(try view.count(in: objects) == model.count, comment)
        let key = "\(Int.random(in: 0..<30, using: &random))"
        #expect(try view.get(key, in: objects)?["n"]?.integer == model[key], comment)
        #expect(try view.exists(key, in: objects) == (model[key] != nil), comment)
        let range = KeyRange(from: "1", to: "25")
        let limit = Int.random(in: 1...8, using: &random)
        let order: GodwitStore.SortDirection =
            Bool.random(using: &random) ? .ascending : .descending
        let inRange = sorted.filter(range.contains)
        let walked = order == .ascending ? inRange : inRange.reversed()
        #expect(
            try view.keys(in: objects, range: range, order: order, limit: limit)
                == Array(walked.prefix(limit)),
            comment
        )
        var values: [Int64] = []
        try view.enumerate(objects, range: range) { _, value, _ in
            values.append(value["n"]?.integer ?? -1)
        }
        #expect(values == inRange.map { model[$0] ?? -2 }, comment)
        let tens = Int64.random(in: 0..<10, using: &random)
        let query = Store.Query(
            objects,
            by: byTens,
            from: .int(tens),
            to: .int(tens + 3),
            order: order,
            limit: limit
        )
        let matching = sorted.filter { (tens..<tens + 3).contains((model[$0] ?? 0) / 10) }
            .sorted { (model[$0] ?? 0) / 10 < (model[$1] ?? 0) / 10 }
        let expected = order == .ascending ? matching : matching.reversed()
        #expect(try view.keys(query) == Array(expected.prefix(limit)), comment)
    }

    @Test func `a view that is held does not let the WAL grow`() async throws {
        let path = folder.path("store.sqlite")
        let store = try Store(.file(path))
        let texts = Store.Collection<String>("texts")
        let text = String(repeating: "x", count: 2_000)
        try await store.write { try $0.set("first", for: "0", in: texts) }
        let view = try await store.view()
        for number in 0..<20_000 {
            try store.writeLater(durability: .relaxed) {
                try $0.set(text + "\(number)", for: "\(number % 50)", in: texts)
            }
        }
        try await store.flush()
        let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        #expect(size ?? .max < 64 << 20)
        #expect(try view.get("0", in: texts) == "first")
        try store.close()
    }

    @Test func `a view that was overtaken says so until it advances`() async throws {
        var options = Store.Options()
        options.viewSizeInBytes = 10_000
        let store = try Store(.memory, options: options)
        let texts = Store.Collection<String>("texts")
        let text = String(repeating: "x", count: 1_000)
        try await store.write { transaction in
            for number in 0..<50 { try transaction.set(text, for: "\(number)", in: texts) }
        }
        let view = try await store.view()
        for number in 0..<50 {
            try await store.write { try $0.set(text + "!", for: "\(number)", in: texts) }
        }
        #expect(throws: StoreError.viewOvertaken(CommitNumber(rawValue: 1))) {
            try view.get("0", in: texts)
        }
        let changes = try view.advance()
        #expect(changes?.updated.count == 50, "what changed is known all the same")
        #expect(try view.get("0", in: texts) == text + "!")
        try store.close()
    }

    @Test func `following brings a view to each new commit`() async throws {
        let store = try Store(.memory)
        let numbers = numbers
        let (seen, continuation) = AsyncStream.makeStream(of: CommitNumber.self)
        let following = Task {
            let view = try await store.view()
            continuation.yield(view.commit)
            try await view.follow { continuation.yield($0.last) }
        }
        var commits = seen.makeAsyncIterator()
        #expect(await commits.next() == CommitNumber.none)
        for number in 1...20 as ClosedRange<Int64> {
            try await store.write { try $0.set(Int(number), for: "\(number)", in: numbers) }
            var last = CommitNumber.none
            while last.rawValue < number, let next = await commits.next() { last = next }
            #expect(last.rawValue == number)
        }
        following.cancel()
        await #expect(throws: CancellationError.self) { try await following.value }
        try store.close()
    }
}
