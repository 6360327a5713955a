import GodwitTree

/// How conflicts are shown to people and programs.
enum ConflictText {
    /// One line for each conflict: where, why, and what there was to choose from.
    ///
    /// - Parameter marked: The conflicts of which the document holds both versions, between markers:
    ///   their lines tell the reason alone, and not which version was chosen.
    static func lines(_ conflicts: [Conflict], marked: Set<Conflict> = []) -> [String] {
        conflicts.map { conflict in
            let explanation = conflict.explanation
            let isMarked = marked.contains(conflict)
            let reason = isMarked ? String(explanation.prefix { $0 != ";" }) : explanation
            let sides = [
                ("base", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs),
            ].map { "\($0) \(shown($1))" }
            let kind = conflict.isNotice ? "notice" : "conflict"
            return "\(kind) at \(conflict.path.description.withoutControls): \(reason) "
                + "(\(sides.joined(separator: ", ")))"
        }
    }

    static func encoded(_ conflicts: [Conflict]) -> Value { .list(conflicts.map(\.encoded)) }

    private static func shown(_ value: Value?) -> String {
        guard let value else { return "absent" }
        let text = Layout.oneLine.text(of: value).withoutControls
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
