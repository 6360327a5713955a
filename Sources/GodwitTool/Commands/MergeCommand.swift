import ArgumentParser
import GodwitTree

/// Merges two versions of a document.
struct Merge: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Merge two versions of a JSON or EDN document.",
        discussion: """
            The merged document goes to standard output, conflicts to standard error. With
            conflicts the exit code is 2; the document then holds what was chosen for each.

            RULES (--policy PATH=RULE, * stands for any key or position)
              ours, theirs            that side's wish
              edit-wins, delete-wins  where one side edits what the other removes
              max, min                the greater or smaller of two values
              sum                     what both have added to a number
              union                   nothing is removed

            EXAMPLES
              godwit merge base.json ours.json theirs.json > merged.json
              godwit merge --policy '/votes=sum' base.json ours.json theirs.json
              godwit merge --identity /items=sku base.json ours.json theirs.json
              git config merge.godwit.driver 'godwit merge %O %A %B >%A.x && mv %A.x %A'
            """
    )

    @Argument(help: "The version that both grew from.") var base: InputFile
    @Argument(help: "Our version.") var ours: InputFile
    @Argument(help: "Their version; where both changed one scalar, theirs is taken.")
    var theirs: InputFile
    @Option(name: .customLong("policy"), help: "What to do at a path: PATH=RULE. May be repeated.")
    var rules: [String] = []
    @Option(
        name: .customLong("identity"),
        help: "Which key tells the items of the lists at a path apart: PATH=KEY. May be repeated."
    )
    var identities: [String] = []
    @Flag(help: "Print one object: the value and the conflicts.") var json = false

    func run() throws {
        let merge = GodwitTree.Merge(
            base: try base.value(),
            ours: try ours.value(),
            theirs: try theirs.value(),
            policy: try MergePolicy(rules: rules, identities: identities)
        )
        if json {
            Terminal.print(json: [
                "value": merge.value, "conflicts": .list(merge.conflicts.map(\.encoded)),
            ])
        } else {
            Terminal.print(ours.text(of: merge.value, onOneLine: false))
            for conflict in merge.conflicts { Terminal.warn("conflict at \(conflict)") }
        }
        if !merge.conflicts.isEmpty { throw ExitCode(2) }
    }
}

extension MergePolicy {
    private static let rules: [String: Rule] = [
        "ours": .ours, "theirs": .theirs, "edit-wins": .editWins, "delete-wins": .deleteWins,
        "max": .max, "min": .min, "union": .union, "sum": .sum,
    ]

    /// Reads `PATH=RULE` and `PATH=KEY`.
    init(rules: [String], identities: [String]) throws {
        self.init()
        for (path, name) in try rules.map(Self.pair) {
            guard let rule = Self.rules[name] else {
                let known = Self.rules.keys.sorted().joined(separator: ", ")
                throw ValidationError("\(name) is no rule; there are \(known).")
            }
            set(rule, at: path)
        }
        for (path, key) in try identities.map(Self.pair) { identify(by: Key(key), at: path) }
    }

    private static func pair(_ text: String) throws -> (String, String) {
        guard let equals = text.lastIndex(of: "="), text.first == "/" else {
            throw ValidationError("\"\(text)\" is not of the form /PATH=WORD.")
        }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
}

extension Conflict {
    fileprivate var encoded: Value {
        var map: Value.Map = [
            "path": .string(Key(path.description)), "reason": .string(Key(reason.rawValue)),
            "choice": .string(Key(choice.rawValue)),
            "explanation": .string(Key(reason.explanation)),
        ]
        map["base"] = base
        map["ours"] = ours
        map["theirs"] = theirs
        return .map(map)
    }
}
