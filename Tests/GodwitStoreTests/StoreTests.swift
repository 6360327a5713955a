import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

struct Contact: Codable, Equatable, Sendable {
    var name: String
    var phones: [String] = []
    var born: Date?
    var photo = Data()
    var home: URL?
    var ratio: Double = 0.5
}

/// The same sentences hold on disk and in memory.
enum Place: CaseIterable {
    case disk, memory

    func open(_ folder: TemporaryFolder) throws -> Store {
        try Store(self == .disk ? .file(folder.path("store.sqlite")) : .memory)
    }
}

@Suite struct StoreTests {
    let contacts = Store.Collection<Contact>("contacts")
    let numbers = Store.Collection<Int>("numbers")
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: Place.allCases)
    func `an object comes back as it was`(place: Place) async throws {
        let store = try place.open(folder)
        let contact = Contact(
            name: "e\u{301}",
            phones: ["1", "2"],
            born: Date(timeIntervalSince1970: 1.5),
            photo: Data([0, 255]),
            home: URL(string: "https://example.org/a")
        )

        try await store.write { [contacts] in try $0.set(contact, for: "a", in: contacts) }

        let found = try await store.read { [contacts] in try $0.get("a", in: contacts) }
        #expect(found == contact)
        #expect(found?.name.utf8.count == 3, "the bytes of a string are kept")
        let none = try await store.read { [contacts] in try $0.get("b", in: contacts) }
        #expect(none == nil)
        try store.close()
    }

    @Test(arguments: Place.allCases)
    func `a transaction that throws leaves no trace`(place: Place) async throws {
        struct Refusal: Error {}
        let store = try place.open(folder)
        var changes = store.changes().makeAsyncIterator()
        await #expect(throws: Refusal.self) {
            try await store.write { [numbers] transaction in
                try transaction.set(1, for: "a", in: numbers)
                throw Refusal()
            }
        }

        let commit = try await store.write { [numbers] transaction in
            #expect(try transaction.count(in: numbers) == 0)
            try transaction.set(2, for: "b", in: numbers)
            return transaction.commit
        }
        #expect(commit == CommitNumber(rawValue: 1))
        #expect(await changes.next()?.first == commit)
        try store.close()
    }

    @Test func `commit numbers go on after a relaunch, and changing nothing takes none`()
        async throws
    {
        let path = folder.path("store.sqlite")
        for round in 1...3 as ClosedRange<Int64> {
            let store = try Store(.file(path))
            let commit = try await store.write { [numbers] transaction in
                try transaction.set(Int(round), for: "n", in: numbers)
                return transaction.commit
            }
            #expect(commit.rawValue == round)
            try await store.write { [numbers] in try $0.set(Int(round), for: "n", in: numbers) }
            try await store.write { [numbers] in
                try $0.set(7, for: "new", in: numbers)
                try $0.remove("new", in: numbers)
            }
            let last = try await store.read { $0.lastCommit }
            #expect(last == commit)
            try store.close()
        }
    }

    @Test func `a change set tells the net effect of its commit`() async throws {
        let store = try Store(.memory)
        try await store.write { [numbers] in
            for key in ["kept", "changed", "gone"] { try $0.set(1, for: key, in: numbers) }
        }
        var changes = store.changes().makeAsyncIterator()

        try await store.write { [numbers] in
            try $0.set(2, for: "changed", in: numbers)
            try $0.set(1, for: "kept", in: numbers)
            try $0.set(3, for: "new", in: numbers)
            try $0.set(4, for: "new", in: numbers)
            try $0.remove("gone", in: numbers)
            try $0.set(5, for: "brief", in: numbers)
            try $0.remove("brief", in: numbers)
        }

        let set = try #require(await changes.next())
        #expect(set.inserted.map(\.key) == ["new"])
        #expect(set.updated.map(\.key) == ["changed"])
        #expect(set.removed.map(\.key) == ["gone"])
        #expect(set.keys.count == 3)
        try store.close()
        #expect(await changes.next() == nil, "closing ends the sequence")
    }

    @Test func `a slow observer misses nothing`() async throws {
        let store = try Store(.memory)
        let changes = store.changes()
        let count = 600
        for number in 1...count {
            try await store.write { [numbers] in
                try $0.set(number, for: "\(number % 7)", in: numbers)
            }
        }
        try store.close()

        var next = CommitNumber.none.next
        var keys: Set<ObjectKey> = []
        for await set in changes {
            #expect(set.first == next, "there is no gap")
            next = set.last.next
            keys.formUnion(set.keys)
        }
        #expect(next.rawValue == Int64(count) + 1)
        #expect(keys.count == 7)
    }

    @Test func `readers see one commit while writers go on`() async throws {
        let store = try Store(.file(folder.path("store.sqlite")))
        let numbers = numbers
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...200 {
                    try await store.write {
                        try $0.set(number, for: "a", in: numbers)
                        try $0.set(number, for: "b", in: numbers)
                    }
                }
            }
            for _ in 0..<200 {
                let pair = try await store.read {
                    (try $0.get("a", in: numbers), try $0.get("b", in: numbers))
                }
                #expect(pair.0 == pair.1)
            }
            try await group.waitForAll()
        }
        try store.close()
    }

    @Test func `the store is durable by default`() async throws {
        let store = try Store(.file(folder.path("store.sqlite")))
        let synchronous = try await store.write {
            try Int.fetchOne($0.database, sql: "PRAGMA synchronous")
        }
        #expect(synchronous == 2, "FULL")
        try store.close()
    }

    @Test func `hooks write into the commit that called them`() async throws {
        struct Mirror: TransactionHook {
            let collections: Set<Key>? = ["numbers"]

            func willCommit(
                _ changes: [ObjectChange],
                in transaction: borrowing WriteTransaction
            ) throws {
                for change in changes {
                    guard let value = try change.newValue() else { continue }
                    if value == 13 { throw Refusal() }
                    let mirrored = ObjectKey(collection: "mirror", key: change.key.key)
                    try transaction.setValue(value, of: mirrored)
                }
            }
            struct Refusal: Error {}
        }
        let store = try Store(.memory)
        try store.addHook(Mirror(), named: "mirror")
        #expect(throws: StoreError.hookExists(name: "mirror")) {
            try store.addHook(Mirror(), named: "mirror")
        }
        var changes = store.changes().makeAsyncIterator()

        try await store.write { [numbers] in try $0.set(1, for: "a", in: numbers) }
        await #expect(throws: Mirror.Refusal.self) {
            try await store.write { [numbers] in try $0.set(13, for: "b", in: numbers) }
        }

        #expect(await changes.next()?.inserted.count == 2)
        let mirror = Store.Collection<Int>("mirror")
        let found1 = try await store.read { try $0.keys(in: mirror) }
        #expect(found1 == ["a"])
        let found2 = try await store.read { [numbers] in try $0.keys(in: numbers) }
        #expect(found2 == ["a"])
        try store.close()
    }

    @Test(arguments: [false, true])
    func `closing twice is closing once`(isOnDisk: Bool) throws {
        let store = try Store(isOnDisk ? .file(folder.path("twice.sqlite")) : .memory)
        try store.close()
        try store.close()
    }
}
