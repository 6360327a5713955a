import GodwitTree

/// A reader of bytes that may say anything, with the laws that hold for whatever it accepts.
///
/// The fuzzer of the package `Fuzz` and the tests of this one try the same checks, and compile the
/// same files: there is nothing here but `GodwitTree`.
enum Reader: String, CaseIterable, Sendable {
    case json, edn, cbor
    /// A delta in its canonical form, packed, or compressed.
    case delta
    case jsonDelta = "json-delta"
    case ednDelta = "edn-delta"
    case jsonPatch = "json-patch"
    case mergePatch = "merge-patch"
    /// Two packed deltas of one base, which are merged.
    case merge
    /// A value, and edits of it, by choices.
    case edits

    /// What an input may cost: libFuzzer stops what takes more memory or time than this allows.
    static let budget = ReadBudget(memoryMax: 1 << 19, stepsMax: 1 << 20)

    /// Reads the bytes, and tries on what they say all that must hold of it.
    ///
    /// - Returns: Whether the reader took them; to refuse them, with a typed error, is as good.
    /// - Throws: ``BrokenLaw``.
    @discardableResult
    func check(_ bytes: [UInt8]) throws -> Bool {
        switch self {
        case .json: try Self.checkJSON(bytes)
        case .edn: try Self.checkEDN(bytes)
        case .cbor: try Self.checkCBOR(bytes)
        case .delta: try Self.checkDelta(bytes)
        case .jsonDelta: try Self.checkJSONDelta(bytes)
        case .ednDelta: try Self.checkEDNDelta(bytes)
        case .jsonPatch: try Self.checkJSONPatch(bytes)
        case .mergePatch: try Self.checkMergePatch(bytes)
        case .merge: try Self.checkMerge(bytes)
        case .edits: try Self.checkEdits(bytes)
        }
    }
}

/// Something that does not hold of what was read.
struct BrokenLaw: Error, CustomStringConvertible {
    let description: String
}

/// Checks one law; what it throws breaks it too.
func hold(_ law: String, _ holds: @autoclosure () throws -> Bool) throws(BrokenLaw) {
    do {
        if try holds() { return }
    } catch {
        throw BrokenLaw(description: "\(law), but: \(error)")
    }
    throw BrokenLaw(description: law)
}

/// What bytes were read to; nil when they were refused, with an error that names a place in them.
func accepted<Result>(
    from bytes: [UInt8],
    _ read: () throws(TreeError) -> Result
) throws(BrokenLaw) -> Result? {
    do throws(TreeError) {
        return try read()
    } catch {
        try hold("an error has a description", !error.description.isEmpty)
        if case .malformed(_, let offset, _) = error {
            try hold("a fault is within the input", (0...bytes.count).contains(offset))
        }
        return nil
    }
}
