import GodwitTree

/// How the merge of a program and that of people compare.
enum Outcome: String, CaseIterable, Codable {
    /// The same, and nothing to decide.
    case equal
    /// The same, and what was chosen in a reported conflict is what people chose.
    case decidedAlike
    /// Different only in the order of the items of lists, and nothing reported.
    case orderOnly
    /// Different, and a reported conflict says where people have to look.
    case decidedDifferently
    /// Different without a word.
    case silentlyDifferent

    var isEqual: Bool { self == .equal || self == .decidedAlike }
    var isReported: Bool { self == .decidedAlike || self == .decidedDifferently }

    /// Compares an answer with what people settled on; no value is a conflict without a choice.
    init(_ value: Value?, hasConflicts: Bool, expected: Value) {
        if value == expected {
            self = hasConflicts ? .decidedAlike : .equal
        } else if hasConflicts {
            self = .decidedDifferently
        } else {
            let isSorted = value.map { Self.sorted($0) == Self.sorted(expected) } ?? false
            self = isSorted ? .orderOnly : .silentlyDifferent
        }
    }

    /// The value with the items of each list in one order.
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
}
