import Foundation
import GodwitTree

/// A merge of a case by some program.
struct Answer {
    /// Nil when the program leaves the whole document to people.
    let value: Value?
    /// Whether something is reported.
    let hasConflicts: Bool
    /// Whether the program reports nothing but notices: its exit code says then that there are no
    /// conflicts.
    var hasOnlyNotices = false
    /// What the program reports, for people.
    var conflicts: [String] = []

    func outcome(of entry: MergeCase) -> Outcome {
        Outcome(value, hasConflicts: hasConflicts, expected: entry.expected)
    }
}

/// Our merge of values, as apps call it.
struct GodwitMerge {
    func merge(_ entry: MergeCase) -> Answer {
        let merge = Merge(base: entry.base, ours: entry.ours, theirs: entry.theirs)
        return Answer(
            value: merge.value,
            hasConflicts: !merge.conflicts.isEmpty,
            hasOnlyNotices: !merge.conflicts.isEmpty && merge.conflicts.allSatisfy(\.isNotice),
            conflicts: merge.conflicts.map(\.description)
        )
    }
}

/// `git merge-file`, on the documents laid out with an item or a member on each line.
struct GitMerge {
    private let folder: ScratchFolder
    private static let indent = 1

    init() throws { folder = try ScratchFolder() }

    func merge(_ entry: MergeCase) throws -> Answer {
        let members = JSONLayout.members(of: entry.line)
        let paths = try ["ours", "base", "theirs"].map { name in
            let file = folder.url.appending(path: name)
            let text = JSONLayout.pretty(members[name] ?? [], indent: Self.indent)
            try Data(text).write(to: file)
            return file.path
        }
        let answer = try Command(["git", "merge-file", "--stdout", "--quiet"] + paths).run()
        guard answer.status == 0 else { return Answer(value: nil, hasConflicts: true) }
        return Answer(value: try? Value(json: Array(answer.output)), hasConflicts: false)
    }
}

/// nbdime, which knows what a notebook is; a program of ours calls it for all notebooks at once.
struct NotebookMerge {
    let command: [String]

    enum Failure: Error {
        case exited(Int32)
        case answered(lines: Int, for: Int)
    }

    /// The answers to some notebooks, in their order.
    func merge(_ entries: [MergeCase]) throws -> [Answer] {
        let folder = try ScratchFolder()
        let input = folder.url.appending(path: "notebooks.jsonl")
        try Data(entries.map(\.line).joined(separator: [UInt8(ascii: "\n")])).write(to: input)
        let (output, status) = try Command(command).run(input: input)
        guard status == 0 else { throw Failure.exited(status) }
        let lines = output.split(separator: UInt8(ascii: "\n"))
        guard lines.count == entries.count else {
            throw Failure.answered(lines: lines.count, for: entries.count)
        }
        return try lines.map { line in
            let answer = try Value(json: Array(line))
            return Answer(value: answer["merged"], hasConflicts: answer["conflicts"]?.integer != 0)
        }
    }
}
