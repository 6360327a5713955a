#if Zstd
internal import CZstd
#endif

/// Zstandard, with something that both sides have as a prefix.
///
/// A part that repeats one of the prefix costs a few bytes. Frames lack the bytes that their reader
/// can tell (Documentation/formats.md). Without the trait `Zstd` there is no compression, and
/// compressed bytes from others are refused.
public enum Zstandard {
    /// Whether this build can compress.
    public static var isAvailable: Bool {
        #if Zstd
        true
        #else
        false
        #endif
    }

    /// The bytes in fewer, or nil where that does not pay.
    ///
    /// - Parameters:
    ///   - bytes: What to compress, or what was compressed.
    ///   - prefix: What both sides have.
    ///   - level: 1, the fastest, to 22.
    public static func compressed(
        _ bytes: [UInt8],
        prefix: [UInt8] = [],
        level: Int = 19
    ) -> [UInt8]? {
        #if Zstd
        guard let context = ZSTD_createCCtx() else { return nil }
        defer { ZSTD_freeCCtx(context) }
        let window = windowLog(for: prefix.count + bytes.count)
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Int32(clamping: level))
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window)
        var buffer = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        let size = prefix.withUnsafeBytes { prefix in
            ZSTD_CCtx_refPrefix(context, prefix.baseAddress, prefix.count)
            return buffer.withUnsafeMutableBytes { target in
                bytes.withUnsafeBytes { source in
                    ZSTD_compress2(
                        context,
                        target.baseAddress,
                        target.count,
                        source.baseAddress,
                        source.count
                    )
                }
            }
        }
        guard ZSTD_isError(size) == 0 else { return nil }
        let frame = ShortFrame.shortened(buffer[..<size])
        return frame.count < bytes.count ? frame : nil
        #else
        return nil
        #endif
    }

    /// The bytes that were compressed.
    ///
    /// The reader does not trust the size in the frame header: a frame cannot unfold to more than its
    /// blocks could hold, and the reader touches memory only as it fills it.
    ///
    /// - Parameters:
    ///   - bytes: What to compress, or what was compressed.
    ///   - prefix: What both sides have.
    ///   - budget: What unfolds to more is refused before it is unfolded.
    /// - Throws: ``TreeError/malformed(format:offset:reason:)`` or
    ///   ``TreeError/overBudget(_:limit:)``.
    public static func decompressed(
        _ bytes: [UInt8],
        prefix: [UInt8] = [],
        budget: ReadBudget = .standard
    ) throws(TreeError) -> [UInt8] {
        var meter = ReadMeter(budget)
        return try decompressed(bytes, prefix: prefix, meter: &meter)
    }

    static func decompressed(
        _ bytes: [UInt8],
        prefix: [UInt8],
        meter: inout ReadMeter
    ) throws(TreeError) -> [UInt8] {
        #if Zstd
        let frame = ShortFrame.whole(bytes)
        let size = try contentSize(of: frame)
        try meter.take(memory: size)
        guard let context = ZSTD_createDCtx() else { throw fault("there is no memory") }
        defer { ZSTD_freeDCtx(context) }
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLogMax)
        var isWhole = false
        let result = prefix.withUnsafeBytes { prefix in
            ZSTD_DCtx_refPrefix(context, prefix.baseAddress, prefix.count)
            return [UInt8](unsafeUninitializedCapacity: size) { target, count in
                let written = frame.withUnsafeBytes { source in
                    ZSTD_decompressDCtx(
                        context,
                        target.baseAddress,
                        target.count,
                        source.baseAddress,
                        source.count
                    )
                }
                isWhole = written == size
                count = isWhole ? size : 0
            }
        }
        guard isWhole else { throw fault("it does not unfold to what it says") }
        return result
        #else
        throw fault("this build cannot read it")
        #endif
    }

    private static func fault(_ reason: String) -> TreeError {
        .malformed(format: .compressed, offset: 0, reason: reason)
    }

    #if Zstd
    private static let windowLogMax: Int32 = 27
    /// RFC 8878, sections 3.1.1.2.3 and 3.1.1.2.4: no block unfolds to more, or takes less.
    private static let blockMaxInBytes = 1 << 17
    private static let blockHeadSizeInBytes = 3

    /// The size that a frame says it unfolds to; nil if that is impossible.
    private static func contentSize(of frame: [UInt8]) throws(TreeError) -> Int {
        let size = frame.withUnsafeBytes { ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
        let blocks = frame.count / blockHeadSizeInBytes
        guard size <= UInt64(blocks * blockMaxInBytes) else {
            throw fault("its size is unknown, or more than it could unfold to")
        }
        return Int(size)
    }

    private static func windowLog(for size: Int) -> Int32 {
        var log: Int32 = 10
        while log < windowLogMax, 1 << Int(log) < size { log += 1 }
        return log
    }
    #endif
}
