import GodwitTree

/// The smallest parts of a value, how often each occurs: what a merge may rearrange, but not make.
///
/// A part is a word, a number or another scalar, by itself and with the key that it stands under,
/// a key, or an item of a list.
struct Tokens {
    struct Token: Hashable {
        let text: String
        let isWord: Bool

        init(_ text: String, isWord: Bool) { (self.text, self.isWord) = (text, isWord) }

        var isIdeograph: Bool { text.unicodeScalars.contains { $0.value >= 0x3000 } }
        var isNumber: Bool {
            text.unicodeScalars.first.map { (48...57).contains($0.value) } ?? false
        }
        /// Whether this is `2026-03-10` or `a/path`.
        var isDateOrPath: Bool { text.contains("/") || isNumber && text.contains("-") }
    }

    /// A part, and how often it occurs.
    private(set) var counts: [Value: Int] = [:]

    init(of values: Value...) {
        for value in values { insert(value, under: nil) }
    }

    var all: Set<Value> { Set(counts.keys) }

    /// The lines of all texts.
    static func lines(of values: Value...) -> Set<Value> {
        func lines(_ value: Value) -> [Value] {
            switch value {
            case .map(let map): map.flatMap { lines($0.value) }
            case .list(let items): items.flatMap(lines)
            case .string(let text):
                text.text.split(separator: "\n").map { .string(Key(String($0))) }
            default: []
            }
        }
        return Set(values.flatMap(lines))
    }

    /// Those that are not among others.
    func subtracting(_ others: Tokens) -> Set<Value> { all.subtracting(others.all) }

    /// How many of the words and scalars stand in others too, as a share of the fewer ones.
    func shareOfWords(with others: Tokens) -> Double {
        let (ours, theirs) = (scalars, others.scalars)
        return Double(ours.intersection(theirs).count)
            / Double(max(1, min(ours.count, theirs.count)))
    }

    private var scalars: Set<Value> { all.filter { $0.map == nil } }

    /// Whether each of these is among others.
    func isSubset(of others: Tokens...) -> Bool {
        counts.keys.allSatisfy { token in others.contains { $0.counts[token] != nil } }
    }

    private mutating func insert(_ value: Value, under key: Key?) {
        switch value {
        case .map(let map):
            for entry in map {
                note(["key": .string(entry.key)])
                insert(entry.value, under: entry.key)
            }
        case .list(let items): for item in items { insert(item, under: key) }
        case .string(let string):
            let words = Self.words(string.text).filter(\.isWord)
            for word in words { note(.string(Key(word.text)), under: key) }
            // Text without words is merged by lines.
            if words.isEmpty {
                for line in string.text.split(separator: "\n") {
                    note(.string(Key(String(line))), under: key)
                }
            }
        default: note(value, under: key)
        }
    }

    private mutating func note(_ token: Value, under key: Key? = nil) {
        counts[token, default: 0] += 1
        if let key { counts[[key: token], default: 0] += 1 }
    }
}

// MARK: - Items

extension Tokens {
    /// How often each record or list occurs as an item of a list.
    static func items(of value: Value) -> [Value: Int] {
        var counts: [Value: Int] = [:]
        count(value, &counts)
        return counts
    }

    private static func count(_ value: Value, _ counts: inout [Value: Int]) {
        switch value {
        case .map(let map): for entry in map { count(entry.value, &counts) }
        case .list(let items):
            for item in items {
                if item.map != nil || item.list != nil { counts[item, default: 0] += 1 }
                count(item, &counts)
            }
        default: break
        }
    }
}

// MARK: - Words of a text

extension Tokens {
    /// A text as words, and what stands between them: digits are a number, also with points.
    static func split(_ text: String) -> [Token] {
        tokens(text) { scalars, start, place in
            (scalars[place] == "." || scalars[place] == ",")
                && scalars[start..<place].allSatisfy { isDigit($0) || $0 == "." || $0 == "," }
                && place + 1 < scalars.count && isDigit(scalars[place + 1])
        }
    }

    /// A text as words, and what stands between them: a date, a version or a path is one word.
    static func words(_ text: String) -> [Token] {
        tokens(text) { scalars, _, place in
            guard place + 1 < scalars.count, isPart(scalars[place + 1]) else { return false }
            if scalars[place] == "," {
                return isDigit(scalars[place - 1]) && isDigit(scalars[place + 1])
            }
            return ".:/@+-".unicodeScalars.contains(scalars[place])
        }
    }

    private static func tokens(
        _ text: String,
        isJoint: ([Unicode.Scalar], _ start: Int, _ place: Int) -> Bool
    ) -> [Token] {
        let scalars = Array(text.unicodeScalars)
        var (tokens, start): ([Token], Int) = ([], 0)
        while start < scalars.count {
            var end = start + 1
            let isWord = isPart(scalars[start])
            if isWord {
                while end < scalars.count, isPart(scalars[end]) || isJoint(scalars, start, end) {
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
}
