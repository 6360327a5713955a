import GodwitTestKit
import GodwitTree
import Testing

/// Laws of every merge of every kind of document: above all, a merge invents nothing.
///
/// Two thousand cases of each kind; a soak has a hundred thousand.
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

        /// Whether a word of the base stands in several items of the merge because a side wrote it anew, in
        /// an item of its own: at most one of them has half of the words of the base's item.
        func isCoincidence(_ word: Value) -> Bool {
            func holders(_ value: Value) -> [Tokens] {
                Tokens.items(of: value).keys.map { Tokens(of: $0) }.filter {
                    $0.counts[word] != nil
                }
            }
            guard let origin = holders(base).first else { return false }
            let copies = holders(merge.value)
            return copies.allSatisfy { $0.counts[word] == 1 }
                && copies.count { $0.shareOfWords(with: origin) >= 0.5 } < 2
        }

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
            // A line of a text that has no word left may come from a text with words.
            let lines = Tokens.lines(of: entry.ours, entry.theirs)
            let invented = tokens.subtracting(Tokens(of: entry.base, entry.ours, entry.theirs))
                .subtracting(lines)
            laws.check("nothing is invented", invented.isEmpty, "\(invented): \(entry)")
            let risen = tokens.subtracting(sides).subtracting(invented).subtracting(lines)
            laws.check("what both sides removed is gone", risen.isEmpty, "\(risen): \(entry)")
        }
        laws.record()
    }

    @Test(arguments: DocumentKind.allCases)
    func `no merge without a conflict has a word or an item more often than both sides put it in`(
        kind: DocumentKind
    ) {
        var laws = LawBook()
        var (doubled, copies): ([String], [String]) = ([], [])
        for seed in 0..<Self.caseCount {
            let entry = Case(kind, seed: seed)
            guard entry.merge.conflicts.isEmpty else { continue }
            let values = [entry.merge.value, entry.base, entry.ours, entry.theirs]
            // If both sides replace a record, or nearly all of it, both new ones stay.
            if ![.records, .keyedRecords].contains(kind) {
                let words = Self.doubled(values.map { Tokens(of: $0).counts })
                if !words.isEmpty { doubled.append("\(words): \(entry)") }
                // In one case of many, both sides write a new line with a word of one that goes.
                let copied = words.filter { !entry.isCoincidence($0) }
                if !copied.isEmpty { copies.append("\(copied): \(entry)") }
            }
            let items = Self.doubled(values.map { Tokens.items(of: $0) })
            laws.check("no item is doubled", items.isEmpty, "\(items): \(entry)")
        }
        #expect(doubled.count <= Self.caseCount / 10_000, "a word is doubled: \(doubled)")
        #expect(copies.count <= Self.caseCount / 100_000, "an item is copied: \(copies)")
        laws.record()
    }

    /// What occurs once in the base, or is new and occurs once in a side, and more often in the first
    /// of four: in the merge.
    private static func doubled(_ counts: [[Value: Int]]) -> [Value] {
        counts[0].compactMap { token, count in
            let inputs = counts.dropFirst().map { $0[token] ?? 0 }
            guard inputs.allSatisfy({ $0 <= 1 }), inputs.contains(1) else { return nil }
            return count > (inputs[0] == 1 ? 1 : inputs[1] + inputs[2]) ? token : nil
        }
    }

    @Test(arguments: DocumentKind.allCases)
    func `each item of a merge is made of one item of each side`(kind: DocumentKind) {
        var laws = LawBook()
        for seed in 0..<Self.caseCount {
            let entry = Case(kind, seed: seed)
            let (ours, theirs) = (Tokens.items(of: entry.ours), Tokens.items(of: entry.theirs))
            var sides: (ours: [Tokens], theirs: [Tokens])?
            for item in Tokens.items(of: entry.merge.value).keys {
                if ours[item] != nil || theirs[item] != nil { continue }
                let known =
                    sides ?? (ours.keys.map { Tokens(of: $0) }, theirs.keys.map { Tokens(of: $0) })
                sides = known
                let tokens = Tokens(of: item)
                let isMade = known.ours.contains { our in
                    known.theirs.contains { tokens.isSubset(of: our, $0) }
                }
                laws.check("made of two versions", isMade, "\(item): \(entry)")
            }
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
