import GodwitTestKit
import GodwitTree
import Testing

/// M4 and M5 for lists that all versions keep in order.
@Suite struct MergeSortedListTests {
    enum Style: CaseIterable {
        case numbers, names, versions, records, descending

        func item(_ number: Int) -> Value {
            let digits = String(number + 100_000)
            switch self {
            case .numbers: return .int(Int64(number))
            case .descending: return .int(Int64(-number))
            case .names: return .string(Key("name\(digits)"))
            case .versions: return .string(Key("1.\(number / 100).\(number % 100)"))
            case .records:
                let title = Value.string(Key("title\(digits)"))
                // Fields that are in no order.
                let scrambled = Int64(number * 7_919 % 100_003)
                return ["title": title, "size": .int(scrambled)]
            }
        }
    }

    @Test func `a sorted list stays sorted where a side put another item in the place of one`() {
        let base: Value = ["ant", "bee", "cow", "dog", "elk"]
        let replaced: Value = ["ant", "bull", "cow", "dog", "elk"]
        let inserted: Value = ["ant", "bee", "beetle", "cow", "dog", "elk"]
        let wanted: Value = ["ant", "beetle", "bull", "cow", "dog", "elk"]
        for (ours, theirs) in [(replaced, inserted), (inserted, replaced)] {
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.value == wanted && merge.conflicts.isEmpty)
            #expect((try? merge.afterOurs.applied(to: ours)) == wanted)
            #expect((try? merge.afterTheirs.applied(to: theirs)) == wanted)
        }
    }

    @Test func `sections that both sides append stay together, whatever kind their blocks are of`()
    {
        func block(_ kind: Value, _ text: Value) -> Value { ["kind": kind, "text": text] }
        let base = [block("markdown", "m0")] + (1...9).map { block("code", .int(7 * $0 % 10)) }
        let ours = [block("markdown", "# Load"), block("code", "load()")]
        let theirs = [block("markdown", "# Plot"), block("code", "plot()")]
        func list(_ blocks: [Value]) -> Value { .list(Value.List(blocks)) }
        let merge = Merge(base: list(base), ours: list(base + ours), theirs: list(base + theirs))
        #expect(merge.value == list(base + ours + theirs))
        #expect(merge.conflicts.isEmpty)
    }

    @Test(arguments: Style.allCases)
    func `a list that both sides keep in order stays in order, with all that they insert`(
        style: Style
    ) {
        var laws = LawBook()
        for seed in 0..<UInt64(300 * Soak.factor) {
            var random = Seeded(seed: seed)
            let base = (0..<random.pick([8, 20, 60])).map { $0 * 10 }
            // Runs of both sides, some of them in one gap: neither has what the other has.
            let gaps = (0..<random.pick([1, 2, 4])).map { _ in random.pick(base) }
            let ours = gaps.flatMap { gap in
                [1, 5, 7].prefix(random.pick([1, 2, 3])).map { gap + $0 }
            }
            let theirs = gaps.flatMap { gap in
                [2, 4, 8].prefix(random.pick([1, 2, 3])).map { gap + $0 }
            }
            let merge = Merge(
                base: list(base, style),
                ours: list(base + ours, style),
                theirs: list(base + theirs, style)
            )
            let wanted = list(base + ours + theirs, style)
            laws.check("in order", merge.value == wanted, "seed \(seed): \(merge.value)")
            laws.check("silent", merge.conflicts.isEmpty, "seed \(seed): \(merge.conflicts)")
        }
        laws.record()
    }

    private func list(_ numbers: [Int], _ style: Style) -> Value {
        .list(Set(numbers).sorted().map { style.item($0) })
    }
}
