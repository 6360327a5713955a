import ArgumentParser
import Foundation
import GodwitTree

/// Applies a change to a document.
struct Patch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch",
        abstract:
            "Apply a change to a JSON or EDN document: a delta, a JSON Patch or a merge patch.",
        discussion: """
            Without --format, a list of operations is a JSON Patch (RFC 6902), and
            anything else a delta as `godwit diff` prints it. A merge patch (RFC 7386)
            looks like a delta, so it has to be named. Either the whole change is applied,
            or the exit code is 1.

            A document that has the change already is printed as it is, with "already
            applied" on standard error (with --json, as an object), and the exit code is
            0; with --exit-code it is 3. A delta from `godwit diff --json` is recognised
            by the digests in it, a JSON Patch by what it leaves: records and lists that
            it adds to lists, and fields that it adds or removes. A patch that adds a
            number or a text to a list, or removes or moves an item, is never recognised:
            a list may hold one number or text several times.

            A JSON document keeps its layout: the order of keys, the indentation and the
            spelling of numbers and strings.

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
    @Flag(help: "Apply a JSON Patch also where the document seems to have it.") var again = false
    @Flag(help: "Exit with code 3 when the change was applied already.") var exitCode = false
    @Flag(help: "Print JSON on one line, and messages as JSON.") var json = false

    func validate() throws {
        guard invert == (base != nil) else {
            throw ValidationError("--invert and --base go together.")
        }
        try InputFile.requireOneStandardInput(document, change, base)
        guard !invert || format == nil || format == .delta else {
            throw ValidationError("Only a delta can be undone.")
        }
    }

    func run() throws {
        do {
            if document.isEDN {
                let value = try document.value()
                let outcome = try outcome(on: value, plain: value).outcome
                try report(outcome, on: value) { try Terminal.print($0.ednText()) }
            } else {
                let document = try document.document()
                let plain = try? Value(plainJSON: document.bytes)
                let (outcome, change) = try outcome(on: document.value, plain: plain)
                try report(outcome, on: document.value) { value in
                    if json { return try Terminal.print(Layout.compact.text(of: value)) }
                    try Terminal.write(document.text(of: value, with: change))
                }
            }
        } catch let error as TreeError {
            throw ToolError(error.description)
        }
    }

    private func report(
        _ outcome: SealedDelta.Outcome,
        on value: Value,
        _ show: (Value) throws -> Void
    ) throws {
        switch outcome {
        case .applied(let result): try show(result)
        case .alreadyApplied:
            try show(value)
            warnThatApplied()
            if exitCode { throw ExitCode(3) }
        }
    }

    private func warnThatApplied() {
        let report: Value = [
            "outcome": "already applied", "document": .string(Key(document.path)),
            "change": .string(Key(change.path)),
        ]
        let text = "already applied: \(document.path) has the change in \(change.path)"
        Terminal.warn(json ? report.jsonText() : text)
    }

    /// - Parameter plain: The document as `godwit diff` reads it, with all numbers as ints and doubles; nil
    ///   where it cannot be read so.
    /// - Returns: Also the change as it is written, if parts of it are put into the document.
    private func outcome(
        on value: Value,
        plain: Value?
    ) throws -> (outcome: SealedDelta.Outcome, change: Document?) {
        if change.isEDN {
            guard format == nil || format == .delta else {
                throw ToolError("\(change.path): only a delta can be EDN")
            }
            switch try change.ednDelta() {
            case .sealed(let delta): return (try outcome(of: delta, on: value, plain), nil)
            case .bare(let delta): return (try outcome(of: delta, on: value), nil)
            }
        }
        let written = try change.document(depthMax: Delta.encodedDepthMax + 1)
        let encoded = written.value
        switch format ?? Self.format(of: encoded) {
        case .delta where SealedDelta.isEncoded(in: encoded):
            let delta = try SealedDelta(encoded: encoded, budget: .unlimited)
            return (try outcome(of: delta, on: value, plain), written)
        case .delta:
            let delta = try Delta(encoded: encoded, budget: .unlimited)
            return (try outcome(of: delta, on: value), written)
        case .jsonPatch:
            let patch = try JSONPatch(encoded, budget: .unlimited)
            if !again, patch.isApplied(to: value) { return (.alreadyApplied, nil) }
            return (.applied(try patch.applied(to: value)), written)
        case .mergePatch:
            return (outcome(try value.applying(mergePatch: encoded), of: value), written)
        }
    }

    /// The digests in the delta are those of the plain document; a number that is no double keeps its
    /// spelling where the delta leaves it alone.
    private func outcome(
        of delta: SealedDelta,
        on value: Value,
        _ plain: Value?
    ) throws -> SealedDelta.Outcome {
        let delta = try base.map { try delta.inverted(on: $0.value()) } ?? delta
        guard let plain, plain != value else { return try delta.apply(to: value) }
        if case .alreadyApplied = try delta.apply(to: plain) { return .alreadyApplied }
        return .applied(try delta.delta.applied(to: value))
    }

    private func outcome(of delta: Delta, on value: Value) throws -> SealedDelta.Outcome {
        guard let base else { return outcome(try delta.applied(to: value), of: value) }
        return outcome(try delta.inverted(on: base.value()).applied(to: value), of: value)
    }

    /// A change that leaves a document as it is has been made.
    private func outcome(_ result: Value, of value: Value) -> SealedDelta.Outcome {
        result == value ? .alreadyApplied : .applied(result)
    }

    private static func format(of change: Value) -> Format {
        guard let items = change.list, let first = items.first else { return .delta }
        return first["op"] == nil ? .delta : .jsonPatch
    }
}
