/// Lines that one side changed, or both did, and their merge.
///
/// Lines are compared with a newline at the end of each, so that a line put in behind the last one
/// does not change it.
final class TextWindow {
    private enum Part {
        case text(Key)
        case open(MergeChoice)
    }

    let base: Key
    let sides: Sides<Key>
    private let place: MergePlace
    private var parts: [Part] = []
    /// Whether the two changes are so close that people should look at them.
    private(set) var isDoubtful = false
    /// Whether the last line ends with a newline.
    private let isTerminated: Bool
    private let isLine: Bool

    /// Takes lines of a text, with their newlines.
    convenience init(_ base: Key, _ sides: Sides<Key>, _ place: MergePlace) {
        self.init(lines: base.lines, sides.map(\.lines), place)
    }

    init(lines base: [Key], _ sides: Sides<[Key]>, _ place: MergePlace) {
        self.base = Key(joining: base)
        self.sides = sides.map { Key(joining: $0) }
        self.place = place
        let end = base.last?.isTerminated ?? true
        let ends = sides.map { $0.last?.isTerminated ?? end }
        isTerminated = ends.ours == end ? ends.theirs : ends.ours
        isLine = base.count == 1 && !end
        merge(base.map(\.terminated), sides.map { $0.map(\.terminated) })
    }

    /// The choices that are left.
    var contested: [MergeChoice] {
        parts.compactMap { if case .open(let choice) = $0 { choice } else { nil } }
    }

    /// Whether both sides contest all that either changed.
    var isWholeContest: Bool {
        guard contested.count == 1 else { return false }
        var versions = Sides<[Key]>(both: [])
        var old: [Key] = []
        for part in parts {
            switch part {
            case .text(let text):
                for side in Side.allCases { versions[side].append(text) }
                old.append(text)
            case .open(let choice):
                for side in Side.allCases {
                    versions[side].append(choice.versions.sides[side]?.key ?? "")
                }
                old.append(choice.versions.base?.key ?? "")
            }
        }
        return Key(joining: old) == base.terminated
            && Key(joining: versions.ours) == sides.ours.terminated
            && Key(joining: versions.theirs) == sides.theirs.terminated
    }

    /// The merged lines, once they are settled.
    var result: Key {
        let text = Key(
            joining: parts.map { part in
                switch part {
                case .text(let text): text
                case .open(let choice): choice.result?.key ?? ""
                }
            }
        )
        guard !isTerminated, text.isTerminated else { return text }
        return Key(String(text.text.unicodeScalars.dropLast()))
    }
}

extension Value {
    fileprivate var key: Key? {
        if case .string(let key) = self { key } else { nil }
    }
}

// MARK: - Lines

extension TextWindow {
    private static let differenceMax = 1_024

    private func merge(_ base: [Key], _ sides: Sides<[Key]>) {
        let hunks = sides.map {
            EditPath.hunks(from: base, to: $0, differenceMax: Self.differenceMax)
        }
        var position = 0
        for chunk in Chunk3.chunks(hunks) {
            append(base[position..<chunk.base.lowerBound])
            merge(
                base[chunk.base],
                Sides(
                    ours: sides.ours[chunk.sides.ours],
                    theirs: sides.theirs[chunk.sides.theirs]
                )
            )
            position = chunk.base.upperBound
        }
        append(base[position...])
    }

    private func merge(_ base: ArraySlice<Key>, _ sides: Sides<ArraySlice<Key>>) {
        if sides.ours == sides.theirs || sides.theirs == base { return append(sides.ours) }
        if sides.ours == base { return append(sides.theirs) }
        if sides.ours.moves(in: base) || sides.theirs.moves(in: base) {
            append(Key(joining: Array(base)), sides.map { Key(joining: Array($0)) })
        } else if !base.isEmpty, base.count == sides.ours.count, base.count == sides.theirs.count {
            for (base, (our, their)) in zip(base, zip(sides.ours, sides.theirs)) {
                mergeLine(base, Sides(ours: our, theirs: their))
            }
        } else {
            mergeWords(Key(joining: Array(base)), sides.map { Key(joining: Array($0)) })
        }
    }

    private func mergeLine(_ base: Key, _ sides: Sides<Key>) {
        if sides.ours == sides.theirs { return append([sides.ours]) }
        if base == sides.ours || base == sides.theirs {
            append([base == sides.ours ? sides.theirs : sides.ours])
            isDoubtful = true
            return
        }
        mergeWords(base, sides)
    }

    private func mergeWords(_ base: Key, _ sides: Sides<Key>) {
        guard !base.isEmpty, let words = WordMerge(base, sides) else {
            return append(base, sides)
        }
        // In prose of one line, words far enough apart are as clear as lines.
        if !isLine { isDoubtful = isDoubtful || words.merged != nil }
        append(words)
    }

    private func append(_ words: WordMerge) {
        for piece in words.pieces {
            switch piece {
            case .text(let text): parts.append(.text(text))
            case .contested(let base, let sides): append(base, sides)
            }
        }
    }

    private func append(_ base: Key, _ sides: Sides<Key>) {
        let versions = MergeVersions(
            base: .string(base),
            sides: sides.map { .string($0) }
        )
        parts.append(.open(MergeChoice(.bothRewrote, versions, place)))
    }

    private func append(_ lines: ArraySlice<Key>) {
        if !lines.isEmpty { parts.append(.text(Key(joining: Array(lines)))) }
    }
}

extension ArraySlice<Key> {
    /// Whether these lines hold those of the base, all of them and in another order.
    fileprivate func moves(in base: ArraySlice<Key>) -> Bool {
        count == base.count && self != base
            && sorted(by: Key.isBefore) == base.sorted(by: Key.isBefore)
    }
}

extension Key {
    var isTerminated: Bool { text.utf8.last == UInt8(ascii: "\n") }

    /// The line with a newline at its end.
    var terminated: Key { isTerminated ? self : Key(text + "\n") }

    /// The lines, each with its newline.
    fileprivate var lines: [Key] {
        let bytes = Array(text.utf8)
        return TextDiff.lines(of: bytes).map { Key(String(decoding: bytes[$0], as: UTF8.self)) }
    }
}
