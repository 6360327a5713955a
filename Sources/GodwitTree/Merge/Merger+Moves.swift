// A value that one side removed in one place and put in elsewhere was moved. If the other side
// edited it where it was, the edit goes along.
//
//   (1) It is found again by its content, also within what the side put in; or by its `id`, when
//       the side edited it as well.
//   (2) It must be there just once, and be more than a short scalar: those stand in many places
//       by chance.

extension Merger {
    private static let stringMinInBytes = 16
    /// Equal numbers in lists of different things mean nothing.
    private static let scoreMin = 0.5

    /// The merge of two changes of one base, with edits where the values went that they are for.
    static func tree(_ base: Value, _ deltas: Sides<Delta>, _ place: MergePlace) -> MergeTree {
        var merger = Merger()
        let node = merger.merge(base, deltas, place)
        let isMoved = merger.removals.contains { choice in
            choice.versions.base.map(isDistinctive) == true
        }
        guard isMoved else { return MergeTree(root: node, hasMoves: false) }
        var thorough = Merger()
        thorough.isThorough = true
        let walked = thorough.merge(base, deltas, place)
        thorough.followMoves()
        let hasMoves = thorough.insertions.contains { $0.origin != nil }
        return MergeTree(root: walked, hasMoves: hasMoves)
    }

    /// The merge of two changes of one base, container by container.
    static func treeWithoutMoves(
        _ base: Value,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeTree {
        var merger = Merger()
        return MergeTree(root: merger.merge(base, deltas, place), hasMoves: false)
    }

    /// Finds what was moved from one container to another, and takes the other side's edits there.
    private mutating func followMoves() {
        for side in Side.allCases {
            let gone = removals.filter { choice in
                choice.picked == nil && choice.editor == side.other
                    && choice.versions.base.map(Self.isDistinctive) == true
            }
            guard !gone.isEmpty else { continue }
            let new = insertions.filter { $0.side == side && $0.origin == nil }
            followContents(gone, new)
            followNames(gone.filter { $0.picked == nil }, new.filter { $0.origin == nil })
        }
    }

    private static func isDistinctive(_ value: Value) -> Bool {
        if case .string(let text) = value { return text.sizeInBytes >= stringMinInBytes }
        return value.isFilled
    }

    // MARK: By content

    private struct Found {
        let insertion: Insertion
        let path: [Path.Step]
    }

    private func followContents(_ gone: [MergeChoice], _ new: [Insertion]) {
        let contents = gone.map { $0.versions.base.map { ItemContent($0) } }
        let wanted = ListMatching.uniquePositions(of: contents)
        var found: [ItemContent: [Found]] = [:]
        for insertion in new {
            Self.walk(insertion.value, []) { value, path in
                guard Self.isDistinctive(value) else { return false }
                let content = ItemContent(value)
                guard wanted[content] != nil else { return false }
                found[content, default: []].append(Found(insertion: insertion, path: path))
                return true
            }
        }
        for (content, index) in wanted.sorted(by: { $0.value < $1.value }) {
            guard let places = found[content], places.count == 1, let place = places.first,
                let edit = gone[index].edit
            else { continue }
            place.insertion.take(edit, at: place.path)
            gone[index].picked = place.insertion.side
        }
    }

    /// Calls `body` for a value and all in it; no deeper where it answers true.
    private static func walk(
        _ value: Value,
        _ path: [Path.Step],
        _ body: (Value, [Path.Step]) -> Bool
    ) {
        if body(value, path) { return }
        switch value {
        case .map(let map):
            for entry in map { walk(entry.value, path + [.key(entry.key)], body) }
        case .list(let items):
            for (position, item) in items.enumerated() {
                walk(item, path + [.position(position)], body)
            }
        default: break
        }
    }

    // MARK: By name

    private mutating func followNames(_ gone: [MergeChoice], _ new: [Insertion]) {
        let names = ListMatching.uniquePositions(of: gone.map { $0.versions.base?.usualName })
        let places = ListMatching.uniquePositions(of: new.map(\.value.usualName))
        for (name, index) in names.sorted(by: { $0.value < $1.value }) {
            guard let place = places[name], let base = gone[index].versions.base,
                let edit = gone[index].edit,
                Resemblance(base).score(with: Resemblance(new[place].value)) >= Self.scoreMin
            else { continue }
            new[place].origin = (base, moved(new[place], base, edit, gone[index].place))
            gone[index].picked = new[place].side
        }
    }
}

extension Insertion {
    /// Takes over an edit that the other side made to a part of this value.
    fileprivate func take(_ edit: Delta, at path: [Path.Step]) {
        var edit = path.reversed().reduce(edit) { $0.nested(at: $1) }
        if case .one(_, .apply(let known))? = origin?.node,
            let both = try? known.composed(with: edit)
        {
            edit = both
        }
        origin = (value, .one(side.other, .apply(edit)))
    }
}

extension Delta {
    /// This change, made one step further down.
    fileprivate func nested(at step: Path.Step) -> Delta {
        switch step {
        case .key(let key): return .map([key: .apply(self)])
        case .position(let position):
            var recipe = ListRecipe()
            recipe.append(.kept(0..<position))
            recipe.append(.edited(position, self))
            recipe.finish(tail: position + 1)
            return .list(recipe)
        }
    }
}

extension Value {
    /// What a record is called by the strictest of the usual names.
    fileprivate var usualName: Value? {
        for key: Key in ["id", "_id", "uuid", "guid"] {
            if let name = self[key], name.isScalar, name != .null {
                return .list([.string(key), name])
            }
        }
        return nil
    }
}
