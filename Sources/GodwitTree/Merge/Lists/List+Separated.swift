// The same new item on both sides, where a diff took it for an edit on one of them.
//
//   (1) If a side's edit makes an item equal to a new item of the other side, both put in one thing:
//       the edit becomes a removal and a new item, which `TwinSearch` then finds.
//   (2) This holds for strings, ints and named records.
//   (3) It holds for other records, and for rows that have a text, where no item of the list occurs
//       twice: equal records and rows are many things elsewhere, and equal points everywhere.

extension Value.List {
    /// Two changes, with removals and new items for edits that end in what the other side put in.
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
        return recipe.replacingEdits { position, delta in
            guard !delta.hasIncrement else { return .edited(position, delta) }
            let item = self[position].changed(by: delta)
            let isOne =
                news.contains(ItemContent(item))
                && (item.isNamed || item.isRecordOrTextRow && isDistinct)
            return isOne ? .new(item) : .edited(position, delta)
        }
    }
}

extension Value {
    fileprivate var isNamed: Bool {
        switch self {
        case .string, .int: true
        case .map(let map):
            map.contains(where: \.isUsualName)
        case .null, .bool, .double, .bytes, .list: false
        }
    }

    fileprivate var isRecordOrTextRow: Bool {
        map != nil || list?.contains { $0.text != nil } == true
    }
}
