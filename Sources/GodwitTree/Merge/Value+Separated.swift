extension Value.List {
    /// Two changes, in which an edit that makes an item equal to a new one of the other side is a
    /// removal and that new item: both sides put in one thing.
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

    private func separated(_ recipe: ListRecipe, from news: Set<ItemContent>) -> ListRecipe {
        guard !news.isEmpty else { return recipe }
        var result = ListRecipe()
        for run in recipe.runs {
            guard case .edited(let position, let delta) = run, !delta.hasIncrement else {
                result.append(run)
                continue
            }
            let item = self[position].changed(by: delta)
            result.append(news.contains(ItemContent(item)) ? .new(item) : run)
        }
        result.finish(tail: recipe.tail)
        return result
    }
}
