import GodwitTestKit
import Testing

@testable import GodwitTree

/// What a packed delta costs its reader, and what the writer knows of it.
@Suite struct PackBudgetTests {
    /// Large changes, as imports and migrations make them.
    fileprivate enum Shape: CaseIterable {
        case positions, numbers, records, texts, nothing, keys, removals, edits, moves, splices

        /// The base, and what becomes of it.
        func change(_ count: Int) -> (base: Value, next: Value) {
            let numbers = (0..<count).map { Value.int(Int64($0 * 7_919 % 1_000_003)) }
            let list = Value.list(numbers)
            switch self {
            case .positions: return ([], .list(numbers.map { [$0, $0] }))
            case .numbers: return ([], list)
            case .records:
                return ([], .list(numbers.map { ["id": $0, "name": "n", "done": false] }))
            case .texts:
                return ([], .list(numbers.map { .string(Key("the number \($0), as text")) }))
            case .nothing: return (0, .list(Array(repeating: [], count: count)))
            case .keys: return ([:], .map(Value.Map(numbers.map { (Key("key \($0)"), $0) })))
            case .removals:
                return (list, .list(numbers.enumerated().filter { $0.0 % 2 == 0 }.map(\.1)))
            case .edits: return (list, .list(numbers.map { .int(-($0.integer ?? 0) - 1) }))
            case .moves: return (list, .list(numbers.reversed()))
            case .splices:
                let words = numbers.map { "word \($0)" }
                let text = { (space: String) in Value.string(Key(words.joined(separator: space))) }
                return (text(" "), text(" and "))
            }
        }
    }

    @Test(arguments: Shape.allCases, [1, 7, 8, 200, 5_000])
    private func `the writer knows to the byte what a reader takes`(shape: Shape, count: Int) throws
    {
        let (base, next) = shape.change(count)
        let delta = Delta.diff(base, next)
        let cost = Self.cost(of: delta, on: base)
        let (exact, less) = (ReadBudget(memoryMax: cost), ReadBudget(memoryMax: cost - 1))
        for bytes in [try delta.packed(on: base, .plain), delta.canonicalBytes] {
            #expect(try Delta(packed: bytes, on: base, budget: exact) == delta)
            guard cost > 0 else { continue }
            #expect(throws: TreeError.overBudget(.memory, limit: cost - 1)) {
                try Delta(packed: bytes, on: base, budget: less)
            }
        }
    }

    @Test(arguments: 0..<500 as Range<UInt64>)
    func `what is written for a budget is read with it, or the writer refuses`(seed: UInt64) throws
    {
        var random = Seeded(seed: seed)
        let base = Value.map(random.map(depth: 4))
        let next = random.happens(0.5) ? random.edited(base) : random.value(depth: 5)
        let delta = Delta.diff(base, next)
        let cost = Self.cost(of: delta, on: base)
        for memory in [0, cost / 2, cost - 1, cost, 2 * cost, 1 << 14, 1 << 20] {
            for isCompressed in [false, true] {
                var packing = Delta.Packing()
                packing.isCompressed = isCompressed && Zstandard.isAvailable
                packing.sizeMin = 1
                packing.budget = ReadBudget(memoryMax: memory)
                do throws(TreeError) {
                    let bytes = try delta.packed(on: base, packing)
                    #expect(try Delta(packed: bytes, on: base, budget: packing.budget) == delta)
                } catch {
                    #expect(error == .overBudget(.memory, limit: memory), "seed \(seed)")
                    #expect(memory < cost, "seed \(seed)")
                }
            }
        }
    }

    @Test(arguments: Shape.allCases)
    private func `what well compresses is read with the standard budget`(shape: Shape) throws {
        let (base, next) = shape.change(30_000)
        let delta = Delta.diff(base, next)
        #expect(try Delta(packed: delta.packed(on: base), on: base) == delta)
    }

    @Test func `60 MB of positions fit the standard budget`() throws {
        let count = 20_000
        let positions = (0..<count).map { index -> Value in
            let x = Double(index * 7_919 % 1_000_003) / 2_777.7
            return [.double(Finite(x) ?? 0.0), .double(Finite(x / 3) ?? 0.0)]
        }
        let delta = Delta.diff([], .list(positions))
        let size = try delta.packed(on: [], .plain).count
        let cost = Self.cost(of: delta, on: [])
        #expect(cost / size * 60_000_000 < ReadBudget.standard.memoryMax)
    }

    @Test func `a base that is a prefix is paid for where its bytes are made`() throws {
        try #require(Zstandard.isAvailable)
        let words = (0..<20_000).map { "word \($0 * 7_919 % 1_000_003)" }
        let base: Value = ["text": .string(Key(words.joined(separator: " ")))]
        let delta = Delta.diff(
            base,
            ["text": base["text"] ?? "", "copy": .list(words.map { .string(Key($0)) })]
        )
        let bytes = try delta.packed(on: base)
        #expect(bytes.first == DeltaCode.compressedOnBase)
        let size = base.canonicalBytes.count
        #expect(throws: TreeError.overBudget(.memory, limit: size)) {
            try Delta(packed: bytes, on: base, budget: ReadBudget(memoryMax: size))
        }
    }

    private static func cost(of delta: Delta, on base: Value) -> Int {
        var writer = DeltaWriter(isPacked: true)
        writer.write(delta, base)
        return writer.cost
    }
}
