import GodwitTestKit
import GodwitTree

@testable import GodwitReplication
@testable import GodwitStore

/// A body that changes its mind.
private struct Undo: Error {}

extension SyncWorld {
    static let lists = ["a", "b"]
    static let listed = Store.Collection<Value>("lists")
    static let cards = Store.Collection<Value>("cards")
    static let notes = Store.Collection<Value>("notes")
    static let shapes = Store.Collection<Shape>("shapes")
    static let objectSizeMax = 400

    private typealias Body = @Sendable (borrowing WriteTransaction, Int) throws -> Void

    /// Has a launch make a random edit.
    func edit(_ launch: DeviceLaunch) {
        let list = Self.lists[Int.random(in: 0...1, using: &random)]
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3: insertItem(launch, list)
        case 4, 5: removeItem(launch, list)
        case 6: increment(launch, list)
        case 7: createCard(launch)
        case 8: writeNote(launch)
        case 9: drawShape(launch)
        case 10: settle(launch)
        default: remove(launch)
        }
    }

    private func write(_ launch: DeviceLaunch, _ name: String, _ body: @escaping Body) {
        let write = books.answers.count
        books.answers[write] = .open
        let throwsUp = random.happens(0.05)
        let machine = devices[launch.device].machine
        let faults = machine.faultCount
        start(launch) { [self] launch in
            do {
                try await launch.store.write { transaction in
                    try body(transaction, write)
                    if throwsUp { throw Undo() }
                }
                guard launch.isAlive else { return }
                note("write \(write) on device \(launch.device), \(name), is committed")
                books.answers[write] = .committed
            } catch {
                guard launch.isAlive else { return }
                note("write \(write) on device \(launch.device), \(name), fails: \(error)")
                let isUndone = error is Undo || error is StrictHook.Refusal
                if isUndone { books.answers[write] = .undone }
                let isExpected = isUndone || error is CancellationError
                if !isExpected, !machine.mayFail(launch.process, since: faults),
                    !launch.store.isPoisoned
                {
                    violate("a write on device \(launch.device) fails: \(error)")
                }
            }
        }
    }

    private func insertItem(_ launch: DeviceLaunch, _ list: String) {
        let number = books.number()
        let place = Double.random(in: 0...1, using: &random)
        write(launch, "item \(number) in \(list)") { [self] transaction, write in
            guard try transaction.get(list, in: Self.listed) != nil else { return }
            books.note(.created, number, by: launch.device, in: write)
            try transaction.edit(list, in: Self.listed) {
                let count = Double($0.items.list.count)
                $0.items.list.insert(["id": .int(number)], at: Int(place * count))
            }
        }
    }

    private func removeItem(_ launch: DeviceLaunch, _ list: String) {
        let place = Double.random(in: 0..<1, using: &random)
        write(launch, "no item in \(list)") { [self] transaction, write in
            let items = try transaction.get(list, in: Self.listed)?["items"]?.list
            guard let items, !items.isEmpty else { return }
            let index = Int(place * Double(items.count))
            let number = items[index]["id"]?.integer ?? 0
            books.note(.removed, number, by: launch.device, in: write)
            try transaction.edit(list, in: Self.listed) { $0.items.list.remove(at: index) }
        }
    }

    private func increment(_ launch: DeviceLaunch, _ list: String) {
        write(launch, "one more in \(list)") { [self] transaction, write in
            guard try transaction.get(list, in: Self.listed) != nil else { return }
            let number = Int64(Self.lists.firstIndex(of: list) ?? 0)
            // What is not recorded is sent as the value that it led to.
            if launch.replica == nil { books.setCounts.insert(number) }
            books.note(.added, number, by: launch.device, in: write)
            try transaction.edit(list, in: Self.listed) { $0.count += 1 }
        }
    }

    private func createCard(_ launch: DeviceLaunch) {
        let number = books.number()
        let isTooLarge = faults.rejections && random.happens(0.3)
        write(launch, "card \(number)") { [self] transaction, write in
            var card: Value = ["id": .int(number)]
            if isTooLarge {
                let text = String(repeating: "x", count: Self.objectSizeMax)
                card = ["id": .int(-number), "text": .string(Key(text))]
            } else {
                books.note(.created, number, by: launch.device, in: write)
            }
            try transaction.set(card, for: "c\(number)", in: Self.cards)
        }
    }

    /// Creates a note, or overwrites what another device has written.
    private func writeNote(_ launch: DeviceLaunch) {
        let key = "n\(Int.random(in: 0...2, using: &random))"
        let number = books.number()
        write(launch, "\(number) in note \(key)") { [self] transaction, write in
            if let old = try transaction.get(key, in: Self.notes)?["id"]?.integer {
                books.note(.removed, old, by: launch.device, in: write)
            }
            books.note(.created, number, by: launch.device, in: write)
            try transaction.set(["id": .int(number)], for: key, in: Self.notes)
        }
    }

    /// Removes a card or a note.
    private func remove(_ launch: DeviceLaunch) {
        let collection = random.happens(0.5) ? Self.cards : Self.notes
        let place = Double.random(in: 0..<1, using: &random)
        write(launch, "no object in \(collection.name)") { [self] transaction, write in
            let keys = try transaction.keys(in: collection)
            guard !keys.isEmpty else { return }
            let key = keys[Int(place * Double(keys.count))]
            let number = try transaction.get(key, in: collection)?["id"]?.integer ?? 0
            if number > 0 { books.note(.removed, number, by: launch.device, in: write) }
            try transaction.remove(key, in: collection)
        }
    }

    /// Draws a shape of one case of its enum, over what another device has drawn.
    private func drawShape(_ launch: DeviceLaunch) {
        let key = "s\(Int.random(in: 0...1, using: &random))"
        let number = books.number()
        let shape = Shape.allCases[Int.random(in: 0...2, using: &random)](number)
        write(launch, "\(number) in shape \(key)") { [self] transaction, write in
            let plain = Store.Collection<Value>(Self.shapes.name)
            let old = try transaction.get(key, in: plain).map { EditBooks.numbers(in: [$0]) } ?? []
            for number in old { books.note(.removed, number, by: launch.device, in: write) }
            books.note(.created, number, by: launch.device, in: write)
            try transaction.set(shape, for: key, in: Self.shapes)
        }
    }

    /// Settles a conflict as a person does.
    private func settle(_ launch: DeviceLaunch) {
        guard let replica = launch.replica else { return }
        let place = Double.random(in: 0..<1, using: &random)
        let decision = random.happens(0.6) ? ConflictDecision.takeOther : .keep
        write(launch, "a decision") { [self] transaction, write in
            let records = try replica.conflicts(in: transaction)
            guard !records.isEmpty else { return }
            let object = records[Int(place * Double(records.count))].object
            let conflicts = records.first { $0.object == object }?.conflicts ?? [:]
            guard let (id, conflict) = conflicts.min(by: { $0.key < $1.key }) else { return }
            let before = try transaction.value(of: object).map { EditBooks.numbers(in: [$0]) } ?? []
            do {
                try replica.resolve(id, about: object, decision, in: transaction)
            } catch ReplicationError.changedSince {
                try replica.resolve(id, about: object, in: transaction)
            }
            let after = try transaction.value(of: object).map { EditBooks.numbers(in: [$0]) } ?? []
            let sides = EditBooks.numbers(in: [conflict.ours, conflict.theirs].compactMap(\.self))
            for number in Set(before + sides).subtracting(after) {
                books.note(.removed, number, by: launch.device, in: write)
            }
            books.putBack.formUnion(Set(after).subtracting(before))
            if conflict.path.steps.first == .key("count") {
                books.setCounts.insert(Int64(Self.lists.firstIndex(of: object.key.text) ?? 0))
            }
        }
    }
}

/// What an app draws: of two cases in one object its type makes nothing.
enum Shape: Codable, Sendable {
    case circle(Int64), square(Int64), triangle(Int64)

    static let allCases: [@Sendable (Int64) -> Shape] = [
        { .circle($0) }, { .square($0) }, { .triangle($0) },
    ]
}
