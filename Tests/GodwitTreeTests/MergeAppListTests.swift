import GodwitTestKit
import GodwitTree
import Testing

/// Laws of merges of lists as apps have them: an edit stays with the item that it was made to.
@Suite struct MergeAppListTests {
    private static let caseCount: UInt64 =
        Soak.factor == 1 ? 2_000 : UInt64(max(100_000, 10_000 * Soak.factor))

    private struct Case: CustomStringConvertible {
        let seed: UInt64
        let base, ours, theirs: [Value]
        let merge: Merge

        init(seed: UInt64, _ base: [Value], _ ours: [Value], _ theirs: [Value]) {
            (self.seed, self.base, self.ours, self.theirs) = (seed, base, ours, theirs)
            merge = Merge(
                base: .list(Value.List(base)),
                ours: .list(Value.List(ours)),
                theirs: .list(Value.List(theirs))
            )
        }

        var result: [Value] { Array(merge.value.list ?? []) }

        var description: String {
            "seed \(seed): base \(base), ours \(ours), theirs \(theirs): \(result),"
                + " conflicts \(merge.conflicts)"
        }
    }

    @Test(arguments: AppList.allCases)
    func `an edit stays with its record, and each new record is there once`(kind: AppList) throws {
        guard let field = kind.wordField else { return }
        var laws = LawBook()
        for seed in 0..<Self.caseCount {
            var random = Seeded(seed: seed)
            let base = kind.list(&random)
            let sides = (0..<2).map { _ in
                (0..<Int.random(in: 1...2, using: &random)).reduce(base) { items, _ in
                    kind.edited(items, &random)
                }
            }
            let entry = Case(seed: seed, base, sides[0], sides[1])
            guard entry.merge.conflicts.isEmpty else { continue }
            let versions = Dictionary(grouping: base + sides[0] + sides[1]) { $0[field] }
            for item in entry.result {
                let known = versions[item[field]] ?? []
                let isOwn = item.map?.allSatisfy { field in
                    field.key == "step" || known.contains { $0[field.key] == field.value }
                }
                laws.check("no field is another record's", isOwn == true, "\(item): \(entry)")
            }
            let words = entry.result.map { $0[field] }
            laws.check("no record is there twice", Set(words).count == words.count, "\(entry)")
            let old = Set(base.map { $0[field] })
            let new = Set((sides[0] + sides[1]).map { $0[field] }).subtracting(old)
            laws.check("each new record is there", new.isSubset(of: words), "\(entry)")
        }
        laws.record()
    }

    @Test(arguments: AppList.allCases)
    func `a side that has all of the other side's edits, and one more, is the merge`(kind: AppList)
    {
        var laws = LawBook()
        for seed in 0..<Self.caseCount {
            var random = Seeded(seed: seed)
            let base = kind.list(&random)
            let ours = kind.edited(base, &random)
            let theirs = kind.edited(ours, &random)
            guard Self.goesOn(from: base, ours, theirs) else { continue }
            for entry in [
                Case(seed: seed, base, ours, theirs), Case(seed: seed, base, theirs, ours),
            ]
            where entry.merge.conflicts.isEmpty {
                let wanted = Value.list(Value.List(theirs)).unordered
                laws.check("the merge is theirs", entry.merge.value.unordered == wanted, "\(entry)")
            }
        }
        laws.record()
    }

    /// Whether the second edit takes nothing of the first one back, and the first is none.
    private static func goesOn(from base: [Value], _ ours: [Value], _ theirs: [Value]) -> Bool {
        let counts = [base, ours, theirs].map { Dictionary(grouping: $0) { $0 }.mapValues(\.count) }
        return Set(base + ours + theirs).allSatisfy { item in
            let count = counts.map { $0[item] ?? 0 }
            return (count[1] - count[0]).signum() * (count[2] - count[1]).signum() >= 0
        }
    }
}
