// Which item of an old list each item of a new one is.
//
//   (1) By identity, where the list has one (`ItemIdentity`).
//   (2) By content that occurs once in each list; then rows that each begin with a text of their own,
//       by that text, if no other row is more like them; then by content that occurs more often, so
//       that as many items as can be stay in place, or else between the same two neighbours that do.
//   (3) By resemblance, between the same two neighbours: half of the words are the same. An item
//       whose identity changed is looked for everywhere, and needs half of all, and eight tenths of
//       all else. Words that most items have say nothing about which one it is. If the app has
//       declared the identity, an item with another one is another item.
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
    private var isTaken: [Bool]
    private let identity: ItemIdentity?
    private let rules: MergePolicy.Node?
    private lazy var commonWords = Resemblance.commonWords(of: neighbours)
    /// The items of both lists, and some around them.
    private let neighbours: [Value]
    /// Whether the items of both lists, and those around them, are rows that begin with a text of
    /// their own.
    private let areRowsNamed: Bool
    private var oldBags: [Int: Resemblance] = [:]
    private var newBags: [Int: Resemblance] = [:]

    /// Beyond so many differences, the longest common subsequence is not looked for.
    private static let differenceMax = 100
    private static let candidatesMax = 8
    private static let pairsMax = 4_000
    private static let movedPairsMax = 400
    private static let scoreMin = 0.5
    /// An item with another identity must be much the same, and the same in nearly all else.
    private static let renamedScoreMin = 0.5
    private static let restScoreMin = 0.8

    init(
        old: [Value],
        new: [Value],
        among surroundings: [[Value]],
        identity: ItemIdentity?,
        _ rules: MergePolicy.Node?
    ) {
        self.rules = rules
        neighbours = surroundings.flatMap { $0 }
        areRowsNamed = identity == nil && surroundings.allSatisfy(\.areNamedRows)
        self.old = old
        self.new = new
        sources = Array(repeating: nil, count: new.count)
        isTaken = Array(repeating: false, count: old.count)
        self.identity = identity
    }

    mutating func matchAll() {
        guard !old.isEmpty, !new.isEmpty else { return }
        matchIdentities()
        matchUniqueContents()
        if areRowsNamed { matchLeadingTexts() }
        matchRepeatedContents()
        forEachGap { $0.matchEqual(new: $1, old: $2) }
        guard rules?.isUnion != true else { return }
        forEachGap { $0.matchAlike(new: $1, old: $2) }
        if identity == nil {
            forEachGap { $0.matchPlaces(new: $1, old: $2) }
        } else {
            matchAlikeAnywhere()
        }
        removeLastOfEqual()
    }

    /// Matches as many items at the end of both lists.
    mutating func matchEnds(count: Int) {
        for distance in 0..<count { match(new.count - 1 - distance, old.count - 1 - distance) }
    }

    private mutating func match(_ index: Int, _ source: Int) {
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

// MARK: - Resemblance and place

extension ListMatching {
    private mutating func score(_ source: Int, _ index: Int) -> Double {
        if let declared = rules?.identity, declared.name(of: old[source]) != nil,
            declared.name(of: new[index]) != nil
        {
            return 0
        }
        let oldBag = oldBags[source] ?? bag(of: old[source])
        let newBag = newBags[index] ?? bag(of: new[index])
        (oldBags[source], newBags[index]) = (oldBag, newBag)
        let score = oldBag.score(with: newBag)
        guard identity != nil, score >= Self.renamedScoreMin else {
            return identity == nil ? score : 0
        }
        let (oldRest, newRest) = (rest(of: old[source]), rest(of: new[index]))
        return oldRest.score(with: newRest) >= Self.restScoreMin ? score : 0
    }

    private mutating func bag(of item: Value) -> Resemblance {
        item.map == nil ? Resemblance(item) : Resemblance(item).without(commonWords)
    }

    /// What an item is without its identity.
    private func rest(of item: Value) -> Resemblance {
        guard let identity else { return Resemblance(item) }
        return Resemblance(identity.fields.reduce(item) { $0.without($1[...]) })
    }

    private mutating func matchAlike(new range: Range<Int>, old gap: Range<Int>) {
        let indices = range.filter { sources[$0] == nil }
        let positions = gap.filter { !isTaken[$0] }
        guard !indices.isEmpty, !positions.isEmpty else { return }
        guard indices.count * positions.count <= Self.pairsMax else {
            return matchAlikeInOrder(indices, positions)
        }
        var found: [(index: Int, source: Int)] = []
        let pairs = scoredPairs(indices, positions, scoreMin: Self.scoreMin) { index, source in
            abs((index - range.lowerBound) - (source - gap.lowerBound))
        }
        for pair in pairs where sources[pair.index] == nil && !isTaken[pair.source] {
            let isCrossing = found.contains {
                ($0.index < pair.index) != ($0.source < pair.source)
            }
            guard !isCrossing else { continue }
            match(pair.index, pair.source)
            found.append((pair.index, pair.source))
        }
    }

    /// One look along a gap that is too long for all pairs.
    private mutating func matchAlikeInOrder(_ indices: [Int], _ positions: [Int]) {
        var candidates = positions[...]
        for index in indices {
            var best: (offset: Int, score: Double)?
            for (offset, position) in candidates.prefix(Self.candidatesMax).enumerated() {
                let score = score(position, index)
                if score >= Self.scoreMin, score > best?.score ?? 0 { best = (offset, score) }
            }
            guard let best else { continue }
            candidates = candidates.dropFirst(best.offset)
            if let source = candidates.popFirst() { match(index, source) }
        }
    }

    /// Matches items whose identity changed and that moved.
    private mutating func matchAlikeAnywhere() {
        let indices = new.indices.filter { sources[$0] == nil }
        let positions = old.indices.filter { !isTaken[$0] }
        guard indices.count * positions.count <= Self.movedPairsMax else { return }
        let pairs = scoredPairs(indices, positions, scoreMin: Self.scoreMin) { _, _ in 0 }
        for pair in pairs where sources[pair.index] == nil && !isTaken[pair.source] {
            match(pair.index, pair.source)
        }
    }

    /// The pairs that look enough alike, the most alike and nearest first.
    private mutating func scoredPairs(
        _ indices: [Int],
        _ positions: [Int],
        scoreMin: Double,
        distance: (Int, Int) -> Int
    ) -> [(index: Int, source: Int)] {
        var pairs: [(score: Double, distance: Int, index: Int, source: Int)] = []
        for index in indices {
            for source in positions {
                let score = score(source, index)
                guard score >= scoreMin else { continue }
                pairs.append((score, distance(index, source), index, source))
            }
        }
        pairs.sort { left, right in
            if left.score != right.score { return left.score > right.score }
            return (left.distance, left.source, left.index)
                < (right.distance, right.source, right.index)
        }
        return pairs.map { ($0.index, $0.source) }
    }

    private mutating func matchPlaces(new range: Range<Int>, old gap: Range<Int>) {
        let indices = range.filter { sources[$0] == nil }
        let positions = gap.filter { !isTaken[$0] }
        guard indices.count == positions.count else { return }
        for (index, source) in zip(indices, positions) where new[index].isLike(old[source]) {
            match(index, source)
        }
    }

    /// Calls `body` for what is between each two items that stay in place.
    private mutating func forEachGap(_ body: (inout Self, Range<Int>, Range<Int>) -> Void) {
        let matched = sources.indices.filter { sources[$0] != nil }
        guard matched.count < new.count else { return }
        let sequence = matched.compactMap { index in
            sources[index].map { WeightedElement(value: $0, weight: 1) }
        }
        let anchors = heaviestIncreasingSubsequence(of: sequence).map { matched[$0] }
        var (nextNew, nextOld) = (0, 0)
        for anchor in anchors + [new.count] {
            let oldEnd = anchor < new.count ? sources[anchor] ?? old.count : old.count
            if nextNew < anchor, nextOld < oldEnd {
                body(&self, nextNew..<anchor, nextOld..<oldEnd)
            }
            (nextNew, nextOld) = (anchor + 1, min(oldEnd + 1, old.count))
        }
    }
}

/// An item, compared and hashed by its digest where it is a container.
struct ItemContent: Hashable {
    private enum Kind: Hashable {
        case scalar(Value)
        case container(Digest)
    }

    private let kind: Kind

    init(_ value: Value) {
        switch value {
        case .list, .map: kind = .container(value.digest)
        default: kind = .scalar(value)
        }
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

    /// Whether this is of the same kind as another value; numbers are of one kind.
    fileprivate func isLike(_ other: Value) -> Bool {
        switch (self, other) {
        case (.int, .double), (.double, .int): true
        default: kind == other.kind
        }
    }
}
