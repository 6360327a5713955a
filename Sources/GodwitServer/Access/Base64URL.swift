#if Server
/// Bytes as letters, digits, `-` and `_` (RFC 4648, section 5), without padding.
///
/// Each sequence of bytes has one spelling, and no other is read: a token has one spelling then, too.
enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )

    private static let values: [UInt8?] = {
        var values = [UInt8?](repeating: nil, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        var (letters, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in bytes {
            (bits, count) = (bits << 8 | UInt32(byte), count + 8)
            while count >= 6 {
                count -= 6
                letters.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { letters.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return String(decoding: letters, as: UTF8.self)
    }

    /// The bytes; nil unless the text is what they are encoded as.
    static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for letter in text.utf8 {
            guard let value = values[Int(letter)] else { return nil }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        // What is left over has to be zero, and cannot be a whole letter.
        guard count < 6, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }
}
#endif
