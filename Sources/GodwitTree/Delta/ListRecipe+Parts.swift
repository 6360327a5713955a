extension ListRecipe {
    /// - Complexity: O(*k*) in the number of runs; O(*k* log *k*) where items move.
    var parts: ListDelta.Parts {
        guard let gone = goneInOrder else { return partsWithMoves }
        var parts = ListDelta.Parts()
        parts.removes = gone
        var position = 0
        for run in runs { parts.append(run, at: &position) }
        return parts
    }

    private var partsWithMoves: ListDelta.Parts {
        let isStationary = stationaryRuns
        var parts = ListDelta.Parts()
        var moves: [ListDelta.Move] = []
        var position = 0
        for (index, run) in runs.enumerated() {
            if let base = run.base, !isStationary[index] {
                moves.append(
                    ListDelta.Move(source: base.lowerBound, target: position, count: base.count)
                )
            }
            parts.append(run, at: &position)
        }
        moves.sort { $0.source < $1.source }
        for move in moves { parts.append(move) }
        parts.removes = removes
        parts.edits.sort { $0.position < $1.position }
        return parts
    }

    /// The base positions before the tail that occur in no run; nil when an item moves.
    private var goneInOrder: [Range<Int>]? {
        var gone: [Range<Int>] = []
        var next = 0
        for run in runs {
            guard let base = run.base else { continue }
            guard base.lowerBound >= next else { return nil }
            if next < base.lowerBound { gone.append(next..<base.lowerBound) }
            next = base.upperBound
        }
        if next < tail { gone.append(next..<tail) }
        return gone
    }

    /// The base positions before the tail that occur in no run.
    var removes: [Range<Int>] {
        if let gone = goneInOrder { return gone }
        var removes: [Range<Int>] = []
        var next = 0
        var bases = runs.compactMap(\.base)
        bases.sort { $0.lowerBound < $1.lowerBound }
        for base in bases {
            if next < base.lowerBound { removes.append(next..<base.lowerBound) }
            next = base.upperBound
        }
        if next < tail { removes.append(next..<tail) }
        return removes
    }

    /// Whether each run stays in place: see invariant (4).
    private var stationaryRuns: [Bool] {
        var indices: [Int] = []
        var sequence: [WeightedElement] = []
        indices.reserveCapacity(runs.count)
        sequence.reserveCapacity(runs.count)
        for (index, run) in runs.enumerated() {
            guard let base = run.base else { continue }
            indices.append(index)
            sequence.append(WeightedElement(value: base.lowerBound, weight: base.count))
        }
        var isStationary = [Bool](repeating: false, count: runs.count)
        for element in heaviestIncreasingSubsequence(of: sequence) {
            isStationary[indices[element]] = true
        }
        return isStationary
    }
}

extension ListDelta.Parts {
    /// Adds what happens in a run that begins at a position of the result.
    fileprivate mutating func append(_ run: ListRecipe.Run, at position: inout Int) {
        switch run {
        case .kept: break
        case .edited(let base, let delta):
            edits.append(ListDelta.Edit(position: base, delta: delta))
        case .new(let value):
            inserts.append(ListDelta.Insert(position: position, value: value))
        }
        position += run.count
    }

    /// Adds a move behind all others, and to the last where they are one run.
    fileprivate mutating func append(_ move: ListDelta.Move) {
        guard let last = moves.last, last.sources.upperBound == move.source,
            last.targets.upperBound == move.target
        else { return moves.append(move) }
        moves[moves.count - 1] = ListDelta.Move(
            source: last.source,
            target: last.target,
            count: last.count + move.count
        )
    }
}
