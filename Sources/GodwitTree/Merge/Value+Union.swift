extension Value {
    /// Everything that either value has: nothing is taken for removed.
    ///
    /// This is for two sides that have lost their common base, where a merge would take values that
    /// one side never saw for values that it removed. Items are one by their identity, or if they are
    /// equal. Where two fields differ, this value's stays.
    public func united(with other: Value) -> Value {
        var policy = MergePolicy()
        policy.set(.union, at: "/")
        // Total, for values that are too deep to be stored, too.
        return other.changed(by: Delta.diff(other, self, policy.root).withoutRemovals)
    }
}

extension Delta {
    fileprivate var withoutRemovals: Delta {
        switch self {
        case .keep, .set, .text, .increment: return self
        case .map(let delta):
            let kept = delta.entries.compactMap { entry -> MapDelta.Entry? in
                guard case .apply(let inner) = entry.change else { return nil }
                return MapDelta.Entry(key: entry.key, change: .apply(inner.withoutRemovals))
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
        let removed = Dictionary(uniqueKeysWithValues: removes.map { ($0.lowerBound, $0) })
        var result = ListRecipe()
        if let range = removed[0] { result.append(.kept(range)) }
        for run in runs {
            switch run {
            case .edited(let position, let delta):
                result.append(.edited(position, delta.withoutRemovals))
            case .kept, .new: result.append(run)
            }
            if let end = run.base?.upperBound, let range = removed[end] {
                result.append(.kept(range))
            }
        }
        result.finish(tail: tail)
        return result
    }
}
