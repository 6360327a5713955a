extension Value {
    /// Everything that either value has: nothing is taken for removed.
    ///
    /// This is for two sides that have lost their common base, where a merge would take what one
    /// side never saw for what it removed. Items are aligned as in a difference; where two
    /// scalars differ, this value's stays.
    public func united(with other: Value) -> Value {
        let delta = Delta.diff(other, self).withoutRemovals
        guard let value = try? delta.applied(to: other) else {
            preconditionFailure("Leaving out removals keeps a delta applicable")
        }
        return value
    }
}

extension Delta {
    fileprivate var withoutRemovals: Delta {
        switch self {
        case .keep, .set: return self
        case .map(let delta):
            let kept = delta.changes.compactMapValues { change -> MapDelta.Change? in
                guard case .apply(let inner) = change else { return nil }
                return .apply(inner.withoutRemovals)
            }
            return .map(kept)
        case .list(let delta):
            return .list(delta.recipe.withoutRemovals)
        }
    }
}

extension ListRecipe {
    /// The removed items stand behind the item that they stood behind in the base.
    fileprivate var withoutRemovals: ListRecipe {
        var present = Set(runs.compactMap(\.base).flatMap { $0 })
        var result = ListRecipe()
        var next = 0
        func appendMissing(upTo end: Int) {
            while next < end, !present.contains(next) {
                result.append(.kept(next..<(next + 1)))
                present.insert(next)
                next += 1
            }
        }
        appendMissing(upTo: tail)
        for run in runs {
            switch run {
            case .kept(let range):
                for position in range {
                    result.append(.kept(position..<(position + 1)))
                    next = position + 1
                    appendMissing(upTo: tail)
                }
            case .edited(let position, let delta):
                result.append(.edited(position, delta.withoutRemovals))
                next = position + 1
                appendMissing(upTo: tail)
            case .new:
                result.append(run)
            }
        }
        result.finish(tail: tail)
        return result
    }
}
