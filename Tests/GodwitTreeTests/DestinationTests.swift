import GodwitTestKit
import Testing

@testable import GodwitTree

/// Where parts of a value are after a change.
@Suite struct DestinationTests {
    @Test(arguments: 1...400)
    func `each item that stays is found where it went`(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let base: [Int] = Array(0..<Int.random(in: 1...12, using: &random))
        var items = base.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        if random.next() % 3 == 0 { items.shuffle(using: &random) }
        for new in 0..<Int.random(in: 0...3, using: &random) {
            items.insert(100 + new, at: Int.random(in: 0...items.count, using: &random))
        }
        func value(_ numbers: [Int], _ text: String) -> Value {
            let records = numbers.map {
                Value.map(["id": .int(Int64($0)), "text": .string(Key(text))])
            }
            return ["items": .list(Value.List(records))]
        }
        let old = value(base, "old")
        let delta = try Delta.diff(old, value(items, "old")).composed(
            with: .diff(value(items, "old"), value(items, "new"))
        )
        // A list that shares nothing with the old one replaces it.
        guard items.contains(where: base.contains) else { return }
        for (position, number) in base.enumerated() {
            let path = ValuePath([.key("items"), .position(position), .key("text")])
            let wanted = items.firstIndex(of: number).map {
                ValuePath([.key("items"), .position($0), .key("text")])
            }
            #expect(delta.destination(of: path) == wanted, "seed \(seed), item \(number)")
        }
    }

    @Test func `a removed field keeps its path, and what lies in it is gone`() {
        let base: Value = ["a": ["b": 1], "c": 2]
        let delta = Delta.diff(base, ["c": 2])
        #expect(delta.destination(of: ValuePath([.key("a")])) == ValuePath([.key("a")]))
        #expect(delta.destination(of: ValuePath([.key("a"), .key("b")])) == nil)
        #expect(delta.destination(of: ValuePath([.key("c")])) == ValuePath([.key("c")]))
    }

    @Test func `in a value that is replaced, and in one that stays, a path is the same`() {
        let path = ValuePath([.key("a"), .position(3), .key("b")])
        #expect(Delta.set(1).destination(of: path) == path)
        #expect(Delta.keep.destination(of: path) == path)
    }
}
