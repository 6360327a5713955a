// Two versions of a line or a paragraph, merged by words.
//
//   (1) Words are atomic (`Words`): the result has no word that is in none of the versions.
//   (2) Edits of both sides stay where an unchanged word lies between them. Otherwise they contest
//       the place: one side's words are taken there, never both one after the other.
//   (3) A text that a side replaced for the most part is no edit of the base.
//   (4) A word that both sides put in at different places, and that one of them took from elsewhere
//       or that is long, would stand there twice: such a text is not merged by words.

struct WordMerge {
    enum Part {
        case text(Key)
        case contested(base: Key, Sides<Key>)
    }

    private(set) var pieces: [Part] = []

    private static let wordsMin = 4
    private static let sizeMaxInBytes = 1 << 16
    private static let differenceMax = 256

    /// Returns nil when the text is not to be merged by words.
    init?(_ base: Key, _ sides: Sides<Key>) {
        guard base.sizeInBytes <= Self.sizeMaxInBytes else { return nil }
        let words = Words(base)
        let sideWords = sides.map { Words($0) }
        guard words.wordCount >= Self.wordsMin else { return nil }
        let numbers = Words.numbered([words, sideWords.ours, sideWords.theirs])
        let hunks = Sides(ours: numbers[1], theirs: numbers[2]).map {
            EditPath.hunks(from: numbers[0], to: $0, differenceMax: Self.differenceMax)
        }
        for side in Side.allCases {
            let removed = hunks[side].reduce(0) { $0 + $1.old.count }
            let kept = words.tokens.count - removed
            guard 4 * kept >= words.tokens.count + sideWords[side].tokens.count else { return nil }
        }
        let chunks = Self.joined(Chunk3.chunks(hunks)) { gap in
            words.isWord[gap].contains(true)
        }
        guard !Self.doubles(chunks, words, sideWords) else { return nil }
        var position = 0
        for chunk in chunks {
            append(words.text(position..<chunk.base.lowerBound))
            let base = words.text(chunk.base)
            let texts = Sides(
                ours: sideWords.ours.text(chunk.sides.ours),
                theirs: sideWords.theirs.text(chunk.sides.theirs)
            )
            if texts.ours == texts.theirs || texts.theirs == base {
                append(texts.ours)
            } else if texts.ours == base {
                append(texts.theirs)
            } else {
                pieces.append(.contested(base: base, texts))
            }
            position = chunk.base.upperBound
        }
        append(words.text(position..<words.tokens.count))
    }

    /// The merged text; nil when something is contested.
    var merged: Key? {
        var texts: [Key] = []
        for piece in pieces {
            guard case .text(let text) = piece else { return nil }
            texts.append(text)
        }
        return Key(joining: texts)
    }

    private mutating func append(_ text: Key) {
        if !text.isEmpty { pieces.append(.text(text)) }
    }

    private static let longMinInBytes = 6

    /// Whether the merge would have a word twice that each side put in once.
    private static func doubles(
        _ chunks: [Chunk3],
        _ base: Words,
        _ sides: Sides<Words>
    ) -> Bool {
        var added = Sides<Set<ArraySlice<UInt8>>>(both: [])
        var removed: Set<ArraySlice<UInt8>> = []
        for chunk in chunks {
            for side in Side.allCases where chunk.isChanged[side] {
                if chunk.base.isEmpty, !chunk.isChanged[side.other] {
                    added[side].formUnion(sides[side].wordBytes(chunk.sides[side]))
                } else if sides[side].wordBytes(chunk.sides[side]).isEmpty {
                    removed.formUnion(base.wordBytes(chunk.base))
                }
            }
        }
        return added.ours.intersection(added.theirs).contains { word in
            word.count >= longMinInBytes || removed.contains(word)
        }
    }

    /// Makes one chunk of changes of different sides without a word between them.
    private static func joined(
        _ chunks: [Chunk3],
        isSeparated: (Range<Int>) -> Bool
    ) -> [Chunk3] {
        var result: [Chunk3] = []
        for chunk in chunks {
            guard var last = result.last, last.isChanged != chunk.isChanged,
                !isSeparated(last.base.upperBound..<chunk.base.lowerBound)
            else {
                result.append(chunk)
                continue
            }
            last.base = last.base.lowerBound..<chunk.base.upperBound
            for side in Side.allCases {
                last.sides[side] =
                    last.sides[side].lowerBound..<chunk.sides[side].upperBound
                last.isChanged[side] = last.isChanged[side] || chunk.isChanged[side]
            }
            result[result.count - 1] = last
        }
        return result
    }
}
