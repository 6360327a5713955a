import GodwitConnectors
import GodwitQueue
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Observation
import Testing

/// Conflicts of replicas and clouds as objects of the app's type, in one list.
@Suite struct ConflictInboxTests: CardSuite {
    struct Card: Codable, Equatable, Sendable {
        var name: String
        var note = ""
        var count = 0
    }

    struct UploadCard: PushOperation {
        static let kind = "upload-card"
        let key: String
        var objects: [ObjectKey] { [ObjectKey(collection: "cards", key: Key(key))] }
    }

    let server: CardServer
    private let typed = Store.Collection<Card>("cards")

    init() async throws { server = try await CardServer() }

    private func change(
        _ key: String,
        on device: CardDevice,
        _ body: @escaping @Sendable (inout Card) -> Void
    ) async throws {
        try await device.store.write { [typed] in try $0.update(key, in: typed, body) }
    }

    private func conflicts(on device: CardDevice) async throws -> [ObjectConflict<Card>] {
        try await device.store.read { [typed] in try $0.conflicts(in: typed) }
    }

    private func card(_ key: String, on device: CardDevice) async throws -> Card? {
        try await device.store.read { [typed] in try $0.get(key, in: typed) }
    }

    /// Two devices that have renamed one card each to their own name.
    private func renamed() async throws -> (phone: CardDevice, tablet: CardDevice) {
        let (phone, tablet) = (try await device(), try await device())
        try await phone.store.write { [typed] in try $0.set(Card(name: "old"), for: "a", in: typed)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        try await change("a", on: phone) { $0.name = "phone" }
        try await change("a", on: tablet) { card in (card.name, card.count) = ("tablet", 7) }
        for device in [phone, tablet, phone] { try await device.synchronize() }
        return (phone, tablet)
    }

    @Test func `a replica's conflict shows the object as it is, and as it would be`() async throws {
        let (phone, tablet) = try await renamed()
        for device in [phone, tablet] {
            let found = try await conflicts(on: device)
            let conflict = try #require(found.first)
            #expect(found.count == 1 && conflict.key == "a" && conflict.canTakeOther)
            let names: Set = [conflict.current?.name, conflict.other?.name]
            #expect(names == ["phone", "tablet"])
            #expect(conflict.other?.count == 7, "the other side's name, and all else as it is")
            #expect(try await card("a", on: device) == conflict.current)
        }
    }

    @Test(arguments: [0, 1, 2, 3])
    func `each choice about a replica's conflict reaches all devices`(number: Int) async throws {
        let (phone, tablet) = try await renamed()
        let conflict = try #require(try await conflicts(on: phone).first)
        let written = Card(name: "both", note: "by hand")
        let (choice, expected): (ConflictResolution<Card>, Card?) =
            [
                (.keep, conflict.current), (.takeOther, conflict.other), (.put(written), written),
                (.put(nil), nil),
            ][number]
        try await phone.store.write { [typed] in try $0.resolve(conflict, in: typed, choice) }
        for device in [phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            let (found, left) = (try await card("a", on: device), try await conflicts(on: device))
            #expect(found == expected && left.isEmpty)
        }
        await #expect(throws: ReplicationError.unknownConflict(typed.place("a"))) {
            try await phone.store.write { [typed] in try $0.resolve(conflict, in: typed, .keep) }
        }
    }

