extension Delta {
    /// How a delta is packed.
    public struct Packing: Sendable {
        /// Whether the peer can read compressed bytes.
        public var isCompressed = Compression.isAvailable
        /// Less than this is not worth a compression.
        public var sizeMin = 48
        /// 1, the fastest, to 22, the smallest.
        public var level = 3

        public init() {}

        /// No compression.
        public static let plain: Packing = {
            var packing = Packing()
            packing.isCompressed = false
            return packing
        }()
    }

    /// The delta in few bytes, for a peer that has the base.
    ///
    /// ```swift
    /// let bytes = delta.packed(on: base)
    /// try Delta(packed: bytes, on: base).applied(to: base) == delta.applied(to: base)
    /// ```
    ///
    /// What the base has, keys above all, is left out; the rest is compressed, with the base as a
    /// prefix, when that pays.
    ///
    /// - Parameter base: A value that the delta applies to.
    /// - Complexity: O(*k*) in the size of the delta; with compression O(*n*) in that of the base.
    public func packed(on base: Value, _ packing: Packing = Packing()) -> [UInt8] {
        var writer = DeltaWriter(isPacked: true)
        writer.bytes.append(DeltaCode.packed)
        writer.write(self, base)
        let packed = writer.bytes
        guard packing.isCompressed, packed.count >= packing.sizeMin else { return packed }
        let prefix = Self.prefix(of: base, packing)
        // What was only wrapped or unwrapped is found again in canonical bytes, but not in packed.
        let forms = packed.count > Self.largeMinInBytes ? [packed, canonicalBytes] : [packed]
        let compressed = forms.compactMap { form in
            Compression.compressed(form, prefix: prefix, level: packing.level)
        }
        guard let best = compressed.min(by: { $0.count < $1.count }),
            best.count + Self.headSizeInBytes < packed.count
        else { return packed }
        let frame = Self.head(prefix) + best
        let size = max(packed.count, forms[forms.count - 1].count)
        return Self.isReadable(frame, of: size, on: base) ? frame : packed
    }

    /// Whether a compressed delta fits the budget that a reader has for so few bytes: nothing is
    /// sent that the peer would take for a bomb.
    private static func isReadable(_ frame: [UInt8], of size: Int, on base: Value) -> Bool {
        if size <= sureMaxInBytes { return true }
        return (try? Delta(packed: frame, on: base)) != nil
    }

    /// Reads a packed delta, by the base that it was packed on.
    ///
    /// - Parameter budget: How much memory the delta may take while it is read. Of what is
    ///   compressed, each byte may take only so much, whatever the budget is.
    /// - Throws: What ``init(canonicalBytes:budget:)`` throws. A delta that was packed on another
    ///   base is refused here, when it is applied, or by the digest of what it leads to.
    public init(
        packed bytes: [UInt8],
        on base: Value,
        budget: ReadBudget = .standard
    ) throws(TreeError) {
        switch bytes.first {
        case DeltaCode.canonical:
            self = try Delta(canonicalBytes: bytes, budget: budget)
        case DeltaCode.packed:
            var reader = DeltaReader(bytes, isPacked: true, budget: budget)
            self = try reader.readAll(base)
        case DeltaCode.compressed where bytes.count > Self.headSizeInBytes:
            let frame = Array(bytes[Self.headSizeInBytes...])
            let prefix = try Self.prefix(bytes[1], base, budget)
            var left = budget.forUnfolding(frame.count, prefixSizeInBytes: prefix.count)
            let form = try Compression.decompressed(frame, prefix: prefix, budget: left)
            left.memoryMax -= form.count
            guard form.first != DeltaCode.compressed else {
                throw .malformed(format: .delta, offset: 0, reason: "it is compressed twice")
            }
            self = try Delta(packed: form, on: base, budget: left)
        default:
            throw .malformed(format: .delta, offset: 0, reason: "this is not a packed delta")
        }
    }

    /// A base with more canonical bytes than this is no prefix: to index it takes longer than it
    /// saves.
    private static let prefixMax = 1 << 20
    private static let largeMinInBytes = 512
    /// No delta of this size takes more than any compressed input may cost.
    private static let sureMaxInBytes = ReadBudget.unfoldedMin / (2 * ReadCost.container)
    private static let headSizeInBytes = 2

    private static func head(_ prefix: [UInt8]) -> [UInt8] {
        [DeltaCode.compressed, prefix.isEmpty ? 0 : 1]
    }

    /// The prefix that a head's second byte calls for.
    private static func prefix(
        _ byte: UInt8,
        _ base: Value,
        _ budget: ReadBudget
    ) throws(TreeError) -> [UInt8] {
        switch byte {
        case 0: return []
        case 1:
            var meter = ReadMeter(budget)
            try meter.take(steps: prefixMax)
            guard base.isEncoded(within: prefixMax) else { fallthrough }
            if !base.isEncoded(within: budget.memoryMax) { try meter.take(memory: prefixMax) }
            return base.canonicalBytes
        default:
            throw .malformed(format: .delta, offset: 1, reason: "there is no such prefix")
        }
    }

    private static func prefix(of base: Value, _ packing: Packing) -> [UInt8] {
        guard base.isEncoded(within: prefixMax) else { return [] }
        return base.canonicalBytes
    }
}
