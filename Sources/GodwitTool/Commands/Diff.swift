import ArgumentParser
import GodwitTree

/// Prints the change from one document to another.
struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the change from one JSON or EDN document to another.",
        discussion: """
            FORMATS
              text         one line for each change, for people; coloured, unless NO_COLOR is set
              edn          the delta as EDN
              json         the delta as JSON, which `godwit patch` reads
              json-patch   RFC 6902, with moves
              merge-patch  RFC 7386, where it can express the change
              summary      how many changes, and how many bytes they take

            A delta as JSON carries the digests of both documents, ["#", old, delta, new], so that
            `godwit patch` knows a document that has it already from one that it does not fit.
            --no-seal leaves the digests out; with --seal EDN has them too.

            The exit code is 0 whether there are changes or not; with --exit-code it is 1 when
            there are.

            EXAMPLES
              godwit diff old.json new.json
              godwit diff --format json old.json new.json > change.json
              godwit diff --format json-patch old.json new.json
              godwit diff --identity /items=sku old.json new.json
              godwit diff <(git show HEAD:package.json) package.json
            """
    )

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, edn, json, summary
        case jsonPatch = "json-patch"
        case mergePatch = "merge-patch"
    }

    @Argument(help: "The old document; - for standard input, and each can be a pipe.") var old:
        InputFile
    @Argument(help: "The new document.") var new: InputFile
    @Option(help: "How to print the change.") var format = Format.text
    @Flag(help: "The same as --format json.") var json = false
    @Flag(inversion: .prefixedNo, help: "Print a delta with the digests of both documents.")
    var seal: Bool?
    @Flag(help: "Exit with code 1 when the documents differ.") var exitCode = false
    @Option(
        name: .customLong("identity"),
        help: "Which key tells the items of the lists at a path apart: PATH=KEY. May be repeated."
    )
    var identities: [String] = []

    func validate() throws { try InputFile.requireOneStandardInput(old, new) }

    func run() throws {
        let format = json ? .json : format
        // People want to see what is gone, also where it is nearly everything.
        let isForPeople = format == .text || format == .summary
        let before = try value(of: old, isForPeople: isForPeople)
        let after = try value(of: new, isForPeople: isForPeople)
        let policy = try MergePolicy(rules: [], identities: identities)
        let delta = Delta.diff(before, after, policy: policy, inPieces: isForPeople)
        do {
            if isSealed(format) {
                try print(SealedDelta(delta, on: before), as: format)
            } else {
                try print(delta, on: before, as: format)
            }
        } catch let error as TreeError {
            throw ToolError(error.description)
        }
        if exitCode, delta != .keep { throw ExitCode(1) }
    }

    private func isSealed(_ format: Format) -> Bool {
        switch format {
        case .json: seal ?? true
        case .edn: seal ?? false
        default: false
        }
    }

    private func print(_ delta: SealedDelta, as format: Format) throws {
        let text = format == .edn ? delta.ednText() : delta.encoded.jsonText(indentation: 2)
        try Terminal.print(text)
    }

    /// Numbers beyond a value's range can be shown to people, but no delta carries them.
    private func value(of file: InputFile, isForPeople: Bool) throws -> Value {
        isForPeople && !file.isEDN ? try file.document().value : try file.value()
    }

    private func print(_ delta: Delta, on base: Value, as format: Format) throws {
        switch format {
        case .text:
            let text = DiffText(delta, on: base, style: .standardOutput).text
            if !text.isEmpty { try Terminal.print(text) }
        case .edn: try Terminal.print(delta.ednText())
        case .json: try Terminal.print(delta.encoded.jsonText(indentation: 2))
        case .jsonPatch:
            try Terminal.print(try JSONPatch(delta, on: base).encoded.jsonText(indentation: 2))
        case .mergePatch:
            try Terminal.print(try delta.mergePatch(on: base).jsonText(indentation: 2))
        case .summary: try Terminal.print(try summary(of: delta, on: base))
        }
    }

    private func summary(of delta: Delta, on base: Value) throws(TreeError) -> String {
        let counts = DiffText(delta, on: base, style: Style(isColoured: false)).counts
        var packing = Delta.Packing()
        packing.budget = .unlimited
        let size = delta == .keep ? 0 : try delta.packed(on: base, packing).count
        return """
            \(counts.changed) changed, \(counts.added) added, \(counts.removed) removed, \
            \(counts.moved) moved; \(size) bytes to send
            """
    }
}