    @Test func `a place that has changed since cannot be given to the other side`() async throws {
        let (phone, _) = try await renamed()
        try await change("a", on: phone) { $0.name = "later" }
        let conflict = try #require(try await conflicts(on: phone).first)
        #expect(
            !conflict.canTakeOther && conflict.other == nil && conflict.current?.name == "later"
        )
        await #expect(throws: ReplicationError.changedSince(typed.place("a"))) {
            try await phone.store.write { [typed] in try $0.resolve(conflict, in: typed, .takeOther)
            }
        }
        try await phone.store.write { [typed] in try $0.resolve(conflict, in: typed, .keep) }
        #expect(try await conflicts(on: phone).isEmpty)
    }

    @Test func `the other device's removal is shown, and can be taken`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try await phone.store.write { [typed] in try $0.set(Card(name: "old"), for: "a", in: typed)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        try await change("a", on: phone) { $0.name = "edited" }
        try await tablet.store.write { [typed] in try $0.remove("a", in: typed) }
        for device in [phone, tablet, phone] { try await device.synchronize() }
        let conflict = try #require(try await conflicts(on: phone).first)
        #expect(conflict.current?.name == "edited")
        #expect(conflict.other == nil && conflict.canTakeOther)
        try await phone.store.write { [typed] in try $0.resolve(conflict, in: typed, .takeOther) }
        for device in [phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] { #expect(try await card("a", on: device) == nil) }
    }

    @Test func `an object is not put over one that is newer than what was shown`() async throws {
        let (phone, _) = try await renamed()
        let conflict = try #require(try await conflicts(on: phone).first)
        try await change("a", on: phone) { $0.note = "newer" }
        await #expect(throws: StoreError.self) {
            try await phone.store.write { [typed] transaction in
                try transaction.resolve(conflict, in: typed, .put(Card(name: "stale")))
            }
        }
        #expect(try await card("a", on: phone)?.note == "newer")
        let left = try await conflicts(on: phone)
        #expect(left.count == 1 && left.first != conflict)
    }

    @Test func `a record about another collection is left out`() async throws {
        let phone = try await device()
        let record: Value = [
            "object": ["other", "a"],
            "conflicts": [
                "c": ["path": ["n"], "reason": "bothSet", "choice": "ours", "version": 1]
            ],
        ]
        try await phone.store.write {
            try $0.setValue(record, of: ObjectKey(collection: "godwit.conflicts.cards", key: "x"))
        }
        #expect(try await conflicts(on: phone).isEmpty)
    }

    // MARK: - Clouds

    struct CardV1: Codable, Sendable { var title: String }

    @Test(arguments: [ConflictResolution<Card>.keep, .takeOther, .put(Card(name: "by hand"))])
    func `a decision about an object of a later version leaves it readable`(
        choice: ConflictResolution<Card>
    ) async throws {
        let newer = Store.Collection<CardV1>("cards").upgraded { Card(name: $0.title) }
        let store = try Store(.memory)
        let id = try await store.write { transaction in
            try transaction.set(Card(name: "mine"), for: "b", in: newer)
            return try transaction.enqueue(UploadCard(key: "b"))
        }
        var pipeline = Pipeline().on(UploadCard.self) { _, run in
            let theirs: Value = ["name": "theirs", "note": "", "count": 0]
            return run.operation.attempts == 0
                ? .conflict(theirs: theirs, reason: "412") : .completed
        }
        pipeline.resolve = { _ in nil }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let running = Task { try await queue.run() }
        for await status in queue.statuses(of: id) where status == .conflict { break }
        let conflict = try #require(try await store.read { try $0.conflicts(in: newer) }.first)
        try await store.write { try $0.resolve(conflict, in: newer, choice) }
        #expect(try await queue.result(of: id) == .completed)
        running.cancel()
        let card = try await store.read { try $0.get("b", in: newer) }
        let expected =
            switch choice {
            case .keep: "mine"
            case .takeOther: "theirs"
            case .put: "by hand"
            }
        #expect(card?.name == expected)
    }

    /// A cloud that answers the first push of each card with a newer version.
    private func pushed(
        _ theirs: Value?,
        _ body: @escaping @Sendable (Store, PushQueue, OperationID) async throws -> Void
    ) async throws {
        let store = try Store(.memory)
        let id = try await store.write { [typed] transaction in
            try transaction.set(Card(name: "mine"), for: "b", in: typed)
            return try transaction.enqueue(UploadCard(key: "b"))
        }
        var pipeline = Pipeline().on(UploadCard.self) { _, run in
            run.operation.attempts == 0 ? .conflict(theirs: theirs, reason: "412") : .completed
        }
        pipeline.resolve = { _ in nil }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let running = Task { try await queue.run() }
        for await status in queue.statuses(of: id) where status == .conflict { break }
        try await body(store, queue, id)
        running.cancel()
        _ = await running.result
        try store.close()
    }

    @Test(arguments: [0, 1, 2, 3])
    func `each choice about a cloud's conflict is stored, and pushed`(number: Int) async throws {
        let typed = typed
        try await pushed(["name": "theirs", "note": "n", "count": 3]) { store, queue, id in
            let found = try await store.read { try $0.conflicts(in: typed) }
            let conflict = try #require(found.first)
            let theirs = Card(name: "theirs", note: "n", count: 3)
            #expect(found.count == 1 && conflict.origin == .cloud(id, reason: "412"))
            #expect(conflict.current == Card(name: "mine") && conflict.other == theirs)
            let written = Card(name: "both")
            let (choice, expected): (ConflictResolution<Card>, Card?) =
                [
                    (.keep, conflict.current), (.takeOther, theirs), (.put(written), written),
                    (.put(nil), nil),
                ][number]
            try await store.write { try $0.resolve(conflict, in: typed, choice) }
            #expect(try await queue.result(of: id) == .completed)
            let (card, left) = try await store.read { transaction in
                (try transaction.get("b", in: typed), try transaction.conflicts(in: typed))
            }
            #expect(card == expected && left.isEmpty)
        }
    }

    @Test func `a cloud's version that was not read cannot be taken`() async throws {
        let typed = typed
        try await pushed(nil) { store, _, _ in
            let found = try await store.read { try $0.conflicts(in: typed) }
            let conflict = try #require(found.first)
            #expect(!conflict.canTakeOther && conflict.other == nil)
            await #expect(throws: ConnectorError.unreadVersion("b")) {
                try await store.write { try $0.resolve(conflict, in: typed, .takeOther) }
            }
        }
    }

    // MARK: - Screens

    @Test @MainActor func `an inbox follows the store, and settles`() async throws {
        let (phone, tablet) = try await renamed()
        let inbox = ConflictInbox(of: typed, in: phone.store)
        while inbox.conflicts.isEmpty { await change(of: inbox) }
        try await inbox.resolve(inbox.conflicts[0], .takeOther)
        while !inbox.conflicts.isEmpty { await change(of: inbox) }
        for device in [phone, tablet] { try await device.synchronize() }
        try await change("a", on: phone) { $0.name = "1" }
        try await change("a", on: tablet) { $0.name = "2" }
        for device in [tablet, phone] { try await device.synchronize() }
        while inbox.conflicts.isEmpty { await change(of: inbox) }
        #expect(inbox.conflicts[0].key == "a")
    }

    @MainActor private func change(of inbox: ConflictInbox<Card>) async {
        await withCheckedContinuation { continuation in
            withObservationTracking {
                _ = inbox.conflicts
            } onChange: {
                continuation.resume()
            }
        }
    }
}
