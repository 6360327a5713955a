// People who merge by hand sometimes write something that neither side has: they fix a typing
// error, raise a version once more, add a note. No program can come to the same result. Such a
// merge is told by a rule: it has an atom that none of its three inputs has.
//
// Atoms of a value are
//
//   - each key of a map, whole;
//   - each number, true, false and null;
//   - of a string, each word (letters, digits and underscores next to each other) and each number
//     (digits with points or commas between them); each Chinese or Japanese character by itself;
//   - a string that has no word, whole.
//
// So a text that was put together from the words of both sides has nothing new.

import GodwitTree

/// The smallest parts of values that a merge takes as they are.
struct Atoms {
    private var all: Set<Value> = []

    init(of values: Value...) {
        for value in values { insert(value) }
    }

    /// Whether some atom of these is not among the others.
    func hasMore(than others: Atoms) -> Bool { !all.isSubset(of: others.all) }

    private mutating func insert(_ value: Value) {
        switch value {
        case .map(let map):
            for entry in map {
                all.insert(.list([.string(entry.key)]))
                insert(entry.value)
            }
        case .list(let items): items.forEach { insert($0) }
        case .string(let string):
            let words = Self.words(of: string.text)
            if words.isEmpty { all.insert(value) }
            for word in words { all.insert(.string(Key(word))) }
        default: all.insert(value)
        }
    }
}

extension Atoms {
    private enum Class {
        case blank, digit, letter, ideograph
    }

    private static func words(of text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        let classes = scalars.map(characterClass)
        var words: [String] = []
        var start = 0
        while start < scalars.count {
            var end = start + 1
            switch classes[start] {
            case .digit, .letter: end = wordEnd(classes, scalars, from: start)
            case .blank:
                start = end
                continue
            case .ideograph: break
            }
            words.append(String(String.UnicodeScalarView(scalars[start..<end])))
            start = end
        }
        return words
    }

    private static func wordEnd(
        _ classes: [Class],
        _ scalars: [Unicode.Scalar],
        from start: Int
    ) -> Int {
        var end = start
        var isNumber = true
        while end < classes.count {
            let isInside = end > start && end + 1 < classes.count
            let isPoint = isNumber && isInside && (scalars[end] == "." || scalars[end] == ",")
            switch classes[end] {
            case .digit: break
            case .letter: isNumber = false
            case .blank where isPoint && classes[end + 1] == .digit: break
            default: return end
            }
            end += 1
        }
        return end
    }

    private static func characterClass(_ scalar: Unicode.Scalar) -> Class {
        switch scalar.value {
        case 0x30...0x39: .digit
        case 0x41...0x5a, 0x61...0x7a, 0x5f: .letter
        case 0..<0x80: .blank
        case 0x3040...0x30ff, 0x3400...0x9fff, 0xf900...0xfaff, 0x2_0000...0x3_ffff: .ideograph
        default: scalar.properties.isAlphabetic || isMark(scalar) ? .letter : .blank
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber: true
        default: false
        }
    }
}

extension MergeCase {
    /// Whether people put something into their merge that is in none of its inputs.
    var isMadeByHand: Bool {
        Atoms(of: expected).hasMore(than: Atoms(of: base, ours, theirs))
    }
}
