import Foundation
import GodwitTree

extension Tally {
    /// A table of the counts, for people.
    var text: String {
        let head = Self.row(program, Self.columns.map(\.title))
        let lines = rows.map { name, counts in
            Self.row(name, Self.columns.map { $0.cell(counts) })
        }
        return ([head] + lines).joined(separator: "\n")
    }

    /// What the columns say, for people.
    static let legend = """
        equal: what people settled on; of these "alike" report a conflict and chose as people did
        order: different only in the order of items, without a conflict
        conflict: a conflict is reported, and people decided differently
        silent: different without a conflict
        by hand: people added a word, number, scalar or key that is in none of the three inputs
        """

    private struct Column {
        let title: String
        let cell: (Counts) -> String

        init(_ title: String, _ cell: @escaping (Counts) -> String) {
            (self.title, self.cell) = (title, cell)
        }

        static func percent(of count: @escaping (Counts) -> Int) -> Column {
            Column("%") { counts in
                let share = 100 * Double(count(counts)) / Double(max(1, counts.merges))
                return String(format: "%.1f", share)
            }
        }
    }

    private static var columns: [Column] {
        [
            Column("merges") { "\($0.merges)" }, Column("equal") { "\($0.equal)" },
            .percent { $0.equal }, Column("alike") { "\($0.decidedAlike)" },
            Column("order") { "\($0.orderOnly)" },
            Column("conflict") { "\($0.decidedDifferently)" },
            Column("silent") { "\($0.silentlyDifferent)" }, .percent { $0.silentlyDifferent },
            Column("by hand") { "\($0.madeByHand)" },
        ]
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        name.padding(24) + cells.map { $0.leftPadding(9) }.joined()
    }
}

extension Target {
    var text: String {
        let figures = String(format: "%.1f of %.1f", figure, bound)
        return name.padding(40) + figures.leftPadding(16) + (isMet ? "  ok" : "  MISSED")
    }
}

extension MergeCase {
    /// How our merge differs from people's, and what it reports.
    func described(_ answer: Answer, _ outcome: Outcome) -> String {
        let wanted = Delta.diff(answer.value ?? .null, expected).ednText()
        let hand = isMadeByHand ? ", with something added by hand" : ""
        let lines = ["\(outcome): \(name)\(hand)", "    people then did \(wanted.prefix(1_200))"]
        let conflicts = answer.conflicts.prefix(4).map { "    conflict at \($0.prefix(300))" }
        return (lines + conflicts).joined(separator: "\n")
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    fileprivate func leftPadding(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
