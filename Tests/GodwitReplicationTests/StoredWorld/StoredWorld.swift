import GodwitStore
import GodwitTestKit
import GodwitTree

@testable import GodwitReplication

/// Stores that exchange over a bad network, from one seed.
struct StoredWorld {
    private var random: Seeded
    private let line = TestLine()
    private var devices: [Device] = []
    private var number: Int64 = 0
    private var created: Set<Int64> = []
    private var removed: Set<Int64> = []
    private var added: Int64 = 0

    private struct Device {
        let store: Store
        var replica: Replica
        var late: (request: ReplicaRequest, answer: WireAnswer)?
    }

    private static let lists = StoreCollection<Value>("lists")
    private static let cards = StoreCollection<Value>("cards")

    init(seed: UInt64, devices count: Int) async throws {
        random = Seeded(seed: seed)
        for _ in 0..<count {
            let store = try Store(.memory)
            devices.append(Device(store: store, replica: try await Self.open(store)))
        }
        try await devices[0].store.write {
            try $0.set(["count": 0, "items": []], for: "a", in: Self.lists)
        }
        for index in devices.indices { try await synchronize(index) }
    }

    private static func open(_ store: Store) async throws -> Replica {
        try await .open(.simulated, server: "line", in: store, collections: ["lists", "cards"])
    }

    /// Runs some random steps, heals everything, and tells what is wrong at the end.
    mutating func run(steps: Int) async throws -> [String] {
        for _ in 0..<steps { try await step() }
        for index in devices.indices { devices[index].late = nil }
        for _ in 0..<3 { for index in devices.indices { try await synchronize(index) } }
        return try await problems()
    }

    private mutating func step() async throws {
        let index = Int.random(in: devices.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: try await edit(index)
        case 45..<90: try await exchange(index)
        case 90..<95: try await receiveLate(index)
        case 95:
            let replica = devices[index].replica
            try await replica.store.write { try replica.distrust(in: $0) }
        default:
            devices[index].replica.close()
            devices[index].replica = try await Self.open(devices[index].store)
        }
    }

    // MARK: Edits

    private mutating func edit(_ index: Int) async throws {
        number += 1
        let (store, number) = (devices[index].store, number)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
            added += number
            try await store.write { transaction in
                try transaction.edit("a", in: Self.lists) { $0.count += Int(number) }
            }
        case 2:
            created.insert(number)
            let place = Double.random(in: 0...1, using: &random)
            try await store.write { transaction in
                try transaction.edit("a", in: Self.lists) {
                    let count = $0.items.list.count
                    $0.items.list.insert(["id": .int(number)], at: Int(place * Double(count)))
                }
            }
        case 3, 4:
            created.insert(number)
            try await store.write {
                try $0.set(["id": .int(number)], for: "c\(number)", in: Self.cards)
            }
        default:
            let keys = try await store.read { try $0.keys(in: Self.cards) }
            guard let key = keys.randomElement(using: &random) else { return }
            removed.insert(Int64(key.dropFirst()) ?? 0)
            try await store.write { try $0.remove(key, in: Self.cards) }
        }
    }

    // MARK: Exchanges

    private mutating func exchange(_ index: Int) async throws {
        let (store, replica) = (devices[index].store, devices[index].replica)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        if random.happens(0.2) { return }
        let answer = try line.serve(request)
        if random.happens(0.1) { _ = try line.serve(request) }
        if random.happens(0.2) {
            devices[index].late = (request, answer)
            return
        }
        try await store.write { try replica.receive(answer, to: request, in: $0) }
    }

    private mutating func receiveLate(_ index: Int) async throws {
        guard let (request, answer) = devices[index].late else { return }
        devices[index].late = nil
        let replica = devices[index].replica
        try await replica.store.write { try replica.receive(answer, to: request, in: $0) }
    }

    private func synchronize(_ index: Int) async throws {
        let (store, replica) = (devices[index].store, devices[index].replica)
        for _ in 0..<24 {
            let request = try await store.write { try replica.nextRequest(in: $0) }
            let answer = try line.serve(request)
            let isBehind = try await store.write {
                try replica.receive(answer, to: request, in: $0)
            }
            if !isBehind { return }
        }
    }

    // MARK: The end

    private func problems() async throws -> [String] {
        var problems: [String] = []
        for (index, device) in devices.enumerated() {
            let replica = device.replica
            let found = try await device.store.write { transaction in
                var found = try replica.problems(in: transaction)
                if try replica.isDirty(in: transaction) { found.append("something is not sent") }
                return found
            }
            problems += found.map { "device \(index): \($0)" }
            let objects = try await device.store.read { transaction in
                var objects: [ObjectKey: Value] = [:]
                for collection in try transaction.collections() {
                    for key in try transaction.keys(in: StoreCollection<Value>(collection)) {
                        let place = ObjectKey(collection: collection, key: Key(key))
                        objects[place] = try transaction.value(of: place)
                    }
                }
                return objects
            }
            if objects != line.objects { problems.append("device \(index) has other objects") }
        }
        let list = line.objects[ObjectKey(collection: "lists", key: "a")]
        if list?["count"]?.integer != added { problems.append("the sum is not \(added)") }
        let items = list?["items"]?.list.map(Array.init) ?? []
        let values = items + line.objects.filter { $0.key.collection == "cards" }.map(\.value)
        let present = values.compactMap { $0["id"]?.integer }
        if present.sorted() != created.subtracting(removed).sorted() {
            problems.append("\(present.sorted()) is not \(created.subtracting(removed).sorted())")
        }
        return problems
    }
}
