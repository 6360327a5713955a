extension Delta {
    /// How a delta is packed.
    public struct Packing: Sendable {
        /// Whether the peer can read compressed bytes.
        public var isCompressed = Zstandard.isAvailable
        /// Less than this is not worth a compression.
        public var sizeMin = 48
        /// 1, the fastest, to 22, the smallest.
        public var level = 3
        /// The budget of the peer that reads the delta.
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
    /// - Parameters:
    ///   - base: A value that the delta applies to.
    ///   - packing: Whether to compress, and how much memory a reader has.
    /// - Throws: ``TreeError/overBudget(_:limit:)`` when a reader needs more memory than the budget
    ///   of the packing has: send the change in several deltas, or agree on a larger budget.
    /// - Complexity: O(*k*) in the size of the delta; with compression O(*n*) in that of the base.
    public func packed(
        on base: Value,
        _ packing: Packing = Packing()
    ) throws(TreeError) -> [UInt8] {
        var meter = ReadMeter(packing.budget)
        return try packed(on: base, packing, meter: &meter)
    }

    /// Packs one of several deltas that share the budget of their reader.
    package func packed(
        on base: Value,
        _ packing: Packing,
        meter: inout ReadMeter
    ) throws(TreeError) -> [UInt8] {
        var writer = DeltaWriter(isPacked: true)
        writer.bytes.append(DeltaCode.packed)
        writer.write(self, base)
        if let frame = frame(of: writer, on: base, packing, &meter) { return frame }
        try meter.take(memory: writer.cost)
        return writer.bytes
    }

    /// The delta as a compressed frame; nil where that does not pay, or where the peer would take
    /// the frame for a bomb.
    private func frame(
        of writer: DeltaWriter,
        on base: Value,
        _ packing: Packing,
        _ meter: inout ReadMeter
    ) -> [UInt8]? {
        let packed = writer.bytes
        guard packing.isCompressed, packed.count >= packing.sizeMin else { return nil }
        let prefix = (try? Self.prefix(base, meter)) ?? []
        // What was only wrapped or unwrapped is found again in canonical bytes, but not in packed.
        let forms = packed.count > Self.largeMinInBytes ? [packed, canonicalBytes] : [packed]
        let frames = forms.compactMap { form in
            Zstandard.compressed(form, prefix: prefix, level: packing.level)
                .map { (bytes: $0, contentSize: form.count) }
        }
        guard let best = frames.min(by: { $0.bytes.count < $1.bytes.count }),
            best.bytes.count + 1 < packed.count
        else { return nil }
        guard var own = try? Self.meter(forUnfolding: best.bytes.count, prefix, meter),
            (try? own.take(memory: best.contentSize + writer.cost)) != nil,
            (try? Self.take(prefix, own, from: &meter)) != nil
        else { return nil }
        let code = prefix.isEmpty ? DeltaCode.compressed : DeltaCode.compressedOnBase
        return [code] + best.bytes
    }

    /// Reads a packed delta, by the base that it was packed on.
    ///
    /// - Parameters:
    ///   - bytes: The packed delta.
    ///   - base: The value that it was packed on.
    ///   - budget: How much memory the delta may take while it is read. A fixed limit also applies to each
    ///     compressed byte.
    /// - Throws: What ``init(canonicalBytes:budget:)`` throws. A delta that was packed on another
    ///   base is refused here, when it is applied, or by the digest of what it leads to.
    public init(
        packed bytes: [UInt8],
        on base: Value,
        budget: ReadBudget = .standard
    ) throws(TreeError) {
        var meter = ReadMeter(budget)
        try self.init(packed: bytes, on: base, meter: &meter)
    }

    /// Reads one of several packed deltas that share a budget.
    package init(
        packed bytes: [UInt8],
        on base: Value,
        meter: inout ReadMeter
    ) throws(TreeError) {
        switch bytes.first {
        case DeltaCode.canonical:
            self = try Delta(canonicalBytes: bytes, meter: &meter)
        case DeltaCode.packed:
            var reader = DeltaReader(bytes, isPacked: true, meter: meter)
            self = try reader.readAll(base)
            meter = reader.meter
        case DeltaCode.compressed: try self.init(frame: bytes.dropFirst(), [], base, &meter)
        case DeltaCode.compressedOnBase:
            let prefix = try Self.prefix(base, meter)
            try self.init(frame: bytes.dropFirst(), prefix, base, &meter)
        default:
            throw .malformed(format: .delta, offset: 0, reason: "this is not a packed delta")
        }
    }

    private init(
        frame: ArraySlice<UInt8>,
        _ prefix: [UInt8],
        _ base: Value,
        _ meter: inout ReadMeter
    ) throws(TreeError) {
        var own = try Self.meter(forUnfolding: frame.count, prefix, meter)
        let form = try Zstandard.decompressed(Array(frame), prefix: prefix, meter: &own)
        if form.first == DeltaCode.compressed || form.first == DeltaCode.compressedOnBase {
            throw .malformed(format: .delta, offset: 0, reason: "it is compressed twice")
        }
        self = try Delta(packed: form, on: base, meter: &own)
        try Self.take(prefix, own, from: &meter)
    }

    /// A base with more canonical bytes than this is no prefix: to index it takes longer than it
    /// saves.
    private static let prefixMax = 1 << 20
    private static let largeMinInBytes = 512

    /// The base as a prefix.
    private static func prefix(_ base: Value, _ meter: ReadMeter) throws(TreeError) -> [UInt8] {
        guard let size = base.encodedSize(within: prefixMax) else {
            throw .malformed(format: .delta, offset: 0, reason: "its base is too large")
        }
        var meter = meter
        try meter.take(memory: ReadCost.prefix(size))
        try meter.take(steps: size)
        return base.canonicalBytes
    }

    /// The budget of a frame beside its prefix.
    private static func meter(
        forUnfolding sizeInBytes: Int,
        _ prefix: [UInt8],
        _ meter: ReadMeter
    ) throws(TreeError) -> ReadMeter {
        var left = meter
        try left.take(memory: ReadCost.prefix(prefix.count))
        return ReadMeter(left.left.forUnfolding(sizeInBytes, prefixSizeInBytes: prefix.count))
    }

    /// Takes off a meter what the reader of a frame has spent; the memory of the prefix is free again.
    private static func take(
        _ prefix: [UInt8],
        _ own: ReadMeter,
        from meter: inout ReadMeter
    ) throws(TreeError) {
        var left = meter
        try left.take(spentBy: own)
        try left.take(steps: prefix.count)
        meter = left
    }
}
