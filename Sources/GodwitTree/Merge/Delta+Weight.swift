extension Delta {
    /// Whether this puts items into a list, at whatever depth.
    var hasInsertions: Bool {
        switch self {
        case .keep, .set, .text, .increment: false
        case .map(let delta):
            delta.entries.contains { $0.change.delta?.hasInsertions == true }
        case .list(let delta):
            delta.recipe.runs.contains { run in
                switch run {
                case .kept: false
                case .edited(_, let delta): delta.hasInsertions
                case .new: true
                }
            }
        }
    }

    /// How many things a change changes.
    var weight: Int {
        switch self {
        case .keep: 0
        case .set, .text, .increment: 1
        case .map(let delta): delta.entries.reduce(0) { $0 + $1.change.weight }
        case .list(let delta): delta.recipe.weight
        }
    }
}

extension MapDelta.Change {
    var weight: Int { delta?.weight ?? 1 }
}

extension ListRecipe {
    fileprivate var weight: Int {
        var (edited, inserted) = (0, 0)
        for run in runs {
            switch run {
            case .kept: break
            case .edited(_, let delta): edited += delta.weight
            case .new: inserted += 1
            }
        }
        return edited + max(inserted, removes.reduce(0) { $0 + $1.count })
    }
}
