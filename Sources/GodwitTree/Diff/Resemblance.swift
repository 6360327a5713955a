// How much two values look like versions of one, by L. R. Dice's coefficient ("Measures of the
// amount of ecologic association between species", 1945) over their words and where they stand.

/// A value as a bag of words, each with the key of the field that it stands in.
struct Resemblance {
    private enum Kind {
        case map, list, string, other
        /// A record of common words alone, which resembles nothing.
        case common
    }

    private var kind: Kind
    private var counts: [UInt64: Int] = [:]
    private var total = 0

    /// More words than this do not count.
    private static let wordsMax = 512

    init(_ value: Value) {
        switch value {
        case .map: kind = .map
        case .list: kind = .list
        case .string: kind = .string
        default: kind = .other
        }
        add(value, key: 0)
    }

    private static let sampleMax = 32

    /// The words that most of some records have, each in the same field, such as those of a new
    /// record's defaults; none where there are too few records to tell.
    static func commonWords(of items: [Value]) -> Set<UInt64> {
        let records = items.filter { $0.map != nil }
        guard records.count >= 4 else { return [] }
        let step = max(1, records.count / sampleMax)
        let bags = stride(from: 0, to: records.count, by: step).map { Resemblance(records[$0]) }
        var counts: [UInt64: Int] = [:]
        for word in bags.flatMap(\.counts.keys) { counts[word, default: 0] += 1 }
        return Set(counts.filter { 2 * $0.value > bags.count }.keys)
    }

    /// The words that two items of one list have in the same field.
    static func sharedWords(of lists: [[Value]]) -> Set<UInt64> {
        var shared: Set<UInt64> = []
        for list in lists {
            var known: Set<UInt64> = []
            for word in list.flatMap({ Resemblance($0).counts.keys }) {
                if !known.insert(word).inserted { shared.insert(word) }
            }
        }
        return shared
    }

    var wordCount: Int { total }

    /// The other words; a value that has none of its own resembles nothing.
    func without(_ words: Set<UInt64>) -> Resemblance {
        guard !words.isEmpty else { return self }
        var rest = self
        for word in words { rest.total -= rest.counts.removeValue(forKey: word) ?? 0 }
        if rest.total == 0, total > 0 { rest.kind = .common }
        return rest
    }

    /// From 0, nothing in common, to 1, the same words; 0 for different kinds of values.
    func score(with other: Resemblance) -> Double {
        guard kind == other.kind, kind != .common else { return 0 }
        guard total + other.total > 0 else { return 1 }
        let (few, many) = counts.count <= other.counts.count ? (self, other) : (other, self)
        let shared = few.counts.reduce(0) { $0 + min($1.value, many.counts[$1.key] ?? 0) }
        return Double(2 * shared) / Double(total + other.total)
    }

    private mutating func add(_ value: Value, key: UInt64) {
        guard total < Self.wordsMax else { return }
        switch value {
        case .map(let map):
            for entry in map { add(entry.value, key: entry.key.boundaryHash) }
        case .list(let items):
            for item in items {
                guard total < Self.wordsMax else { return }
                add(item, key: key)
            }
        case .string(let text):
            let words = Words(text)
            var isEmpty = true
            for (token, isWord) in zip(words.tokens, words.isWord) where isWord {
                isEmpty = false
                guard total < Self.wordsMax else { return }
                note(key, hash(words.bytes[token]))
            }
            if isEmpty { note(key, text.boundaryHash) }
        default:
            note(key, value.boundaryHash)
        }
    }

    private mutating func note(_ key: UInt64, _ word: UInt64) {
        var hash = BoundaryHash(kind: key, word)
        hash.mix(word >> 32)
        counts[hash.bits, default: 0] += 1
        total += 1
    }

    /// FNV-1a, 64 bits: the same on every machine, so that every peer pairs the same items.
    private func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
