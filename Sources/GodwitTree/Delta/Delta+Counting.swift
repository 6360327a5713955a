extension Delta {
    /// This change with the additions of another one: where `other` adds to an int that this change
    /// sets, it adds to it as well.
    ///
    /// Both changes lead from one value to the same one. So does the result, unless the two take
    /// different items of a list for the same; the caller checks that.
    package func counting(as other: Delta) -> Delta {
        switch (self, other) {
        case (.set(.int), .increment): return other
        case (.map(let own), .map(let other)):
            let entries = own.entries.map { entry -> MapDelta.Entry in
                guard case .apply(let change) = entry.change,
                    case .apply(let addition)? = other[entry.key]
                else { return entry }
                return MapDelta.Entry(
                    key: entry.key,
                    change: .apply(change.counting(as: addition))
                )
            }
            return .map(MapDelta(ascending: entries))
        case (.list(let own), .list(let other)):
            return .list(ListDelta(own.recipe.counting(as: other.recipe)))
        default: return self
        }
    }
}

extension ListRecipe {
    fileprivate func counting(as other: ListRecipe) -> ListRecipe {
        let edits = other.edits
        return replacingEdits { position, change in
            .edited(position, edits[position].map(change.counting) ?? change)
        }
    }
}
