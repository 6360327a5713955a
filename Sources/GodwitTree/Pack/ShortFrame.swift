/// A frame of zstd without the bytes that its reader can tell.
///
/// Each frame goes without the four bytes by which files are recognised. A frame of one compressed
/// block, as almost all small ones are, also goes without the header of the block: its size is the
/// rest of the frame. A bit of the frame's header that RFC 8878 reserves says so.
enum ShortFrame {
    private static let magic: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]
    private static let hasOneBlock: UInt8 = 0x08
    private static let blockHeaderSizeInBytes = 3
    private static let blockMaxInBytes = 1 << 17
    /// The low bits of a block's header: the last one, compressed.
    private static let lastCompressed = 0b101

    static func shortened(_ frame: ArraySlice<UInt8>) -> [UInt8] {
        var short = Array(frame.dropFirst(magic.count))
        let start = headerSizeInBytes(short)
        let end = start + blockHeaderSizeInBytes
        guard end <= short.count else { return short }
        let block = short[start..<end].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard block == header(ofBlock: short.count - end) else { return short }
        short.removeSubrange(start..<end)
        short[0] |= hasOneBlock
        return short
    }

    static func whole(_ short: [UInt8]) -> [UInt8] {
        guard let first = short.first, first & hasOneBlock != 0 else { return magic + short }
        let start = min(headerSizeInBytes(short), short.count)
        let block = header(ofBlock: min(short.count - start, blockMaxInBytes))
        var frame = magic + short
        frame[magic.count] &= ~hasOneBlock
        frame.insert(
            contentsOf: (0..<blockHeaderSizeInBytes).map { UInt8(block >> (8 * $0) & 0xff) },
            at: magic.count + start
        )
        return frame
    }

    private static func header(ofBlock sizeInBytes: Int) -> Int {
        sizeInBytes << 3 | lastCompressed
    }

    /// RFC 8878, section 3.1.1.1: the descriptor, the window, the dictionary, the size of the content.
    private static func headerSizeInBytes(_ short: [UInt8]) -> Int {
        let descriptor = Int(short.first ?? 0)
        let isSingleSegment = descriptor & 0x20 != 0
        let contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]
        return 1 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3] + contentSize
    }
}
