import GodwitConnectors
import GodwitQueue
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree

/// An app with lists and cards that are kept in sync.
///
/// Each item and card has a number that no other one has, so that each edit can be accounted for.
struct SyncDevice: Sendable {
    static let replica = "fleet"
    static let lists = Store.Collection<Value>("lists")
    static let cards = Store.Collection<Value>("cards")
    static let names = ["a", "b"]
    /// How many items a list has before more go than come.
    private static let itemsMax = 60
    private static let attemptsMax = 200
    /// How many edits a launch makes at most.
    private static let editsMax: Int64 = 100_000

    let store: Store
    let connector: ReplicaConnector
    let replica: Replica

    init(path: String, server: String) async throws {
        store = try Store(.file(path))
        var timeouts = HTTPTransport.Timeouts()
        timeouts.idle = .seconds(5)
        var options = ReplicaConnector.Options()
        options.backoff = Backoff(delayMin: .milliseconds(1), delayMax: .milliseconds(50))
        connector = try ReplicaConnector(
            store,
            transport: HTTPTransport(server: server, timeouts: timeouts),
            options: options
        )
        replica = try await connector.open(
            ReplicaName(Self.replica),
            collections: [Self.lists.name, Self.cards.name]
        )
    }

    func foundLists() async throws {
        for name in Self.names {
            try await store.write { try $0.set(["items": []], for: name, in: Self.lists) }
        }
    }

    // MARK: Edits

    func editForEver(launch: Int64) async throws {
        var random = Seeded(seed: UInt64(launch))
        for count in 0..<Self.editsMax {
            try await edit(launch * Self.editsMax + count, using: &random)
            // An app whose user rests now and then: its pushes get through.
            let pause = Duration.milliseconds(Int.random(in: 0...8, using: &random))
            try await ContinuousClock().sleep(for: pause)
        }
    }

    private func edit(_ number: Int64, using random: inout Seeded) async throws {
        let list = Self.names[Int.random(in: 0...1, using: &random)]
        let place = Double.random(in: 0..<1, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2: try await insertItem(number, into: list, at: place)
        case 3...4: try await removeItem(from: list, at: place)
        case 5: try await createCard(number)
        case 6: try await rewriteCard(number, at: place)
        default: try await removeCard(at: place)
        }
    }

    private func insertItem(_ number: Int64, into list: String, at place: Double) async throws {
        say("open created \(number)")
        try await store.write { transaction in
            try transaction.edit(list, in: Self.lists) {
                let index = Int(place * Double($0.items.list.count + 1))
                $0.items.list.insert(["id": .int(number)], at: index)
            }
        }
        say("done created \(number)")
    }

    private func removeItem(from list: String, at place: Double) async throws {
        let removed = try await store.write { transaction -> [Int64] in
            let items = try transaction.get(list, in: Self.lists)?["items"]?.list ?? []
            guard !items.isEmpty else { return [] }
            let count = max(1, items.count - Self.itemsMax)
            let start = Int(place * Double(items.count - count + 1))
            let numbers = (start..<start + count).compactMap { items[$0]["id"]?.integer }
            for number in numbers { say("open removed \(number)") }
            try transaction.edit(list, in: Self.lists) {
                for _ in 0..<count { $0.items.list.remove(at: start) }
            }
            return numbers
        }
        for number in removed { say("done removed \(number)") }
    }

    private func createCard(_ number: Int64) async throws {
        say("open created \(number)")
        try await store.write {
            try $0.set(["id": .int(number)], for: "c\(number)", in: Self.cards)
        }
        say("done created \(number)")
    }

    /// Puts another number on a card, which two devices may do at once.
    private func rewriteCard(_ number: Int64, at place: Double) async throws {
        let removed = try await store.write { transaction -> Int64? in
            let keys = try transaction.keys(in: Self.cards)
            guard !keys.isEmpty else { return nil }
            let key = keys[Int(place * Double(keys.count))]
            let old = try transaction.get(key, in: Self.cards)?["id"]?.integer ?? 0
            say("open removed \(old)")
            say("open created \(number)")
            try transaction.set(["id": .int(number)], for: key, in: Self.cards)
            return old
        }
        guard let removed else { return }
        say("done removed \(removed)")
        say("done created \(number)")
    }

    private func removeCard(at place: Double) async throws {
        let removed = try await store.write { transaction -> Int64? in
            let keys = try transaction.keys(in: Self.cards)
            guard !keys.isEmpty else { return nil }
            let key = keys[Int(place * Double(keys.count))]
            let number = try transaction.get(key, in: Self.cards)?["id"]?.integer ?? 0
            say("open removed \(number)")
            try transaction.remove(key, in: Self.cards)
            return number
        }
        if let removed { say("done removed \(removed)") }
    }

    // MARK: The end

    /// Waits until nothing is left to send, and what the server has is here.
    func settle() async throws {
        let commit = try await store.read { $0.lastCommit }
        try await connector.pushed(through: commit)
        for attempt in 1... {
            do { return try await connector.synchronize(replica.name) } catch {
                let isPassing = error is ConnectorError || error is ReplicationError
                guard isPassing, attempt < Self.attemptsMax else { throw error }
                try await ContinuousClock().sleep(for: .milliseconds(min(attempt, 50)))
            }
        }
    }

    /// What the device has, one object a line, and the numbers that conflicts keep.
    func report() async throws -> [String] {
        let lines = try await store.read { transaction in
            try [Self.lists, Self.cards].flatMap { collection in
                try transaction.keys(in: collection).map { key in
                    let value = try transaction.get(key, in: collection) ?? .null
                    return "object \(collection.name)/\(key) \(value.jsonText())"
                }
            }
        }
        let sides = try await replica.conflicts().flatMap(\.conflicts.values)
            .flatMap { [$0.ours, $0.theirs].compactMap(\.self) }
        return lines + sides.map { "recorded \($0.jsonText())" }
    }
}
