extension Delta {
    /// Where a part of the base is after this change; nil when its item or container is gone.
    ///
    /// ```swift
    /// let base: Value = ["items": ["bread", "wine"]]
    /// let delta = Delta.diff(base, ["items": ["milk", "bread", "wine"]])
    /// delta.destination(of: ValuePath([.key("items"), .position(1)]))   // /items/2
    /// ```
    ///
    /// A field that is removed keeps its path, where nothing is then. Inside of a value that is
    /// replaced as a whole, the path stays as it is.
    ///
    /// - Complexity: O(*k*) in the size of the delta.
    public func destination(of path: ValuePath) -> ValuePath? {
        var result = ValuePath()
        var delta = self
        for (index, step) in path.steps.enumerated() {
            switch (delta, step) {
            case (.map(let map), .key(let key)):
                result.steps.append(step)
                switch map[key] {
                case .remove: return index == path.steps.count - 1 ? result : nil
                case .apply(let change): delta = change
                case nil: delta = .keep
                }
            case (.list(let list), .position(let position)):
                guard let (target, change) = list.recipe.destination(of: position) else {
                    return nil
                }
                result.steps.append(.position(target))
                delta = change
            default:
                result.steps.append(contentsOf: path.steps[index...])
                return result
            }
        }
        return result
    }
}

extension ListRecipe {
    /// Where an item of the base is in the result, and its change.
    fileprivate func destination(of item: Int) -> (position: Int, change: Delta)? {
        var position = 0
        for run in runs {
            switch run {
            case .kept(let range) where range.contains(item):
                return (position + item - range.lowerBound, .keep)
            case .edited(item, let change): return (position, change)
            case .kept, .edited, .new: position += run.count
            }
        }
        return item >= tail ? (position + item - tail, .keep) : nil
    }
}
