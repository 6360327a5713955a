extension Value.List {
    /// Two changes, in which an edit that makes an item equal to a new one of the other side is a
    /// removal and that new item: both sides put in one thing.
    ///
    /// This holds for strings, ints, named records, and records in a list that has none twice; equal
    /// rows and points are many things.
    func separated(_ deltas: Sides<ListDelta>) -> Sides<ListRecipe> {
        let recipes = deltas.map(\.recipe)
        let news = recipes.map { recipe in
            Set(
                recipe.runs.compactMap {
                    if case .new(let item) = $0 { ItemContent(item) } else { nil }
                }
            )
        }
        return Sides(
            ours: separated(recipes.ours, from: news.theirs),
            theirs: separated(recipes.theirs, from: news.ours)
        )
    }

    private static let distinctMax = 1 << 16

    private func separated(_ recipe: ListRecipe, from news: Set<ItemContent>) -> ListRecipe {
        guard !news.isEmpty else { return recipe }
        lazy var isDistinct =
            count <= Self.distinctMax && Set(map(ItemContent.init)).count == count
        var result = ListRecipe()
        for run in recipe.runs {
            guard case .edited(let position, let delta) = run, !delta.hasIncrement else {
                result.append(run)
                continue
            }
            let item = self[position].changed(by: delta)
            let isOne =
                news.contains(ItemContent(item)) && (item.isNamed || item.map != nil && isDistinct)
            result.append(isOne ? .new(item) : run)
        }
        result.finish(tail: recipe.tail)
        return result
    }
}

extension Value {
    fileprivate var isNamed: Bool {
        switch self {
        case .string, .int: true
        case .map(let map):
            map.contains { ItemIdentity.isUsual($0.key) && $0.value.isScalar && $0.value != .null }
        case .null, .bool, .double, .bytes, .list: false
        }
    }
}
