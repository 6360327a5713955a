/// A delta with the digests of the value that it was made for and of the value it leads to.
///
/// ```swift
/// let change = SealedDelta.diff(old, new)
/// try change.apply(to: old)  // .applied(new)
/// try change.apply(to: new)  // .alreadyApplied
/// ```
///
/// A delta alone cannot tell whether a value has it already: an item that it inserts would be
/// inserted twice. A sealed one is applied to its base, recognised in its result, and refused
/// anywhere else.
public struct SealedDelta: Hashable, Sendable {
    /// The digest of the value that the delta was made for.
    public let base: ContentDigest
    public let delta: Delta
    /// The digest of the value that the delta leads to.
    public let result: ContentDigest

    /// The outcome of applying a sealed delta.
    public enum Outcome: Hashable, Sendable {
        case applied(Value)
        /// The value is what the delta leads to; nothing is left to be done.
        case alreadyApplied
    }

    /// Seals a delta that applies to `base`.
    ///
    /// - Throws: What ``Delta/applied(to:)`` throws.
    public init(_ delta: Delta, on base: Value) throws(TreeError) {
        self.init(base: base.digest, delta, result: try delta.applied(to: base).digest)
    }

    init(base: ContentDigest, _ delta: Delta, result: ContentDigest) {
        (self.base, self.delta, self.result) = (base, delta, result)
    }

    /// The sealed change from one value to another.
    public static func diff(
        _ old: Value,
        _ new: Value,
        policy: MergePolicy = .standard
    ) -> SealedDelta {
        let delta = Delta.diff(old, new, policy: policy)
        return SealedDelta(base: old.digest, delta, result: new.digest)
    }

    /// Applies the delta where it belongs.
    ///
    /// - Throws: ``TreeError/wrongBase(path:reason:)`` for a value that is neither the base nor the
    ///   result; ``TreeError/invalidDelta(reason:)`` when the delta leads to another value than
    ///   its seal says.
    public func apply(to value: Value) throws(TreeError) -> Outcome {
        let digest = value.digest
        if digest == result { return .alreadyApplied }
        guard digest == base else {
            let reason = "its digest is \(digest), and the delta's base has \(base)"
            throw .wrongBase(path: ValuePath(), reason: reason)
        }
        let new = try delta.applied(to: value)
        guard new.digest == result else {
            throw .invalidDelta(reason: "it does not lead to the value that its seal names")
        }
        return .applied(new)
    }

    /// The sealed delta that leads back.
    ///
    /// - Throws: What ``apply(to:)`` throws for a value that is not the base.
    public func inverted(on base: Value) throws(TreeError) -> SealedDelta {
        guard base.digest == self.base else {
            throw .wrongBase(path: ValuePath(), reason: "the delta was not made for this base")
        }
        return SealedDelta(base: result, try delta.inverted(on: base), result: self.base)
    }
}

// MARK: - As data

extension SealedDelta {
    /// The first item of each sealed delta; no other encoded delta begins with it.
    private static let mark: Value = "#"

    /// Whether data is a sealed delta, and not a delta alone.
    public static func isEncoded(in value: Value) -> Bool { value.list?.first == mark }

    /// The delta as data, `["#", base, delta, result]`; ``init(encoded:budget:)`` reads it back.
    public var encoded: Value {
        [Self.mark, Value(base), delta.encoded, Value(result)]
    }

    /// Reads a sealed delta from data.
    ///
    /// - Throws: ``TreeError/invalidDelta(reason:)``, and what ``Delta/init(encoded:budget:)``
    ///   throws.
    public init(encoded value: Value, budget: ReadBudget = .standard) throws(TreeError) {
        guard let items = value.list, items.count == 4, items[0] == Self.mark,
            let base = ContentDigest(hex: items[1].text),
            let result = ContentDigest(hex: items[3].text)
        else { throw .invalidDelta(reason: "a sealed delta is [\"#\", digest, delta, digest]") }
        self.init(base: base, try Delta(encoded: items[2], budget: budget), result: result)
    }
}

extension Value {
    fileprivate init(_ digest: ContentDigest) { self = .string(Key(digest.description)) }
}

extension ContentDigest {
    /// The digest that a text names in hexadecimal digits.
    init?(hex text: String?) {
        guard let text, let bytes = [UInt8](hex: text) else { return nil }
        self.init(bytes: bytes)
    }
}
