import ArgumentParser
import GodwitTree

/// Applies a change to a document.
struct Patch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch",
        abstract:
            "Apply a change to a JSON or EDN document: a delta, a JSON Patch or a merge patch.",
        discussion: """
            Without --format, a list of operations is a JSON Patch (RFC 6902), and anything else
            a delta as `godwit diff` prints it. A merge patch (RFC 7386) looks like a delta, so it
            has to be named. Either the whole change is applied, or the exit code is 1.

            EXAMPLES
              godwit patch old.json change.json > new.json
              godwit patch old.json operations.json --format json-patch
              godwit patch settings.json overrides.json --format merge-patch
              godwit diff --json a.json b.json | godwit patch a.json -
            """,
        aliases: ["apply"]
    )

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case delta
        case jsonPatch = "json-patch"
        case mergePatch = "merge-patch"
    }

    @Argument(help: "The document; - for standard input.") var document: InputFile
    @Argument(help: "The change.") var change: InputFile
    @Option(help: "What the change is; delta, json-patch or merge-patch.") var format: Format?
    @Flag(help: "Undo a delta instead; needs --base.") var invert = false
    @Option(help: "The document that the delta was made for.") var base: InputFile?
    @Flag(help: "Print JSON on one line.") var json = false

    func validate() throws {
        guard invert == (base != nil) else {
            throw ValidationError("--invert and --base go together.")
        }
        guard !invert || format == nil || format == .delta else {
            throw ValidationError("Only a delta can be undone.")
        }
    }

    func run() throws {
        let value = try document.value()
        do {
            Terminal.print(document.text(of: try result(on: value), onOneLine: json))
        } catch let error as TreeError {
            throw ToolError(error.description)
        }
    }

    private func result(on value: Value) throws -> Value {
        if change.isEDN {
            guard format == nil || format == .delta else {
                throw ToolError("\(change.path): only a delta can be EDN")
            }
            return try applied(try change.ednDelta(), to: value)
        }
        let encoded = try change.value(depthMax: Delta.encodedDepthMax)
        switch format ?? Self.format(of: encoded) {
        case .delta: return try applied(try Delta(encoded: encoded), to: value)
        case .jsonPatch: return try JSONPatch(encoded).applied(to: value)
        case .mergePatch: return value.applying(mergePatch: encoded)
        }
    }

    private func applied(_ delta: Delta, to value: Value) throws -> Value {
        guard let base else { return try delta.applied(to: value) }
        return try delta.inverted(on: base.value()).applied(to: value)
    }

    private static func format(of change: Value) -> Format {
        guard let items = change.list, let first = items.first else { return .delta }
        return first["op"] == nil ? .delta : .jsonPatch
    }
}
