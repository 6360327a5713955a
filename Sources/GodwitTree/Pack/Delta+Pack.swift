extension Delta {
    /// How a delta is packed.
    public struct Packing: Sendable {
        /// Whether the peer can read compressed bytes.
        public var isCompressed = Compression.isAvailable
        /// Less than this is not worth a compression.
        public var sizeMin = 48
        /// A base with more canonical bytes than this is no prefix: to index it takes longer than
        /// it saves.
        public var prefixMax = 1 << 20
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
        guard let best = compressed.min(by: { $0.count < $1.count }) else { return packed }
        return best.count + Self.headSizeInBytes < packed.count
            ? Self.head(prefix) + best : packed
    }

    /// Reads a packed delta, by the base that it was packed on.
    ///
    /// - Parameter sizeMax: What unfolds to more bytes is refused.
    /// - Throws: What ``init(canonicalBytes:)`` throws. A delta that was packed on another base
    ///   is refused here, when it is applied, or by the digest of what it leads to.
    public init(packed bytes: [UInt8], on base: Value, sizeMax: Int = 1 << 26) throws(TreeError) {
        switch bytes.first {
        case DeltaCode.canonical:
            self = try Delta(canonicalBytes: bytes)
        case DeltaCode.packed:
            // Many bytes may have much in common with the base; few must not become very many.
            let modelledMax = max(sizeMax, bytes.count * DeltaCode.modelMaxInBytes)
            var reader = DeltaReader(bytes, isPacked: true, modelledMax: modelledMax)
            self = try reader.readAll(base)
        case DeltaCode.compressed where bytes.count > Self.headSizeInBytes:
            let hasPrefix = bytes[1] == 1
            let form = try Compression.decompressed(
                Array(bytes[Self.headSizeInBytes...]),
                prefix: hasPrefix ? base.canonicalBytes : [],
                sizeMax: sizeMax
            )
            guard form.first != DeltaCode.compressed else {
                throw .malformed(format: .delta, offset: 0, reason: "it is compressed twice")
            }
            self = try Delta(packed: form, on: base, sizeMax: sizeMax)
        default:
            throw .malformed(format: .delta, offset: 0, reason: "this is not a packed delta")
        }
    }

    private static let largeMinInBytes = 512
    private static let headSizeInBytes = 2

    private static func head(_ prefix: [UInt8]) -> [UInt8] {
        [DeltaCode.compressed, prefix.isEmpty ? 0 : 1]
    }

    private static func prefix(of base: Value, _ packing: Packing) -> [UInt8] {
        guard base.isEncoded(within: packing.prefixMax) else { return [] }
        return base.canonicalBytes
    }
}
