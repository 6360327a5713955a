// Which item of an old list each item of a new one is.
//
//   (1) By position, where one edit has changed all rows alike (`RowSteps`); else by
//       identity, where the list has one (`ItemIdentity`).
//   (2) By content that occurs once in each list; then rows that each begin with a text of their own,
//       by that text, if no other row is more like them; then by content that occurs more often, so
//       that as many items as can be stay in place, or else between the same two neighbours that do.
//   (3) By resemblance, between the same two neighbours: half of the words are the same. An item
//       whose identity changed needs half of all, and eight tenths of all else; it is looked for
//       everywhere if it has several words that no other item has. Words that most items have say
//       nothing about which one it is. If the app has declared the identity, an item with another one
//       is another item.
//   (4) By position, between the same two neighbours, where as many items went as came and
//       nothing tells them apart: one thing was put in the place of another.
//   (5) Under the rule union, (1) and (2) alone: nothing is put in the place of another.
//
// Of up to 64 equal neighbours, the last ones are those that went: so both sides mean the same one,
// whatever else they did.
//
// Each step takes only what the steps before it have left, and never crosses what they found.
// Where too much is left, a bounded number of candidates is looked at: all of it is O(n log n).

/// The search for the items of one list in another.
struct ListMatching {
    let old: [Value]
    let new: [Value]
    /// The position in `old`, for each item of `new`.
    private(set) var sources: [Int?]
    var isTaken: [Bool]
    let identity: ItemIdentity?
    let rules: MergePolicy.Node?
    lazy var commonWords = Resemblance.commonWords(of: surroundings.flatMap { $0 })
    /// The items of both lists, each with some around them.
    let surroundings: [[Value]]
    /// Whether the items of both lists, and those around them, are rows that begin with a text of
    /// their own.
    private let areRowsNamed: Bool
    var oldBags: [Int: Resemblance] = [:]
    var newBags: [Int: Resemblance] = [:]

    /// Beyond so many differences, the longest common subsequence is not looked for.
    private static let differenceMax = 100
    static let candidatesMax = 8
    static let pairsMax = 4_000
    static let movedPairsMax = 400
    static let scoreMin = 0.5
    /// An item with another identity must be much the same, and the same in nearly all else.
    static let renamedScoreMin = 0.5
    static let restScoreMin = 0.8
    /// How many words that no other item has tell one that moved.
    static let ownWordsMin = 5

    init(
        old: [Value],
        new: [Value],
        among surroundings: [[Value]],
        identity: ItemIdentity?,
        _ rules: MergePolicy.Node?
    ) {
        self.rules = rules
        self.surroundings = surroundings
        areRowsNamed = identity == nil && surroundings.allSatisfy(\.areNamedRows)
        self.old = old
        self.new = new
        sources = Array(repeating: nil, count: new.count)
        isTaken = Array(repeating: false, count: old.count)
        self.identity = identity
    }

    /// - Parameter byPlace: Whether as many items as went are those that came, if nothing tells them apart.
    mutating func matchAll(byPlace: Bool = true) {
        guard !old.isEmpty, !new.isEmpty else { return }
        if matchInStep() { return removeLastOfEqual() }
        matchIdentities()
        matchUniqueContents()
        if areRowsNamed { matchLeadingTexts() }
        matchRepeatedContents()
        forEachGap { $0.matchEqual(new: $1, old: $2) }
        guard rules?.isUnion != true else { return }
        forEachGap { $0.matchAlike(new: $1, old: $2) }
        if identity == nil, byPlace {
            // Where nothing stays, a list of another kind has taken the place of this one.
            let isPart = isTaken.contains(true) || surroundings[0].count > old.count
            forEachGap { $0.matchPlaces(new: $1, old: $2, isPart: isPart) }
        } else if identity != nil {
            matchAlikeAnywhere()
        }
        removeLastOfEqual()
    }

    /// Matches as many items at the end of both lists.
    mutating func matchEnds(count: Int) {
        for distance in 0..<count { match(new.count - 1 - distance, old.count - 1 - distance) }
    }

    mutating func match(_ index: Int, _ source: Int) {
        sources[index] = source
        isTaken[source] = true
    }
}

// MARK: - Identity and content

extension ListMatching {
    private mutating func matchIdentities() {
        guard let identity else { return }
        matchNames(old.map { identity.name(of: $0) }, new.map { identity.name(of: $0) })
    }

    private mutating func matchNames(_ oldNames: [Value?], _ newNames: [Value?]) {
        let oldPositions = Self.uniquePositions(of: oldNames)
        guard !oldPositions.isEmpty else { return }
        for (name, index) in Self.uniquePositions(of: newNames) {
            if let source = oldPositions[name] { match(index, source) }
        }
    }

