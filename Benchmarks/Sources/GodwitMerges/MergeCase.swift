import GodwitTree

/// One merge of somebody's, and ours of the same.
struct MergeCase {
    let name: String
    let merge: Merge
    let expected: Value

    init(_ value: Value) {
        let commit = value["commit"]?.text?.prefix(10) ?? ""
        name = "\(value["repo"]?.text ?? "?") \(commit) \(value["path"]?.text ?? "?")"
        merge = Merge(
            base: value["base"] ?? .null,
            ours: value["ours"] ?? .null,
            theirs: value["theirs"] ?? .null
        )
        expected = value["merged"] ?? .null
    }

    /// How our merge and theirs compare.
    enum Outcome: CaseIterable {
        /// The same, and nothing to decide.
        case equal
        /// The same, and what was chosen in a conflict is what people chose.
        case equalWithConflict
        /// Different only in the order of items that both sides put in one place.
        case order
        /// Different, and a conflict says where people have to look.
        case conflict
        /// Different without a word.
        case different

        var isWorthListing: Bool { self != .equal && self != .equalWithConflict }
    }

    var outcome: Outcome {
        if merge.value == expected { return merge.conflicts.isEmpty ? .equal : .equalWithConflict }
        if merge.conflicts.isEmpty { return isOrderOnly ? .order : .different }
        return .conflict
    }

    /// Whether all that is left to do is to move items that neither side had in the base.
    private var isOrderOnly: Bool { Self.sorted(merge.value) == Self.sorted(expected) }

    /// The value with every list in one order.
    private static func sorted(_ value: Value) -> Value {
        switch value {
        case .list(let items):
            let items = items.map(sorted)
            return .list(items.sorted { $0.digest.description < $1.digest.description })
        case .map(let map):
            return .map(Value.Map(map.map { ($0.key, sorted($0.value)) }))
        default: return value
        }
    }

    func described(_ outcome: Outcome) -> String {
        let wanted = Delta.diff(merge.value, expected).ednText()
        var lines = ["\(outcome): \(name)", "    people then did \(wanted.prefix(1_200))"]
        lines += merge.conflicts.prefix(4).map { "    conflict at \($0.description.prefix(300))" }
        return lines.joined(separator: "\n")
    }
}

/// How many merges came out how.
struct Table {
    private var counts: [MergeCase.Outcome: Int] = [:]

    mutating func count(_ outcome: MergeCase.Outcome) { counts[outcome, default: 0] += 1 }

    var text: String {
        let total = counts.values.reduce(0, +)
        func line(_ name: String, _ outcomes: MergeCase.Outcome...) -> String {
            let count = outcomes.reduce(0) { $0 + (counts[$1] ?? 0) }
            let percent = Double(count * 1_000 / max(1, total)) / 10
            return
                "\(name.padding(48))\(String(count).leftPadding(6))\(String(percent).leftPadding(8)) %"
        }
        return [
            "", line("merges", .equal, .equalWithConflict, .order, .conflict, .different),
            line("equal to what people settled on", .equal, .equalWithConflict),
            line("  of these with a conflict, decided alike", .equalWithConflict),
            line("different only in the order of two insertions", .order),
            line("conflict, decided differently", .conflict),
            line("different without a conflict", .different),
        ].joined(separator: "\n")
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
