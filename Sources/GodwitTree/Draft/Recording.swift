/// What a draft has done to one value so far.
///
/// It says what happened, not what is there: values are read from the draft when the delta is
/// asked for.
enum Recording {
    /// Nothing.
    case none
    /// It was set, or created; what happens inside it since is part of that.
    case set
    /// Something happened under these keys.
    case map([Key: Field])
    /// Something happened to these items.
    case list(RunSequence<ItemRun>)
    /// Something happened within the text.
    case text(TextRuns)
    /// So much was added.
    case increment(Int64)

    /// What happened under a key.
    struct Field {
        /// Whether the key had a value when the draft began.
        let wasThere: Bool
        var recording: Recording
    }

    var isNone: Bool {
        if case .none = self { true } else { false }
    }

    var isSet: Bool {
        if case .set = self { true } else { false }
    }
}

/// Items of a list that have one story.
enum ItemRun: EditRun {
    /// Items of the base, next to each other.
    case kept(Range<Int>)
    /// An item of the base that was edited.
    case edited(Int, Recording)
    /// So many items that the base does not have.
    case new(Int)

    var count: Int {
        switch self {
        case .kept(let range): range.count
        case .edited: 1
        case .new(let count): count
        }
    }

    func split(at count: Int) -> (ItemRun, ItemRun) {
        switch self {
        case .kept(let range):
            let middle = range.lowerBound + count
            return (.kept(range.lowerBound..<middle), .kept(middle..<range.upperBound))
        case .new(let all): return (.new(count), .new(all - count))
        case .edited: preconditionFailure("One item cannot be split")
        }
    }

    func joined(with next: ItemRun) -> ItemRun? {
        switch (self, next) {
        case (.kept(let range), .kept(let next)) where range.upperBound == next.lowerBound:
            .kept(range.lowerBound..<next.upperBound)
        case (.new(let count), .new(let next)): .new(count + next)
        default: nil
        }
    }
}

// MARK: - The delta

extension Recording {
    /// The change that leads to `value`.
    func delta(to value: Value?) -> Delta {
        guard let value else { return .keep }
        switch self {
        case .none: return .keep
        case .set: return .set(value)
        case .map(let fields): return .map(Self.entries(of: fields, in: value.map ?? [:]))
        case .list(let runs): return .list(Self.recipe(of: runs, in: value.list ?? []))
        case .text(let runs): return runs.delta
        case .increment(let number): return .adding(number)
        }
    }

    private static func entries(
        of fields: [Key: Field],
        in map: Value.Map
    ) -> [MapDelta.Entry] {
        fields.sorted { $0.key < $1.key }.compactMap { key, field in
            switch (field.wasThere, map[key]) {
            case (true, nil): MapDelta.Entry(key: key, change: .remove)
            case (false, nil): nil
            case (true, let value?):
                MapDelta.Entry(key: key, change: .apply(field.recording.delta(to: value)))
            case (false, let value?): MapDelta.Entry(key: key, change: .apply(.set(value)))
            }
        }
    }

    private static func recipe(
        of runs: RunSequence<ItemRun>,
        in list: Value.List
    ) -> ListRecipe {
        var recipe = ListRecipe()
        var position = 0
        for run in runs.runs {
            switch run {
            case .kept(let range):
                recipe.append(.kept(range))
            case .edited(let base, let recording):
                recipe.append(.edited(base, recording.delta(to: list[position])))
            case .new(let count):
                for item in list[position..<(position + count)] { recipe.append(.new(item)) }
            }
            position += run.count
        }
        recipe.finish(tail: runs.baseCount)
        return recipe
    }
}
