extension Delta {
    /// How a delta is packed.
    public struct Packing: Sendable {
        /// Whether the peer can read compressed bytes.
        public var isCompressed = Compression.isAvailable
        /// Less than this is not worth a compression.
        public var sizeMin = 48
        /// 1, the fastest, to 22, the smallest.
        public var level = 3
        /// What the peer may spend to read the delta.
        public var budget = ReadBudget.standard

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
    /// let bytes = try delta.packed(on: base)
    /// try Delta(packed: bytes, on: base).applied(to: base) == delta.applied(to: base)
    /// ```
    ///
    /// What the base has, keys above all, is left out; the rest is compressed, with the base as a
    /// prefix, when that pays. A reader with the budget of the packing, or a larger one, can read
    /// the bytes.
    ///
    /// - Parameter base: A value that the delta applies to.
    /// - Throws: ``TreeError/overBudget(_:limit:)`` when a reader needs more memory than the budget
    ///   of the packing has: send the change in several deltas, or agree on a larger budget.
    /// - Complexity: O(*k*) in the size of the delta; with compression O(*n*) in that of the base.
    public func packed(
        on base: Value,
        _ packing: Packing = Packing()
    ) throws(TreeError) -> [UInt8] {
        var writer = DeltaWriter(isPacked: true)
        writer.bytes.append(DeltaCode.packed)
        writer.write(self, base)
        if let frame = frame(of: writer, on: base, packing) { return frame }
        var meter = ReadMeter(packing.budget)
        try meter.take(memory: writer.cost)
        return writer.bytes
    }

    /// The delta as a compressed frame; nil where that does not pay, or where the peer would take
    /// the frame for a bomb.
    private func frame(of writer: DeltaWriter, on base: Value, _ packing: Packing) -> [UInt8]? {
        let packed = writer.bytes
        guard packing.isCompressed, packed.count >= packing.sizeMin else { return nil }
        let (prefix, left) =
            (try? Self.prefix(Self.basePrefix, base, packing.budget)) ?? ([], packing.budget)
        // What was only wrapped or unwrapped is found again in canonical bytes, but not in packed.
        let forms = packed.count > Self.largeMinInBytes ? [packed, canonicalBytes] : [packed]
        let frames = forms.compactMap { form in
            Compression.compressed(form, prefix: prefix, level: packing.level)
                .map { (bytes: $0, contentSize: form.count) }
        }
        guard let best = frames.min(by: { $0.bytes.count < $1.bytes.count }),
            best.bytes.count + Self.headSizeInBytes < packed.count
        else { return nil }
        let room = left.forUnfolding(best.bytes.count, prefixSizeInBytes: prefix.count).memoryMax
        guard best.contentSize + writer.cost <= room else { return nil }
        let kind = prefix.isEmpty ? Self.noPrefix : Self.basePrefix
        return [DeltaCode.compressed, kind] + best.bytes
    }

    /// Reads a packed delta, by the base that it was packed on.
    ///
    /// - Parameter budget: How much memory the delta may take while it is read. A fixed limit also
    ///   applies to each compressed byte.
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
            let (prefix, rest) = try Self.prefix(bytes[1], base, budget)
            var left = rest.forUnfolding(frame.count, prefixSizeInBytes: prefix.count)
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
    private static let headSizeInBytes = 2
    private static let noPrefix: UInt8 = 0
    private static let basePrefix: UInt8 = 1

    /// The prefix that a head's second byte calls for, and what is left of the budget for the rest.
    private static func prefix(
        _ kind: UInt8,
        _ base: Value,
        _ budget: ReadBudget
    ) throws(TreeError) -> ([UInt8], left: ReadBudget) {
        if kind == noPrefix { return ([], budget) }
        var meter = ReadMeter(budget)
        try meter.take(steps: prefixMax)
        guard kind == basePrefix, let size = base.encodedSize(within: prefixMax) else {
            throw .malformed(format: .delta, offset: 1, reason: "there is no such prefix")
        }
        try meter.take(memory: ReadCost.prefix(size))
        var left = budget
        left.memoryMax -= ReadCost.prefix(size)
        return (base.canonicalBytes, left)
    }
}
