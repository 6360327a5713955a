import ArgumentParser
import GodwitTree

/// Prints the change from one JSON document to another.
struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the change from one JSON document to another.",
        discussion: """
            Prints EDN for people, or with --json the form that `godwit apply` reads.

            EXAMPLES
              godwit diff old.json new.json
              godwit diff --json old.json new.json > change.json
            """
    )

    @Argument(help: "The old document; - for standard input.") var old: InputFile
    @Argument(help: "The new document.") var new: InputFile
    @Flag(help: "Print the delta as JSON.") var json = false

    func run() throws {
        let delta = Delta.diff(try old.value(), try new.value())
        Terminal.print(json ? delta.encoded.jsonText(indentation: 2) : delta.ednText())
    }
}

/// Applies a change to a JSON document.
struct Apply: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Apply a change, as printed by `godwit diff --json`, to a JSON document.",
        discussion: """
            EXAMPLES
              godwit apply old.json change.json > new.json
              godwit diff --json a.json b.json | godwit apply a.json -
              godwit apply --invert new.json change.json --base old.json
            """
    )

    @Argument(help: "The document; - for standard input.") var document: InputFile
    @Argument(help: "The delta, as JSON.") var delta: InputFile
    @Flag(help: "Undo the change instead; needs --base.") var invert = false
    @Option(help: "The document that the delta was made for.") var base: InputFile?
    @Flag(help: "Print on one line.") var json = false

    func validate() throws {
        guard invert == (base != nil) else {
            throw ValidationError("--invert and --base go together.")
        }
    }

    func run() throws {
        var delta = try delta.delta()
        do {
            if let base { delta = try delta.inverted(on: base.value()) }
            let result = try delta.applied(to: document.value())
            Terminal.print(result.jsonText(indentation: json ? nil : 2))
        } catch let error as TreeError {
            throw ToolError(error.description)
        }
    }
}

/// Merges two versions of a JSON document.
struct Merge: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Merge two versions of a JSON document.",
        discussion: """
            The merged document goes to standard output, conflicts to standard error. With
            conflicts the exit code is 2; the document then holds what was chosen for each.

            EXAMPLES
              godwit merge base.json ours.json theirs.json > merged.json
              git config merge.godwit.driver 'godwit merge %O %A %B > %A.new && mv %A.new %A'
            """
    )

    @Argument(help: "The version that both grew from.") var base: InputFile
    @Argument(help: "Our version.") var ours: InputFile
    @Argument(help: "Their version; where both changed one scalar, theirs is taken.")
    var theirs: InputFile
    @Flag(help: "Print one object: the value and the conflicts.") var json = false

    func run() throws {
        let merge = GodwitTree.Merge(
            base: try base.value(),
            ours: try ours.value(),
            theirs: try theirs.value()
        )
        if json {
            Terminal.print(json: [
                "value": merge.value, "conflicts": .list(merge.conflicts.map(\.encoded)),
            ])
        } else {
            Terminal.print(merge.value.jsonText(indentation: 2))
            for conflict in merge.conflicts { Terminal.warn("conflict at \(conflict)") }
        }
        if !merge.conflicts.isEmpty { throw ExitCode(2) }
    }
}

extension Conflict {
    fileprivate var encoded: Value {
        var map: Value.Map = [
            "path": .string(Key(path.description)), "reason": .string(Key(reason.rawValue)),
            "choice": .string(Key(choice.rawValue)),
        ]
        map["base"] = base
        map["ours"] = ours
        map["theirs"] = theirs
        return .map(map)
    }
}
