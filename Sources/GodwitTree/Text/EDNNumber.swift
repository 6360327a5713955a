/// The grammar of EDN's numbers.
enum EDNNumber {
    /// Whether a word is meant to be a number: a digit comes first, or right behind the sign.
    static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        let digits = word.dropFirst(hasSign(word) ? 1 : 0)
        return digits.first.map(isDigit) ?? false
    }

    /// The number; nil when the word is none after all.
    static func content(_ word: ArraySlice<UInt8>) -> EDNForm.Content? {
        var rest = word.dropFirst(hasSign(word) ? 1 : 0)
        let isLeadingZero = rest.first == UInt8(ascii: "0")
        guard takeDigits(&rest) == 1 || !isLeadingZero else { return nil }
        switch (rest.first, rest.count) {
        case (nil, _): return integer(word)
        case (UInt8(ascii: "N"), 1): return integer(word.dropLast())
        case (UInt8(ascii: "/"), 2...) where rest.dropFirst().allSatisfy(isDigit):
            return .foreign("a ratio is not a value")
        default: return decimal(word, after: rest)
        }
    }

    private static func decimal(
        _ word: ArraySlice<UInt8>,
        after whole: ArraySlice<UInt8>
    ) -> EDNForm.Content? {
        var rest = whole
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard takeDigits(&rest) > 0 else { return nil }
        }
        if let first = rest.first, first | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if hasSign(rest) { rest.removeFirst() }
            guard takeDigits(&rest) > 0 else { return nil }
        }
        if rest.elementsEqual("M".utf8) { return .foreign("an exact decimal is not a value") }
        guard rest.isEmpty, let double = Double(String(decoding: word, as: UTF8.self)) else {
            return nil
        }
        guard let finite = Finite(double) else {
            return .foreign("the number is beyond a double's range")
        }
        return .double(finite)
    }

    private static func integer(_ word: ArraySlice<UInt8>) -> EDNForm.Content {
        guard let int = Int64(String(decoding: word, as: UTF8.self)) else {
            return .foreign("the integer does not fit in 64 bits")
        }
        return .int(int)
    }

    private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> Int {
        let digits = rest.prefix(while: isDigit)
        rest = rest[digits.endIndex...]
        return digits.count
    }

    private static func hasSign(_ word: ArraySlice<UInt8>) -> Bool {
        word.first == UInt8(ascii: "+") || word.first == UInt8(ascii: "-")
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
