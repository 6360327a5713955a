extension ListMatching {
    mutating func score(_ source: Int, _ index: Int) -> Double {
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

    /// The item without its identity.
    private func rest(of item: Value) -> Resemblance {
        guard let identity else { return Resemblance(item) }
        return Resemblance(identity.fields.reduce(item) { $0.without($1[...]) })
    }

    mutating func matchAlike(new range: Range<Int>, old gap: Range<Int>) {
        let indices = range.filter { sources[$0] == nil }
        let positions = gap.filter { !isTaken[$0] }
        guard !indices.isEmpty, !positions.isEmpty else { return }
        guard indices.count * positions.count <= Self.pairsMax else {
            return matchAlikeInOrder(indices, positions)
        }
        var found: [(index: Int, source: Int)] = []
        let pairs = scoredPairs(indices, positions) { index, source in
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
    ///
    /// A new task may be much like a done one, with the same defaults. So an item is found again only by
    /// words that are its own.
    mutating func matchAlikeAnywhere() {
        let indices = new.indices.filter { sources[$0] == nil }
        let positions = old.indices.filter { !isTaken[$0] }
        guard indices.count * positions.count <= Self.movedPairsMax else { return }
        let pairs = scoredPairs(indices, positions) { _, _ in 0 }
        guard !pairs.isEmpty else { return }
        let shared = Resemblance.sharedWords(of: surroundings)
        for pair in pairs where sources[pair.index] == nil && !isTaken[pair.source] {
            let own = rest(of: old[pair.source]).without(shared)
            let newOwn = rest(of: new[pair.index]).without(shared)
            guard own.wordCount >= Self.ownWordsMin, own.score(with: newOwn) >= Self.restScoreMin
            else { continue }
            match(pair.index, pair.source)
        }
    }

    /// The pairs that look enough alike, the most alike and nearest first.
    mutating func scoredPairs(
        _ indices: [Int],
        _ positions: [Int],
        distance: (Int, Int) -> Int
    ) -> [(index: Int, source: Int)] {
        var pairs: [(score: Double, distance: Int, index: Int, source: Int)] = []
        for index in indices {
            for source in positions {
                let score = score(source, index)
                guard score >= Self.scoreMin else { continue }
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

    /// Matches texts that became records with these texts, or that such records became.
    private mutating func matchWrapped(new range: Range<Int>, old gap: Range<Int>) {
        var start = gap.lowerBound
        for index in range where sources[index] == nil {
            let source = (start..<gap.upperBound).prefix(Self.candidatesMax).first {
                !isTaken[$0] && (new[index].wraps(old[$0]) || old[$0].wraps(new[index]))
            }
            guard let source else { continue }
            match(index, source)
            start = source + 1
        }
    }

    /// Matches as many items as were there, place by place: of the same kinds, or all of other ones.
    mutating func matchPlaces(new range: Range<Int>, old gap: Range<Int>, isPart: Bool) {
        if isPart { matchWrapped(new: range, old: gap) }
        let indices = range.filter { sources[$0] == nil }
        let positions = gap.filter { !isTaken[$0] }
        guard indices.count == positions.count else { return }
        let kinds = Set(positions.map { old[$0].likeKind })
        let areOthers = isPart && kinds.isDisjoint(with: indices.map { new[$0].likeKind })
        for (index, source) in zip(indices, positions)
        where areOthers || new[index].isLike(old[source]) {
            match(index, source)
        }
    }

    /// Calls `body` for what is between each two items that stay in place.
    mutating func forEachGap(_ body: (inout Self, Range<Int>, Range<Int>) -> Void) {
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

extension Value {
    /// Whether this is a record with a text in one of its fields.
    fileprivate func wraps(_ text: Value) -> Bool {
        guard let map, text.text?.contains(where: \.isLetter) == true else { return false }
        return map.contains { $0.value == text }
    }
}
