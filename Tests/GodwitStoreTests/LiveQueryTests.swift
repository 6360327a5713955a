import GodwitTestKit
import GodwitTree
import Observation
import Synchronization
import Testing

@testable import GodwitStore

/// Queries for screens, seen as a screen sees them: through Observation, on the main actor.
@Suite(.timeLimit(.minutes(5))) @MainActor struct LiveQueryTests {
    struct Contact: Codable, Equatable, Identifiable, Sendable {
        var id: Int
        var name: String
        var isOnline = true
    }

    let contacts = Store.Collection<Contact>("contacts")
    let store: Store

    init() throws { store = try Store(.memory) }

    private var online: Store.Query<Contact> {
        contacts.where(\.isOnline, .equal(true)).order(by: \.name)
    }

    private func write(_ list: Contact...) async throws {
        try await store.write { [contacts] transaction in
            for contact in list { try transaction.set(contact, in: contacts) }
        }
    }

    /// Waits until something that is observed is so.
    private func reaches(_ predicate: @MainActor () -> Bool) async {
        while true {
            let (changes, continuation) = AsyncStream<Void>.makeStream()
            let isSo = withObservationTracking {
                predicate()
            } onChange: {
                continuation.finish()
            }
            if isSo { return }
            for await _ in changes {}
        }
    }

    /// Counts how often Observation says that what a body reads will change.
    private final class Invalidations: Sendable {
        private let counter = Mutex(0)

        var count: Int { counter.withLock { $0 } }

        @MainActor func watch(_ body: @MainActor () -> Void) {
            withObservationTracking {
                body()
            } onChange: { [self] in
                counter.withLock { $0 += 1 }
            }
        }
    }

    @Test func `rows are loading, then those of the query, in its order`() async throws {
        try await write(Contact(id: 1, name: "b"), Contact(id: 2, name: "a"))
        try await write(Contact(id: 3, name: "c", isOnline: false))
        let live = LiveQuery(online, in: store)
        guard case .loading = live.phase else { return #expect(Bool(false), "\(live.phase)") }
        #expect(live.isEmpty)
        await reaches { live.count == 2 }
        #expect(live.map(\.object.name) == ["a", "b"])
        #expect(live.map(\.id) == ["2", "1"])
        guard case .current = live.phase else { return #expect(Bool(false), "\(live.phase)") }
    }

    @Test func `an object that changes invalidates its row alone`() async throws {
        try await write(Contact(id: 1, name: "a"), Contact(id: 2, name: "b"))
        let live = LiveQuery(online, in: store)
        await reaches { live.count == 2 }
        let (list, first, second) = (Invalidations(), Invalidations(), Invalidations())
        list.watch { _ = live.map(\.id) }
        first.watch { _ = live[0].object }
        let (row, other) = (live[0], live[1])
        second.watch { _ = other.object }
        try await write(Contact(id: 1, name: "aa"))
        await reaches { row.object.name == "aa" }
        #expect(live[0] === row)
        #expect((list.count, first.count, second.count) == (0, 1, 0))
    }

    @Test func `rows come, go and move, and stay the same objects`() async throws {
        try await write(Contact(id: 1, name: "a"), Contact(id: 2, name: "b"))
        let live = LiveQuery(online, in: store)
        await reaches { live.count == 2 }
        let (first, second) = (live[0], live[1])
        try await write(Contact(id: 1, name: "c"), Contact(id: 3, name: "bb"))
        await reaches { live.count == 3 }
        #expect(live.map(\.id) == ["2", "3", "1"])
        #expect(live[0] === second && live[2] === first)
        try await write(Contact(id: 2, name: "b", isOnline: false))
        await reaches { live.count == 2 }
        #expect(live.map(\.object.name) == ["bb", "c"])
    }

    @Test func `sections have the rows that share a value, in the query's order`() async throws {
        for (id, name) in ["bo", "al", "ann", "cy", "ben"].enumerated() {
            try await write(Contact(id: id, name: name))
        }
        let live = LiveQuery(online, in: store)
        await reaches { live.count == 5 }
        let sections = live.sections { $0.name.prefix(1) }
        #expect(sections.map(\.value) == ["a", "b", "c"])
        let names = sections.map { $0.rows.map(\.object.name) }
        #expect(names == [["al", "ann"], ["ben", "bo"], ["cy"]])
        // One section for each value, also where the order is another one.
        live.query = contacts.order(by: \.id)
        await reaches { live.first?.object.name == "bo" }
        let others = live.sections { $0.name.prefix(1) }
        let otherNames = others.map { $0.rows.map(\.object.name) }
        #expect(otherNames == [["bo", "ben"], ["al", "ann"], ["cy"]])
        // A screen that shows sections is told when a row would be in another one.
        let shown = Invalidations()
        shown.watch { _ = live.sections { $0.name.prefix(1) } }
        try await write(Contact(id: 1, name: "dan"))
        await reaches { live.sections { $0.name.prefix(1) }.map(\.value) == ["b", "d", "a", "c"] }
        #expect(shown.count == 1)
    }

    @Test func `a value follows each commit, and tells only what is another`() async throws {
        try await write(Contact(id: 1, name: "a"))
        let count = LiveValue(in: store) { [online] in try $0.count(online) }
        #expect(count.value == nil && count.phase.isLoading)
        await reaches { count.value == 1 }
        let shown = Invalidations()
        shown.watch { _ = count.value }
        try await write(Contact(id: 1, name: "b"))
        try await write(Contact(id: 2, name: "c", isOnline: false))
        #expect(shown.count == 0)
        try await write(Contact(id: 2, name: "c"))
        await reaches { count.value == 2 }
        #expect(shown.count == 1)
        try store.close()
        await reaches { if case .ended = count.phase { true } else { false } }
        #expect(count.value == 2)
    }

    @Test func `a search shows the best rows first, and follows its words and the store`()
        async throws
    {
        let words = Store.Index.fullText("words", on: Field(\Contact.name))
        var options = Store.Options()
        options.collections = [CollectionRules(contacts, indexes: [words])]
        let store = try Store(.memory, options: options)
        let names = ["bread and butter", "bread, bread, bread", "milk"]
        try await store.write { [contacts] transaction in
            for (id, name) in names.enumerated() {
                try transaction.set(Contact(id: id, name: name), in: contacts)
            }
        }
        let live = LiveSearch(contacts.matching("bread", by: words), in: store)
        #expect(live.rows.isEmpty && live.phase.isLoading)
        await reaches { live.rows.map(\.key) == ["1", "0"] }
        try await store.write { [contacts] transaction in
            try transaction.set(Contact(id: 3, name: "bread"), in: contacts)
        }
        await reaches { live.rows.count == 3 }
        live.query = contacts.matching("milk", by: words)
        await reaches { live.rows.map(\.key) == ["2"] }
        try await store.write { [contacts] in try $0.remove(2, in: contacts) }
        await reaches { live.rows.isEmpty }
        guard case .current = live.phase else { return #expect(Bool(false), "\(live.phase)") }
    }

    @Test func `another query takes the place of the first one`() async throws {
        try await write(Contact(id: 1, name: "a"), Contact(id: 2, name: "b", isOnline: false))
        let live = LiveQuery(online, in: store)
        await reaches { live.count == 1 }
        var isEnded = false
        live.query = contacts.order(by: \.name, .descending)
        await reaches {
            if case .ended = live.phase { isEnded = true }
            return live.count == 2
        }
        #expect(live.map(\.id) == ["2", "1"])
        #expect(!isEnded)
        guard case .current = live.phase else { return #expect(Bool(false), "\(live.phase)") }
        try await write(Contact(id: 3, name: "z", isOnline: false))
        await reaches { live.count == 3 }
    }

    @Test func `an object that cannot be read is named, and its row goes`() async throws {
        try await write(Contact(id: 1, name: "a"), Contact(id: 2, name: "b"))
        let live = LiveQuery(contacts.all, in: store)
        await reaches { live.count == 2 }
        let place = contacts.place("1")
        try await store.write { try $0.setValue(["id": 1], of: place) }
        await reaches { live.count == 1 }
        #expect(live.map(\.id) == ["2"])
        #expect(live.unreadable.keys.sorted() == ["1"])
        try await write(Contact(id: 1, name: "back"))
        await reaches { live.count == 2 }
        #expect(live.unreadable.isEmpty)
        #expect(live[0].object.name == "back")
    }

    @Test func `a read that fails is tried again after the next change`() async throws {
        let place = contacts.place("1")
        try await store.write { try $0.setValue(["id": 1], of: place) }
        let live = LiveObject(1, of: contacts, in: store)
        await reaches { if case .failed = live.phase { true } else { false } }
        try await write(Contact(id: 1, name: "mended"))
        await reaches { live.object?.name == "mended" }
        guard case .current = live.phase else { return #expect(Bool(false), "\(live.phase)") }
    }

    @Test func `keys that are one text for Swift have a row each`() async throws {
        let names = Store.Collection<String>("names")
        try await store.write { transaction in
            try transaction.set("one", for: "\u{e9}", in: names)
            try transaction.set("two", for: "e\u{301}", in: names)
        }
        let live = LiveQuery(names.all, in: store)
        await reaches { live.count == 2 }
        #expect(Set(live.map(\.object)) == ["one", "two"])
        try await store.write { try $0.set("three", for: "e\u{301}", in: names) }
        await reaches { live.contains { $0.object == "three" } }
        #expect(Set(live.map(\.object)) == ["one", "three"])
    }

    @Test func `a loop over the rows goes on when rows go meanwhile`() async throws {
        try await write(Contact(id: 1, name: "a"), Contact(id: 2, name: "b"))
        let live = LiveQuery(online, in: store)
        await reaches { live.count == 2 }
        var names: [String] = []
        for row in live {
            names.append(row.object.name)
            try await store.write { [contacts] in try $0.removeAll(in: contacts) }
            await reaches { live.isEmpty }
        }
        #expect(names == ["a", "b"])
    }

    @Test func `a query that cannot be answered says so, and a store that closes`() async throws {
        let live = LiveQuery(contacts.where(Filter("name", .equal(["a"]))), in: store)
        await reaches { if case .failed(is StoreError) = live.phase { true } else { false } }
        let other = LiveQuery(online, in: store)
        await reaches { if case .current = other.phase { true } else { false } }
        try store.close()
        await reaches { if case .ended = other.phase { true } else { false } }
    }

    @Test func `a query that nothing holds is freed, and follows no more`() async throws {
        var live: LiveQuery<Contact>? = LiveQuery(online, in: store)
        weak let weakLive = live
        await reaches { if case .current? = live?.phase { true } else { false } }
        live = nil
        #expect(weakLive == nil)
    }

    @Test func `one object is followed from before it is there until it is gone`() async throws {
        let live = LiveObject(1, of: contacts, in: store)
        await reaches { if case .current = live.phase { true } else { false } }
        #expect(live.object == nil)
        try await write(Contact(id: 1, name: "a"))
        await reaches { live.object?.name == "a" }
        try await store.write { [contacts] in try $0.remove(1, in: contacts) }
        await reaches { live.object == nil }
    }

    @Test
    func `a view keeps its query until the store or what the query depends on is another one`()
        throws
    {
        let slot = LiveSlot<LiveQuery<Contact>>()
        func query(in store: Store, id: Int) -> LiveQuery<Contact>? {
            slot.follow(store, id: id) { LiveQuery(online, in: $0) }
            return slot.model
        }
        #expect(slot.model == nil)
        let first = query(in: store, id: 1)
        #expect(first != nil && query(in: store, id: 1) === first)
        let second = query(in: store, id: 2)
        #expect(second !== first)
        #expect(query(in: store, id: 2) === second)
        #expect(slot.model === second, "reading it does not replace it")
        #expect(query(in: try Store(.memory), id: 2) !== second)
    }
}
