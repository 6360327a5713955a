import GodwitTree

/// The words, numbers and other scalars of a value: what a merge may rearrange, but not make.
///
/// A word is letters, digits and underscores next to each other; a number is digits, with points
/// or commas between them; each Chinese or Japanese character is a word.
struct Tokens {
    struct Token: Hashable {
        let text: String
        let isWord: Bool

        init(_ text: String, isWord: Bool) { (self.text, self.isWord) = (text, isWord) }

        var isIdeograph: Bool { text.unicodeScalars.contains { $0.value >= 0x3000 } }
        var isNumber: Bool {
            text.unicodeScalars.first.map { (48...57).contains($0.value) } ?? false
        }
    }

    private(set) var all: Set<Value> = []

    init(of values: Value...) {
        for value in values { insert(value) }
    }

    /// Those that are not among others.
    func subtracting(_ others: Tokens) -> Set<Value> { all.subtracting(others.all) }

    private mutating func insert(_ value: Value) {
        switch value {
        case .map(let map):
            for entry in map {
                all.insert(["key": .string(entry.key)])
                insert(entry.value)
            }
        case .list(let items): for item in items { insert(item) }
        case .string(let string):
            let words = Self.split(string.text).filter(\.isWord)
            for word in words { all.insert(.string(Key(word.text))) }
            if words.isEmpty, !string.text.isEmpty { all.insert(value) }
        default: all.insert(value)
        }
    }

    /// A text as words, and what stands between them.
    static func split(_ text: String) -> [Token] {
        let scalars = Array(text.unicodeScalars)
        var (tokens, start): ([Token], Int) = ([], 0)
        while start < scalars.count {
            var end = start + 1
            let isWord = isPart(scalars[start])
            if isWord {
                while end < scalars.count, isPart(scalars[end]) || isPoint(scalars, start, end) {
                    end += 1
                }
            }
            let token = String(String.UnicodeScalarView(scalars[start..<end]))
            tokens.append(Token(token, isWord: isWord || scalars[start].value >= 0x3000))
            start = end
        }
        return tokens
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.value < 0x3000 && scalar.properties.isAlphabetic || isDigit(scalar)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        (48...57).contains(scalar.value)
    }

    /// Whether a point or a comma stands within a number.
    private static func isPoint(_ scalars: [Unicode.Scalar], _ start: Int, _ place: Int) -> Bool {
        (scalars[place] == "." || scalars[place] == ",")
            && scalars[start..<place].allSatisfy { isDigit($0) || $0 == "." || $0 == "," }
            && place + 1 < scalars.count && isDigit(scalars[place + 1])
    }
}
