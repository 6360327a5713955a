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

            The exit code is 0 whether there are changes or not; with --exit-code it is 1 when
            there are.

            EXAMPLES
              godwit diff old.json new.json
              godwit diff --format json old.json new.json > change.json
              godwit diff --format json-patch old.json new.json
              godwit diff --identity /items=sku old.json new.json
            """
    )

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, edn, json, summary
        case jsonPatch = "json-patch"
        case mergePatch = "merge-patch"
    }

    @Argument(help: "The old document; - for standard input.") var old: InputFile
    @Argument(help: "The new document.") var new: InputFile
    @Option(help: "How to print the change.") var format = Format.text
    @Flag(help: "The same as --format json.") var json = false
    @Flag(help: "Exit with code 1 when the documents differ.") var exitCode = false
    @Option(
        name: .customLong("identity"),
        help: "Which key tells the items of the lists at a path apart: PATH=KEY. May be repeated."
    )
    var identities: [String] = []

    func run() throws {
        let (before, after) = (try old.value(), try new.value())
        let policy = try MergePolicy(rules: [], identities: identities)
        let delta = Delta.diff(before, after, policy: policy)
        do throws(TreeError) {
            try print(delta, on: before)
        } catch {
            throw ToolError(error.description)
        }
        if exitCode, delta != .keep { throw ExitCode(1) }
    }

    private func print(_ delta: Delta, on base: Value) throws(TreeError) {
        switch json ? .json : format {
        case .text:
            let text = DiffText(delta, on: base, style: .standardOutput).text
            if !text.isEmpty { Terminal.print(text) }
        case .edn: Terminal.print(delta.ednText())
        case .json: Terminal.print(delta.encoded.jsonText(indentation: 2))
        case .jsonPatch:
            Terminal.print(try JSONPatch(delta, on: base).encoded.jsonText(indentation: 2))
        case .mergePatch:
            Terminal.print(try delta.mergePatch(on: base).jsonText(indentation: 2))
        case .summary: Terminal.print(summary(of: delta, on: base))
        }
    }

    private func summary(of delta: Delta, on base: Value) -> String {
        let counts = DiffText(delta, on: base, style: Style(isColoured: false)).counts
        let size = delta == .keep ? 0 : delta.packed(on: base).count
        return """
            \(counts.changed) changed, \(counts.added) added, \(counts.removed) removed, \
            \(counts.moved) moved; \(size) bytes to send
            """
    }
}
