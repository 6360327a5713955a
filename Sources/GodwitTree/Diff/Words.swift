// What a word is, for differences, merges and resemblance.
//
//   (1) A run of letters, digits and underscores is one word, and so is one that a single
//       `. : / @ + -` joins between two of them: a date, a version, a path and a number with a
//       fraction never come apart. A comma joins two digits.
//   (2) A Chinese, Japanese or Thai character is a word: these scripts have no spaces.
//   (3) A run of blanks is one token, and any other character is one. Tokens are not words.

/// A text in tokens: words, and what stands between them.
struct Words {
    let bytes: [UInt8]
    /// The bytes of each token, in order and without gaps.
    private(set) var tokens: [Range<Int>] = []
    /// Whether each token is a word.
    private(set) var isWord: [Bool] = []

    init(_ text: Key) { self.init(text.withBytes { Array($0) }) }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var start = 0
        while start < bytes.count {
            let (end, isWord) = token(at: start)
            tokens.append(start..<end)
            self.isWord.append(isWord)
            start = end
        }
    }

    func text(_ range: Range<Int>) -> Key {
        guard let first = range.first else { return "" }
        let bytes = bytes[tokens[first].lowerBound..<tokens[range.upperBound - 1].upperBound]
        return Key(String(decoding: bytes, as: UTF8.self))
    }

    /// The words among some tokens.
    func wordBytes(_ range: Range<Int>) -> [ArraySlice<UInt8>] {
        range.filter { isWord[$0] }.map { bytes[tokens[$0]] }
    }

    var wordCount: Int { isWord.reduce(0) { $0 + ($1 ? 1 : 0) } }

    /// Numbers for tokens, equal for equal tokens of all these texts.
    static func numbered(_ texts: [Words]) -> [[Int]] {
        var numbers: [ArraySlice<UInt8>: Int] = [:]
        func number(of token: ArraySlice<UInt8>) -> Int {
            if let number = numbers[token] { return number }
            numbers[token] = numbers.count
            return numbers.count - 1
        }
        return texts.map { text in text.tokens.map { number(of: text.bytes[$0]) } }
    }
}

// MARK: - Tokens

extension Words {
    private enum Kind {
        case letter, digit, ideograph, blank, joint, comma, other
    }

    private func token(at start: Int) -> (end: Int, isWord: Bool) {
        var (end, kind) = character(at: start)
        switch kind {
        case .ideograph: return (end, true)
        case .joint, .comma, .other: return (end, false)
        case .blank:
            while end < bytes.count, case (let next, .blank) = character(at: end) { end = next }
            return (end, false)
        case .letter, .digit: break
        }
        while end < bytes.count {
            let (next, following) = character(at: end)
            switch following {
            case .letter, .digit: (end, kind) = (next, following)
            case .joint, .comma:
                guard next < bytes.count else { return (end, true) }
                let (beyond, last) = character(at: next)
                let isJoined =
                    following == .comma
                    ? kind == .digit && last == .digit : last == .letter || last == .digit
                guard isJoined else { return (end, true) }
                (end, kind) = (beyond, last)
            case .ideograph, .blank, .other: return (end, true)
            }
        }
        return (end, true)
    }

    private func character(at start: Int) -> (end: Int, kind: Kind) {
        let byte = bytes[start]
        guard byte >= 0x80 else { return (start + 1, Self.kind(ascii: byte)) }
        var end = start + 1
        while end < bytes.count, bytes[end] & 0xc0 == 0x80 { end += 1 }
        var value = UInt32(byte) & (0x7f >> UInt32(min(6, end - start)))
        for byte in bytes[(start + 1)..<end] { value = value << 6 | UInt32(byte & 0x3f) }
        return (end, Self.isIdeograph(value) ? .ideograph : .letter)
    }

    private static func kind(ascii byte: UInt8) -> Kind {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"):
            .letter
        case UInt8(ascii: "0")...UInt8(ascii: "9"): .digit
        case 0x20, 0x09, 0x0a, 0x0d: .blank
        case UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "@"),
            UInt8(ascii: "+"), UInt8(ascii: "-"):
            .joint
        case UInt8(ascii: ","): .comma
        default: .other
        }
    }

    /// Scripts without spaces: Thai, Lao, Khmer, kana, and Chinese characters.
    private static func isIdeograph(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x0e00...0x0eff, 0x1780...0x17ff, 0x3000...0x30ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
            0xf900...0xfaff, 0xff00...0xff9f, 0x20000...0x3ffff:
            true
        default: false
        }
    }
}
