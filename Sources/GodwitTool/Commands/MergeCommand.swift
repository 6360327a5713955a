import ArgumentParser
import Foundation
import GodwitTree

/// Merges two versions of a document.
struct Merge: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Merge two versions of a JSON or EDN document.",
        discussion: """
            The merged document goes to standard output, in the layout of ours: the order
            of keys, the indentation and the spelling of numbers and strings stay. If
            theirs alone was laid out anew, the document has the layout of theirs.
            Conflicts go to standard error, and the exit code is then 2. Each file can be
            a pipe.

            If both sides set one scalar, the merge takes the greater version, number or
            date; else the value of the side that the rest of the record follows, or that
            changed more; else theirs. It reports each such choice, except two raised
            versions (outside of entries of lock files) and prose that differs only in
            case, blanks or punctuation.

            CONFLICTS (--conflict-style)
              list     one line for each on standard error; the document holds what was
                       chosen
              json     the same as JSON
              markers  the document holds git's markers around both versions

            RULES (--policy PATH=RULE, * stands for any key or position)
              ours, theirs            that side's wish
              edit-wins, delete-wins  where one side edits what the other removes
              max, min                the greater or smaller of two numbers, versions or
                                      strings
              sum                     what both have added to a number
              union                   nothing is removed

            EXAMPLES
              godwit merge base.json ours.json theirs.json > merged.json
              godwit merge --conflict-style markers base.json ours.json theirs.json
              godwit merge --policy '/votes=sum' base.json ours.json theirs.json
              godwit merge --identity /items=sku base.json ours.json theirs.json
              godwit merge --identity /flights=number,day base.json ours.json theirs.json
              godwit merge <(git show main:a.json) a.json <(git show topic:a.json)
              godwit git install     # git merges JSON with godwit from then on
            """
    )

    @Argument(help: "The version that both grew from; - for standard input.") var base: InputFile
    @Argument(help: "Our version.") var ours: InputFile
    @Argument(help: "Their version.") var theirs: InputFile
    @OptionGroup var rules: MergeRules
    @Option(help: "How conflicts are shown: list, json or markers.")
    var conflictStyle = ConflictStyle.list
    @Flag(help: "Print one object: the value and the conflicts.") var json = false

    func validate() throws {
        try InputFile.requireOneStandardInput(base, ours, theirs)
        guard conflictStyle != .markers || !(json || ours.isEDN) else {
            throw ValidationError("Markers stand in JSON documents; use --conflict-style list.")
        }
    }

    func run() throws {
        let policy = try rules.policy()
        let isJSON = ![base, ours, theirs].contains(where: \.isEDN)
        let conflicts =
            isJSON ? try mergeDocuments(policy: policy) : try mergeValues(policy: policy)
        if !conflicts.allSatisfy(\.isNotice) { throw ExitCode(2) }
    }

    private func mergeDocuments(policy: MergePolicy) throws -> [Conflict] {
        let documents = DocumentMerge(
            base: try base.document(),
            ours: try ours.document(),
            theirs: try theirs.document(),
            policy: policy
        )
        let conflicts = documents.merge.conflicts
        guard !json else {
            try printObject(documents.merge)
            return conflicts
        }
        let marked = conflictStyle == .markers ? documents.markedText() : nil
        try Terminal.write(marked?.bytes ?? documents.text)
        conflictStyle.report(conflicts, marked: marked?.conflicts ?? [])
        return conflicts
    }

    private func mergeValues(policy: MergePolicy) throws -> [Conflict] {
        let merge = GodwitTree.Merge(
            base: try base.value(),
            ours: try ours.value(),
            theirs: try theirs.value(),
            policy: policy
        )
        guard !json else {
            try printObject(merge)
            return merge.conflicts
        }
        let isEDN = ours.isEDN
        try Terminal.print(isEDN ? merge.value.ednText() : merge.value.jsonText(indentation: 2))
        conflictStyle.report(merge.conflicts)
        return merge.conflicts
    }

    private func printObject(_ merge: GodwitTree.Merge) throws {
        try Terminal.print(
            Layout.indented.text(of: [
                "value": merge.value, "conflicts": ConflictText.encoded(merge.conflicts),
            ])
        )
    }
}

/// How a merge shows what it could not grant to both sides.
enum ConflictStyle: String, CaseIterable, ExpressibleByArgument {
    case list, json, markers

    /// Writes the conflicts to standard error.
    ///
    /// - Parameter marked: Those of which the document shows both versions.
    func report(_ conflicts: [Conflict], of path: String? = nil, marked: Set<Conflict> = []) {
        guard !conflicts.isEmpty else { return }
        switch self {
        case .json: Terminal.warn(Layout.indented.text(of: ConflictText.encoded(conflicts)))
        case .list, .markers:
            for line in ConflictText.lines(conflicts, marked: marked) {
                Terminal.warn((path.map { "\($0): " } ?? "") + line)
            }
        }
    }
}

/// The options of commands that merge.
struct MergeRules: ParsableArguments {
    @Option(name: .customLong("policy"), help: "What to do at a path: PATH=RULE. May be repeated.")
    var rules: [String] = []
    @Option(
        name: .customLong("identity"),
        help: "By which key the items of the lists at a path differ: PATH=KEY, or PATH=KEY,KEY."
    )
    var identities: [String] = []

    /// - Parameter defaults: Rules that hold where the caller has none.
    func policy(defaults: [String] = []) throws -> MergePolicy {
        try MergePolicy(rules: defaults + rules, identities: identities)
    }
}

extension MergePolicy {
    /// Reads `PATH=RULE` and `PATH=KEY,KEY`.
    init(rules: [String], identities: [String]) throws {
        self.init()
        for (path, name) in try rules.map(Self.pair) {
            guard let rule = Rule(name: name) else {
                let known = Rule.names.joined(separator: ", ")
                throw ValidationError("\(name) is no rule; there are \(known).")
            }
            set(rule, at: path)
        }
        for (path, keys) in try identities.map(Self.pair) {
            let keys = keys.split(separator: ",", omittingEmptySubsequences: false)
                .map { Key($0.trimmingCharacters(in: .whitespaces)) }
            guard !keys.contains("") else {
                throw ValidationError("\(path) needs a key, or several with commas between them.")
            }
            identify(by: keys, at: path)
        }
    }

    private static func pair(_ text: String) throws -> (String, String) {
        guard let equals = text.lastIndex(of: "="), text.first == "/" else {
            throw ValidationError("\"\(text)\" is not of the form /PATH=WORD.")
        }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
}