    /// Matches rows that begin with the same text, where no other row is more like either.
    ///
    /// Of rows that begin with times and numbers, which move on, no other may be as like.
    private mutating func matchLeadingTexts() {
        let positions = old.indices.filter { !isTaken[$0] }
        let indices = new.indices.filter { sources[$0] == nil }
        let isSmall = positions.count * indices.count <= Self.pairsMax
        let oldPositions = Self.uniquePositions(of: old.map(\.leadingText))
        let newPositions = Self.uniquePositions(of: new.map(\.leadingText))
        for index in indices {
            guard let text = new[index].leadingText, newPositions[text] == index,
                let source = oldPositions[text], !isTaken[source]
            else { continue }
            let (score, isName) = (score(source, index), text.text?.contains(where: \.isLetter))
            guard score >= Self.scoreMin, isSmall || isName == true else { continue }
            func isLess(_ other: Double) -> Bool { isName == true ? other <= score : other < score }
            let isBest =
                !isSmall
                || positions.allSatisfy { $0 == source || isLess(self.score($0, index)) }
                    && indices.allSatisfy { $0 == index || isLess(self.score(source, $0)) }
            if isBest { match(index, source) }
        }
    }

    private mutating func matchUniqueContents() {
        let oldContents = old.indices.map { isTaken[$0] ? nil : ItemContent(old[$0]) }
        let oldPositions = Self.uniquePositions(of: oldContents)
        guard !oldPositions.isEmpty else { return }
        let newContents = new.indices.map { sources[$0] == nil ? ItemContent(new[$0]) : nil }
        for (content, index) in Self.uniquePositions(of: newContents) {
            if let source = oldPositions[content] { match(index, source) }
        }
    }

    /// Matches equal items on the longest common subsequence: one that moves across them leaves
    /// them in place.
    private mutating func matchRepeatedContents() {
        var numbers: [ItemContent: Int] = [:]
        for position in old.indices where !isTaken[position] {
            numbers[ItemContent(old[position])] = old.count + position
        }
        guard !numbers.isEmpty else { return }
        let newNumbers = new.indices.map { index in
            sources[index] ?? numbers[ItemContent(new[index])] ?? -1
        }
        guard newNumbers.contains(where: { $0 >= old.count }) else { return }
        let oldNumbers = old.indices.map { position in
            isTaken[position] ? position : numbers[ItemContent(old[position])] ?? -2
        }
        let end = Hunk(old: old.count..<old.count, new: new.count..<new.count)
        var (position, index) = (0, 0)
        let hunks = EditPath.hunks(
            from: oldNumbers,
            to: newNumbers,
            differenceMax: Self.differenceMax
        )
        for hunk in hunks + [end] {
            while position < hunk.old.lowerBound {
                if sources[index] == nil { match(index, position) }
                (position, index) = (position + 1, index + 1)
            }
            (position, index) = (hunk.old.upperBound, hunk.new.upperBound)
        }
    }

    /// Matches equal items, the first with the first.
    private mutating func matchEqual(new range: Range<Int>, old gap: Range<Int>) {
        let indices = range.filter { sources[$0] == nil }
        guard !indices.isEmpty else { return }
        var positions: [ItemContent: [Int]] = [:]
        for position in gap.reversed() where !isTaken[position] {
            positions[ItemContent(old[position]), default: []].append(position)
        }
        guard !positions.isEmpty else { return }
        for index in indices {
            if let source = positions[ItemContent(new[index])]?.popLast() { match(index, source) }
        }
    }

    /// Of each run of equal items, matches the first ones; an edited one stays the one that it is, and
    /// ends a run.
    private mutating func removeLastOfEqual() {
        guard isTaken.contains(false), isTaken.contains(true) else { return }
        var indices: [Int?] = Array(repeating: nil, count: old.count)
        for (index, source) in sources.enumerated() {
            if let source, new[index] == old[source] { indices[source] = index }
        }
        func isFree(_ position: Int) -> Bool { indices[position] != nil || !isTaken[position] }
        var start = 0
        while start < old.count {
            let rest = old.indices[start...].dropFirst()
            let end =
                rest.first { old[$0] != old[start] || isFree($0) != isFree(start) } ?? old.count
            if isFree(start) {
                let equal = indices[start..<end].compactMap { $0 }.sorted()
                for position in start..<end { isTaken[position] = false }
                for (index, position) in zip(equal, start..<end) { match(index, position) }
            }
            start = end
        }
    }

    /// The positions of what occurs once.
    static func uniquePositions<Name: Hashable>(of names: [Name?]) -> [Name: Int] {
        var positions: [Name: Int?] = [:]
        for (position, name) in names.enumerated() {
            guard let name else { continue }
            positions[name] = positions.keys.contains(name) ? .some(nil) : position
        }
        return positions.compactMapValues { $0 }
    }
}

extension [Value] {
    /// Whether these are rows that each begin with another text.
    fileprivate var areNamedRows: Bool {
        let texts = compactMap(\.leadingText)
        return texts.count == count && Set(texts).count == count
    }
}

extension Value {
    /// The text that a row begins with.
    fileprivate var leadingText: Value? {
        guard case .list(let cells) = self, let first = cells.first, first.text != nil else {
            return nil
        }
        return first
    }

    /// Whether this is of the same kind as another value.
    func isLike(_ other: Value) -> Bool { likeKind == other.likeKind }

    /// The name of the value's kind; numbers are of one kind.
    var likeKind: String { isNumber ? "number" : kind }
}
