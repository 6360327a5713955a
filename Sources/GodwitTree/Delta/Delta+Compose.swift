extension Delta {
    /// The one delta that does the work of this one and then of `next`.
    ///
    /// ```swift
    /// try first.composed(with: second).applied(to: base)
    ///     == second.applied(to: first.applied(to: base))
    /// ```
    ///
    /// Composition is associative, and `keep` is its unit.
    ///
    /// - Complexity: O(*k* log *k*) in the sizes of the two deltas.
    /// - Throws: ``TreeError/wrongBase(path:reason:)`` when `next` cannot follow this delta;
    ///   ``TreeError/invalidDelta(reason:)`` or ``TreeError/tooDeep(limit:)`` when both together
    ///   reach beyond the positions, or nest deeper, than a delta can say.
    public func composed(with next: Delta) throws(TreeError) -> Delta {
        try composed(with: next, at: ValuePath())
    }

    fileprivate func composed(with next: Delta, at path: ValuePath) throws(TreeError) -> Delta {
        switch (self, next) {
        case (_, .keep): return self
        case (.keep, _), (_, .set): return next
        case (.set(let value), _):
            do throws(TreeError) {
                return .set(try next.applied(to: value, at: .checked(path.steps.count)))
            } catch {
                throw error.within(path)
            }
        case (.map(let first), .map(let second)):
            return .map(try first.composed(with: second, at: path))
        case (.list(let first), .list(let second)):
            return .list(try first.recipe.composed(with: second.recipe, at: path))
        case (.text(let first), .text(let second)):
            do throws(TreeError) {
                let both = try first.composed(with: second)
                try both.checkRange()
                return both
            } catch {
                throw error.within(path)
            }
        case (.increment(let first), .increment(let second)):
            return .adding(first &+ second)
        default:
            throw .wrongBase(path: path, reason: "the deltas are for different kinds of values")
        }
    }
}

extension MapDelta {
    fileprivate func composed(with next: MapDelta, at path: ValuePath) throws(TreeError) -> [Entry]
    {
        var result: [Entry] = []
        result.reserveCapacity(entries.count + next.entries.count)
        try Self.walk(self, next) { (key, first, second) throws(TreeError) in
            let change: Change
            switch (first, second) {
            case (let only?, nil), (nil, let only?): change = only
            case (_, .remove?), (_, .apply(.set)?): change = second ?? .remove
            case (.remove?, .apply?):
                let path = path.appending(.key(key))
                throw TreeError.wrongBase(path: path, reason: "there is nothing to change")
            case (.apply(let first)?, .apply(let second)?):
                let path = path.appending(.key(key))
                change = .apply(try first.composed(with: second, at: path))
            case (nil, nil): return
            }
            result.append(Entry(key: key, change: change))
        }
        return result
    }
}

extension ListRecipe {
    fileprivate func composed(
        with next: ListRecipe,
        at path: ValuePath
    ) throws(TreeError) -> ListRecipe {
        let source = IndexedRecipe(self)
        var result = ListRecipe()
        for run in next.runs {
            switch run {
            case .new:
                result.append(run)
            case .kept(let range):
                for part in source.runs(in: range) { result.append(part) }
            case .edited(let position, let delta):
                let path = path.appending(.position(position))
                result.append(try source.run(at: position).composed(with: delta, at: path))
            }
        }
        if next.tail < source.count {
            for part in source.runs(in: next.tail..<source.count) { result.append(part) }
        }
        result.finish(tail: tail + max(0, next.tail - source.count))
        guard result.tail <= ListDelta.positionMax, result.count <= ListDelta.positionMax else {
            throw .invalidDelta(reason: "both together reach beyond the last position of a list")
        }
        return result
    }
}

extension Delta {
    /// Checks that a text's delta takes out no more than it can say.
    fileprivate func checkRange() throws(TreeError) {
        guard case .text(let delta) = self, let last = delta.splices.last else { return }
        guard last.end <= TextDelta.offsetMax else {
            throw .invalidDelta(reason: "both together reach beyond the last offset of a text")
        }
    }
}

extension ListRecipe.Run {
    /// This single item, with one more delta.
    fileprivate func composed(with delta: Delta, at path: ValuePath) throws(TreeError) -> Self {
        switch self {
        case .kept(let range): .edited(range.lowerBound, delta)
        case .edited(let base, let first):
            .edited(base, try first.composed(with: delta, at: path))
        case .new(let value): .new(try Delta.set(value).composed(with: delta, at: path).created)
        }
    }
}

extension Delta {
    /// The value of a delta that sets one.
    fileprivate var created: Value {
        guard case .set(let value) = self else {
            preconditionFailure("Nothing but another value comes of a value that is set")
        }
        return value
    }
}

extension TreeError {
    fileprivate func within(_ path: ValuePath) -> TreeError {
        path.steps.reversed().reduce(self) { $0.within($1) }
    }
}

/// A recipe whose runs can be found by the position of their items in the result.
private struct IndexedRecipe {
    private let recipe: ListRecipe
    private let starts: [Int]
    let count: Int

    init(_ recipe: ListRecipe) {
        self.recipe = recipe
        var starts: [Int] = []
        var position = 0
        for run in recipe.runs {
            starts.append(position)
            position += run.count
        }
        self.starts = starts
        count = position
    }

    func run(at position: Int) -> ListRecipe.Run {
        runs(in: position..<(position + 1))[0]
    }

    /// The runs of some result positions; those beyond the last run are in the tail.
    func runs(in range: Range<Int>) -> [ListRecipe.Run] {
        var result: [ListRecipe.Run] = []
        var position = range.lowerBound
        var index = indexOfRun(at: position)
        while position < min(range.upperBound, count) {
            let run = recipe.runs[index]
            let end = min(range.upperBound, starts[index] + run.count)
            if case .kept(let base) = run {
                let first = base.lowerBound + position - starts[index]
                result.append(.kept(first..<(first + end - position)))
            } else {
                result.append(run)
            }
            position = end
            index += 1
        }
        if position < range.upperBound {
            let offset = recipe.tail - count
            result.append(.kept((position + offset)..<(range.upperBound + offset)))
        }
        return result
    }

    /// The last run that begins at or before a position.
    private func indexOfRun(at position: Int) -> Int {
        max(0, starts.partitioningIndex { $0 > position } - 1)
    }
}
