import ArgumentParser
import GodwitTree

/// Prints the change from one document to another.
struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the change from one JSON or EDN document to another.",
        discussion: """
            FORMATS
              text         one line for each change, for people; coloured, unless NO_COLOR
                           is set
              edn          the delta as EDN
              json         the delta as JSON, which `godwit patch` reads
              json-patch   RFC 6902, with moves
              merge-patch  RFC 7386, where it can express the change
              summary      how many changes, and how many bytes they take

            A delta as JSON carries the digests of both documents, ["#", old, delta, new],
            so that `godwit patch` knows a document that has it already from one that it
            does not fit. --no-seal leaves the digests out; with --seal EDN has them too.

            The exit code is 0 whether there are changes or not; with --exit-code it is 1
            when there are.

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
        let policy = try MergePolicy(rules: [], identities: identities)
        func diff(_ before: Value, _ after: Value) -> Delta {
            Delta.diff(before, after, policy: policy, inPieces: isForPeople)
        }
        let (before, after): (Value, Value)
        if isForPeople {
            (before, after) = try (shownValue(of: old), shownValue(of: new))
        } else {
            let (from, to) = try (values(of: old), values(of: new))
            (before, after) = (from.plain, to.plain)
            try requireExactNumbers(in: diff(from.exact, to.exact))
        }
        let delta = diff(before, after)
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

    private func shownValue(of file: InputFile) throws -> Value {
        file.isEDN ? try file.value() : try file.document().value
    }

    /// The value of a document, and the same with its numbers as they are spelt.
    private func values(of file: InputFile) throws -> (plain: Value, exact: Value) {
        if file.isEDN {
            let value = try file.value()
            return (value, value)
        }
        let document = try file.document()
        do throws(TreeError) {
            return (try Value(plainJSON: document.bytes), document.value)
        } catch {
            throw ToolError(error, in: document.bytes, of: file.path)
        }
    }

    /// A delta holds ints of 64 bits and doubles.
    ///
    /// - Throws: ``ToolError`` when a new number has more digits than a double.
    private func requireExactNumbers(in delta: Delta) throws {
        guard let number = delta.newValues.lazy.compactMap(\.firstLongNumber).first else { return }
        throw ToolError(
            """
            \(new.path) has the new number \(number.prefix(40)), which no delta carries exactly; \
            --format text shows the change
            """
        )
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

extension Delta {
    /// The values that a change puts in.
    fileprivate var newValues: [Value] {
        switch self {
        case .set(let value):
            return [value]
        case .map(let map):
            return map.entries.flatMap { entry -> [Value] in
                guard case .apply(let delta) = entry.change else { return [] }
                return delta.newValues
            }
        case .list(let list):
            return list.parts.edits.flatMap(\.delta.newValues) + list.parts.inserts.map(\.value)
        case .keep, .text, .increment:
            return []
        }
    }
}

extension Value {
    /// The first number in it that has more digits than a double can have.
    fileprivate var firstLongNumber: String? {
        switch self {
        case .bytes(let bytes):
            Numeral(bytes).flatMap { $0.digitCount > Numeral.doubleDigitsMax ? $0.spelling : nil }
        case .map(let map): map.lazy.compactMap(\.value.firstLongNumber).first
        case .list(let items): items.lazy.compactMap(\.firstLongNumber).first
        default: nil
        }
    }
}
