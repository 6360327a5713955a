import GodwitTree

/// How conflicts are shown to people and programs.
enum ConflictText {
    /// One line for each conflict: where, why, and what there was to choose from.
    ///
    /// - Parameter areMarked: Whether the document holds both versions, between markers; then the
    ///   line tells the reason alone, and not which version was chosen.
    static func lines(_ conflicts: [Conflict], areMarked: Bool = false) -> [String] {
        conflicts.map { conflict in
            let explanation = conflict.explanation
            let isMarked = areMarked && conflict.hasMarkers
            let reason = isMarked ? String(explanation.prefix { $0 != ";" }) : explanation
            let sides = [
                ("base", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs),
            ].map { "\($0) \(shown($1))" }
            let kind = conflict.isNotice ? "notice" : "conflict"
            return "\(kind) at \(conflict.path): \(reason) "
                + "(\(sides.joined(separator: ", ")))"
        }
    }

    static func encoded(_ conflicts: [Conflict]) -> Value { .list(conflicts.map(\.encoded)) }

    private static func shown(_ value: Value?) -> String {
        guard let value else { return "absent" }
        let text = Layout.oneLine.text(of: value)
        return text.count > valueMax ? text.prefix(valueMax) + "…" : text
    }

    private static let valueMax = 100
}

extension Conflict {
    fileprivate var encoded: Value {
        var map: Value.Map = [
            "path": .string(Key(path.description)), "reason": .string(Key(reason.rawValue)),
            "choice": .string(Key(choice.rawValue)),
            "explanation": .string(Key(explanation)),
        ]
        map["base"] = base
        map["ours"] = ours
        map["theirs"] = theirs
        return .map(map)
    }
}
