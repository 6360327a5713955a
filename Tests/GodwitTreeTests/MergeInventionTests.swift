import GodwitTestKit
import GodwitTree
import Testing

/// Laws of every merge of every kind of document: above all, a merge invents nothing.
///
/// Twenty thousand cases; a soak has a million.
@Suite struct MergeInventionTests {
    private static let caseCount: UInt64 =
        Soak.factor == 1 ? 2_000 : UInt64(max(100_000, 10_000 * Soak.factor))

    private struct Case: CustomStringConvertible {
        let kind: DocumentKind
        let seed: UInt64
        let base, ours, theirs: Value
        let merge: Merge

        init(_ kind: DocumentKind, seed: UInt64) {
            var random = Seeded(seed: seed)
            (self.kind, self.seed) = (kind, seed)
            base = kind.document(&random)
            ours = random.happens(0.05) ? base : random.revised(base)
            theirs = random.happens(0.05) ? ours : random.revised(base)
            merge = Merge(base: base, ours: ours, theirs: theirs)
        }

        var mirrored: Merge { Merge(base: base, ours: theirs, theirs: ours) }

        var description: String {
            "\(kind), seed \(seed): base \(base), ours \(ours), theirs \(theirs):"
                + " \(merge.value), conflicts \(merge.conflicts)"
        }
    }

    @Test(arguments: DocumentKind.allCases)
    func `no word, number or item of a merge is in none of its inputs`(kind: DocumentKind) {
        var laws = LawBook()
        for seed in 0..<Self.caseCount {
            let entry = Case(kind, seed: seed)
            let tokens = Tokens(of: entry.merge.value)
            let sides = Tokens(of: entry.ours, entry.theirs)
            let invented = tokens.subtracting(Tokens(of: entry.base, entry.ours, entry.theirs))
            laws.check("nothing is invented", invented.isEmpty, "\(invented): \(entry)")
            let risen = tokens.subtracting(sides).subtracting(invented)
            laws.check("what both sides removed is gone", risen.isEmpty, "\(risen): \(entry)")
        }
        laws.record()
    }

    @Test(arguments: DocumentKind.allCases)
    func `a merge with the base is the other side, and with itself is that side`(
        kind: DocumentKind
    ) {
        var laws = LawBook()
        for seed in 0..<Self.caseCount {
            let entry = Case(kind, seed: seed)
            let (base, ours, theirs) = (entry.base, entry.ours, entry.theirs)
            for (law, merge, wanted) in [
                ("ours with ours", Merge(base: base, ours: ours, theirs: ours), ours),
                ("the base with theirs", Merge(base: base, ours: base, theirs: theirs), theirs),
                ("ours with the base", Merge(base: base, ours: ours, theirs: base), ours),
            ] {
                laws.check(law, merge.value == wanted && merge.conflicts.isEmpty, "\(entry)")
            }
        }
        laws.record()
    }

    @Test(arguments: DocumentKind.allCases)
    func `either side comes to the merged value by what is left to do`(kind: DocumentKind) {
        var laws = LawBook()
        for seed in 0..<Self.caseCount {
            let entry = Case(kind, seed: seed)
            let merge = entry.merge
            for (law, delta, side) in [
                ("the delta", merge.delta, entry.base), ("after ours", merge.afterOurs, entry.ours),
                ("after theirs", merge.afterTheirs, entry.theirs),
            ] {
                laws.check(law, (try? delta.applied(to: side)) == merge.value, "\(entry)")
            }
        }
        laws.record()
    }

    @Test(arguments: DocumentKind.allCases)
    func `a merge without a conflict is the same with the sides swapped, but for order`(
        kind: DocumentKind
    ) {
        var laws = LawBook()
        for seed in 0..<Self.caseCount {
            let entry = Case(kind, seed: seed)
            guard entry.merge.conflicts.isEmpty else { continue }
            let mirrored = entry.mirrored
            laws.check("silent both ways", mirrored.conflicts.isEmpty, "\(entry)")
            laws.check(
                "the same both ways",
                mirrored.value.unordered == entry.merge.value.unordered,
                "\(mirrored.value) mirrored: \(entry)"
            )
        }
        laws.record()
    }
}

extension Value {
    /// The value with the items of lists, and the words of texts, in an order of their own.
    var unordered: Value {
        switch self {
        case .map(let map): .map(Value.Map(map.map { ($0.key, $0.value.unordered) }))
        case .list(let items):
            .list(items.map(\.unordered).sorted { $0.description < $1.description })
        case .string(let string):
            .string(Key(Tokens.split(string.text).map(\.text).sorted().joined(separator: "|")))
        default: self
        }
    }
}
