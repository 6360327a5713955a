extension Recording {
    /// The change that leads from `base` to a value, which is looked for where it is needed.
    func delta(from base: Value, to value: () -> Value?) -> Delta {
        switch self {
        case .none: .keep
        case .scalar(let scalar): base == scalar ? .keep : .set(scalar)
        case .set: Self.delta(ofSet: value(), from: base)
        case .field(let key, let field):
            Self.delta(of: Self.entry(key, field) { value()?[key] })
        case .fields(let fields): .map(Self.entries(of: fields, in: value()?.map ?? [:]))
        case .item(let position, _, let field):
            .list(Self.recipe(ofItem: position, field) { value()?.list?[position] })
        case .items(let pieces):
            .list(Self.recipe(of: pieces, from: base.list ?? [], to: value()?.list ?? []))
        case .text(let pieces): pieces.delta
        case .increment(let number): .adding(number)
        }
    }

    private static func delta(ofSet value: Value?, from base: Value) -> Delta {
        guard let value, value != base else { return .keep }
        return .set(value)
    }
}

// MARK: - Maps

extension Recording {
    private static func entries(of fields: [Key: Field], in map: Value.Map) -> [MapDelta.Entry] {
        fields.sorted { $0.key < $1.key }.compactMap { key, field in
            entry(key, field) { map[key] }
        }
    }

    /// The delta of one change.
    private static func delta(of entry: MapDelta.Entry?) -> Delta {
        guard let entry else { return .keep }
        if case .apply(let delta) = entry.change, delta.isKeep { return .keep }
        return .map(MapDelta(ascending: [entry]))
    }

    private static func entry(
        _ key: Key,
        _ field: Field,
        _ value: () -> Value?
    ) -> MapDelta.Entry? {
        guard field.story.isSet || field.base == nil else {
            let delta = field.base.map { field.story.delta(from: $0, to: value) } ?? .keep
            return MapDelta.Entry(key: key, change: .apply(delta))
        }
        switch (field.base, field.story.scalar ?? value()) {
        case (nil, nil): return nil
        case (_?, nil): return MapDelta.Entry(key: key, change: .remove)
        case (let base, let value?):
            let delta = base == value ? Delta.keep : .set(value)
            return MapDelta.Entry(key: key, change: .apply(delta))
        }
    }

    private var scalar: Value? {
        if case .scalar(let scalar) = self { scalar } else { nil }
    }
}

// MARK: - Lists

extension Recording {
    private static func recipe(
        ofItem position: Int,
        _ field: Field,
        _ value: () -> Value?
    ) -> ListRecipe {
        guard let base = field.base else { return ListRecipe() }
        return ListRecipe(editing: position, field.story.delta(from: base, to: value))
    }

    private static func recipe(
        of pieces: PieceList<ItemPiece>,
        from base: Value.List,
        to list: Value.List
    ) -> ListRecipe {
        var recipe = ListRecipe()
        // Where all items are equal, nothing but their place tells them apart.
        if list.count == base.count {
            let first = base.first
            if first == base.last, list == base, base.allSatisfy({ $0 == first }) { return recipe }
        }
        var position = 0
        let returned = pieces.returned(from: base, to: list)
        recipe.reserveCapacity(returned.count)
        for piece in returned {
            switch piece {
            case .kept(let range):
                recipe.append(.kept(range))
            case .edited(let place, let field):
                let delta = field.base.map { base in
                    field.story.delta(from: base) { list[position] }
                }
                recipe.append(.edited(place, delta ?? .keep))
            case .new(let count):
                for item in list[position..<(position + count)] { recipe.append(.new(item)) }
            }
            position += piece.count
        }
        recipe.finish(tail: pieces.baseCount)
        return recipe
    }
}

extension PieceList<ItemPiece> {
    /// The pieces; new items are kept ones where they are the very items that were taken out there.
    fileprivate func returned(from base: Value.List, to list: Value.List) -> [ItemPiece] {
        let pieces = self.pieces
        let newCount = pieces.reduce(0) { $1.base == nil ? $0 + $1.count : $0 }
        // Only what comes where something was removed can be what was there.
        guard newCount > 0, count - newCount < baseCount else { return pieces }
        let starts = pieces.compactMap { $0.base?.lowerBound }.sorted() + [baseCount]
        var result: [ItemPiece] = []
        var (position, next) = (0, 0)
        for piece in pieces {
            if case .new(let count) = piece {
                let end = starts[starts.partitioningIndex { $0 >= next }]
                let same = (0..<Swift.min(count, end - next)).prefix {
                    base[next + $0] == list[position + $0]
                }
                result.append(.kept(next..<(next + same.count)))
                result.append(.new(count - same.count))
                next = same.count < count ? end : next + count
            } else {
                result.append(piece)
            }
            position += piece.count
            next = piece.base?.upperBound ?? next
        }
        return result.filter { $0.count > 0 }
    }
}

extension ItemPiece {
    fileprivate var base: Range<Int>? {
        switch self {
        case .kept(let range): range
        case .edited(let place, _): place..<(place + 1)
        case .new: nil
        }
    }
}
