import GodwitStore
import GodwitTree

/// Several writers that count on together until they are killed.
///
/// Every transaction takes the next number, adds it to a sum, and puts it into one of a few
/// slots and that slot's twin: the last number tells what all objects must be.
struct Endless {
    static let writerCount = 4
    static let slotCount: Int64 = 61

    let path: String

    /// Writes until the process ends, and calls `acknowledge` with each number that is committed.
    func run(acknowledge: @escaping @Sendable (Int64) -> Void) async {
        do {
            let store = try Store(.file(path))
            try await withThrowingTaskGroup(of: Void.self) { group in
                let changes = store.changes()
                group.addTask { await Self.listen(to: changes) }
                for _ in 0..<Self.writerCount {
                    group.addTask {
                        while true {
                            acknowledge(try await store.write { try Self.writeNext(in: $0) })
                        }
                    }
                }
                try await group.waitForAll()
            }
        } catch {
            Report.broken("the writers ended: \(error)").print()
        }
    }

    /// Reports a commit that is told twice, late or not at all.
    private static func listen(to changes: ChangeSets) async {
        var told: Int64?
        for await change in changes {
            if let told, change.first.rawValue != told + 1 {
                Report.broken("\(change.first) is told after \(told)").print()
            }
            if change.isReset { Report.broken("\(change.first) resets").print() }
            told = change.last.rawValue
        }
    }

    private static func writeNext(in transaction: borrowing WriteTransaction) throws -> Int64 {
        let last = try transaction.value(of: total)
        let number = (last?["last"]?.integer ?? 0) + 1
        let sum = (last?["sum"]?.integer ?? 0) + number
        try transaction.setValue(["last": .int(number), "sum": .int(sum)], of: total)
        let slot = Key("\(number % slotCount)")
        try transaction.setValue(value(number), of: ObjectKey(collection: slots, key: slot))
        try transaction.setValue(value(number), of: ObjectKey(collection: twins, key: slot))
        return number
    }

    private static let slots: Key = "slots"
    private static let twins: Key = "twins"
    private static let total = ObjectKey(collection: "total", key: "total")

    /// Values of different sizes, so that pages split, overflow and are freed.
    private static func value(_ number: Int64) -> Value {
        let padding = String(repeating: "x", count: Int(number * 37 % 1_500))
        return ["number": .int(number), "padding": .string(Key(padding))]
    }
}

extension Endless {
    /// The last number that a store has, and what in it does not go with that.
    static func check(_ store: Store) async throws -> (last: Int64, wrong: [String]) {
        try await store.read { transaction in
            let total = try transaction.value(of: total)
            let last = total?["last"]?.integer ?? 0
            var wrong: [String] = []
            if total?["sum"]?.integer ?? 0 != last * (last + 1) / 2 { wrong.append("the sum") }
            for slot in 0..<slotCount {
                let number = last - (last - slot + slotCount) % slotCount
                let expected = number > 0 ? value(number) : nil
                for collection in [slots, twins] {
                    let key = ObjectKey(collection: collection, key: Key("\(slot)"))
                    if try transaction.value(of: key) != expected { wrong.append("\(key)") }
                }
            }
            return (last, wrong)
        }
    }
}
