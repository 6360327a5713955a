// The same new item on both sides, where a diff took it for an edit on one of them.
//
//   (1) If a side's edit makes an item equal to a new item of the other side, both put in one thing:
//       the edit becomes a removal and a new item, which `TwinSearch` then finds.
//   (2) This holds for strings and named records, and for ints side by side: others are of a series.
//   (3) It holds for other records, and for rows that have a text, where no item of the list occurs
//       twice: equal records and rows are many things elsewhere, and equal points everywhere.

extension Value.List {
    /// Two changes, with removals and new items for edits that end in what the other side put in.
    func separated(_ deltas: Sides<ListDelta>) -> Sides<ListRecipe> {
        let recipes = deltas.map(\.recipe)
        let news = recipes.map(\.newItems)
        return Sides(
            ours: separated(recipes.ours, from: news.theirs),
            theirs: separated(recipes.theirs, from: news.ours)
        )
    }

    private static let distinctMax = 1 << 16

    /// - Parameter news: The new items of the other side.
    private func separated(
        _ recipe: ListRecipe,
        from news: [ItemContent: Set<Int>]
    ) -> ListRecipe {
        guard !news.isEmpty else { return recipe }
        lazy var isDistinct =
            count <= Self.distinctMax && Set(map(ItemContent.init)).count == count
        return recipe.replacingEdits { position, delta in
            guard !delta.hasIncrement else { return .edited(position, delta) }
            let item = self[position].changed(by: delta)
            guard let gaps = news[ItemContent(item)] else { return .edited(position, delta) }
            let isBeside = gaps.contains(position) || gaps.contains(position + 1)
            let isOne =
                item.isNamed || item.integer != nil && isBeside
                || item.isRecordOrTextRow && isDistinct
            return isOne ? .new(item) : .edited(position, delta)
        }
    }
}

extension ListRecipe {
    /// The new items, and the positions of the base before which they stand.
    fileprivate var newItems: [ItemContent: Set<Int>] {
        var (items, position): ([ItemContent: Set<Int>], Int) = ([:], 0)
        for run in runs {
            if case .new(let item) = run {
                items[ItemContent(item), default: []].insert(position)
            } else if let base = run.base {
                position = base.upperBound
            }
        }
        return items
    }
}

extension Value {
    fileprivate var isNamed: Bool {
        switch self {
        case .string: true
        case .map(let map):
            map.contains(where: \.isUsualName)
        case .null, .bool, .int, .double, .bytes, .list: false
        }
    }

    fileprivate var isRecordOrTextRow: Bool {
        map != nil || list?.contains { $0.text != nil } == true
    }
}
