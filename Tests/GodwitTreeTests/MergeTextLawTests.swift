import GodwitTestKit
import GodwitTree
import Testing

/// M7 for texts: edits of two sides in different lines, words or characters add up.
@Suite struct MergeTextLawTests {
    @Test func `edits of different lines of a text add up without a conflict`() {
        check(separator: "\n", minDistance: 2, isSilent: true) { random in
            (0..<random.pick([3, 6])).map { _ in random.uniqueWord() }.joined(separator: " ")
        }
    }

    @Test func `edits of different words of a text add up`() {
        check(separator: " ", minDistance: 3, isSilent: false) { $0.uniqueWord() }
    }

    @Test func `edits of different characters of a Japanese text add up`() {
        let characters = (0x4e00..<0x4fff).compactMap { UnicodeScalar($0).map { String($0) } }
        check(separator: "", minDistance: 4, isSilent: false) { $0.pick(characters) }
    }

    /// - Parameter minDistance: How far from each other the edits of the sides are.
    private func check(
        separator: String,
        minDistance: Int,
        isSilent: Bool,
        _ piece: (inout Seeded) -> String
    ) {
        var laws = LawBook()
        for seed in 0..<UInt64(500 * Soak.factor) {
            var random = Seeded(seed: seed)
            let pieces = (0..<random.pick([12, 20, 60])).map { _ in piece(&random) }
            var (ours, theirs, both) = (pieces, pieces, pieces)
            let first = Int.random(in: 0..<(pieces.count - minDistance), using: &random)
            let second = Int.random(in: (first + minDistance)..<pieces.count, using: &random)
            // A side replaces a piece, writes more, or removes it.
            let edits = [[piece(&random)], [pieces[first], piece(&random)], []]
            let (our, their) = (random.pick(edits), [piece(&random)])
            theirs.replaceSubrange(second...second, with: their)
            both.replaceSubrange(second...second, with: their)
            ours.replaceSubrange(first...first, with: our)
            both.replaceSubrange(first...first, with: our)
            let values = [pieces, ours, theirs, both].map { pieces in
                Value.string(Key(pieces.joined(separator: separator)))
            }
            for (ours, theirs) in [(values[1], values[2]), (values[2], values[1])] {
                let merge = Merge(base: values[0], ours: ours, theirs: theirs)
                let text =
                    "seed \(seed): base \(values[0]), ours \(ours), theirs \(theirs): \(merge)"
                laws.check("both edits", merge.value == values[3], text)
                laws.check("silent", !isSilent || merge.conflicts.isEmpty, text)
                let isBoth = merge.conflicts.allSatisfy { $0.choice == .both }
                laws.check("a report says that both are there", isBoth, text)
            }
        }
        laws.record()
    }
}

extension Seeded {
    /// A word that nothing else has.
    mutating func uniqueWord() -> String {
        String((0..<8).compactMap { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &self) })
    }
}
