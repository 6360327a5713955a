import GodwitTestKit
import GodwitTree
import Testing

/// The algebra of deltas, laws L1 to L7: tried completely on small values, by seed on larger.
@Suite struct DeltaLawTests {
    static let worlds = [SmallWorld.arrangements, SmallWorld.mixed]

    @Test(arguments: worlds)
    func `every pair of small values keeps the laws`(world: [Value]) throws {
        for base in world {
            for next in world { try checkPair(base, next) }
        }
    }

    @Test(arguments: worlds)
    func `every chain of three small values composes`(world: [Value]) throws {
        for base in world {
            for next in world {
                let first = Delta.diff(base, next)
                for last in world {
                    let both = try first.composed(with: .diff(next, last))
                    let result = try both.applied(to: base)
                    guard result == last else {
                        Issue.record("\(base) → \(next) → \(last) gave \(both) and \(result)")
                        return
                    }
                }
            }
        }
    }

    @Test func `composition of small arrangements is associative`() throws {
        let world = SmallWorld.arrangements.filter { ($0.list?.count ?? 0) <= 3 }
        let few = world.filter { !($0.list ?? []).contains(4) }
        for base in few {
            for next in world {
                let first = Delta.diff(base, next)
                for middle in few {
                    let second = Delta.diff(next, middle)
                    let both = try first.composed(with: second)
                    for last in world {
                        let third = Delta.diff(middle, last)
                        let left = try both.composed(with: third)
                        let right = try first.composed(with: second.composed(with: third))
                        try #require(left == right, "\(base) \(next) \(middle) \(last)")
                    }
                }
            }
        }
    }

    @Test func `a hundred thousand random histories keep the laws`() throws {
        for seed in 0..<UInt64(100_000 * Soak.factor) {
            let history = History(seed: seed)
            let first = try checkPair(history.base, history.first)
            let second = try checkPair(history.first, history.second)
            let third = Delta.diff(history.second, history.third)

            let left = try first.composed(with: second).composed(with: third)
            let right = try first.composed(with: second.composed(with: third))
            guard left == right, try left.applied(to: history.base) == history.third else {
                Issue.record("composition is not associative, \(history): \(left) ≠ \(right)")
                return
            }
        }
    }

    @discardableResult
    private func checkPair(_ base: Value, _ next: Value) throws -> Delta {
        let delta = Delta.diff(base, next)
        let inverse = try delta.inverted(on: base)
        let laws: [(String, Bool)] = [
            ("L1 keep changes nothing", try Delta.keep.applied(to: base) == base),
            ("L2 diff leads to the other", try delta.applied(to: base) == next),
            ("L2 equal values differ by keep", (delta == .keep) == (base == next)),
            ("L5 keep is the unit, before", try Delta.keep.composed(with: delta) == delta),
            ("L5 keep is the unit, after", try delta.composed(with: .keep) == delta),
            ("L6 the inverse leads back", try inverse.applied(to: next) == base),
            ("L6 inverting twice", try inverse.inverted(on: next) == delta),
            ("L7 bytes read back", try Delta(canonicalBytes: delta.canonicalBytes) == delta),
            (
                "L7 packed bytes read back",
                try Delta(packed: delta.packed(on: base), on: base).applied(to: base) == next
            ),
            (
                "L7 JSON reads back",
                try Delta(encoded: Value(json: delta.encoded.jsonText())) == delta
            ),
        ]
        for law in laws where !law.1 { Issue.record("\(law.0): \(base) → \(next) by \(delta)") }
        return delta
    }
}
