/// A merge of a part of a new value, where the part was found again.
struct PartEdit {
    /// The way to the part, in the value before any of these changes.
    var path: ArraySlice<ValuePath.Step>
    let node: MergeNode
}

extension [PartEdit] {
    /// One change that the side of the new value has still to make for all of these, which are of
    /// different parts; nil for none.
    ///
    /// - Complexity: O(*n* log *n*), besides what it costs to write the merges.
    func joined(for side: Side) -> MapDelta.Change? {
        guard let first else { return nil }
        guard let step = first.path.first else { return first.node.written.after[side] }
        let parts = Dictionary(grouping: self) { $0.path.first }
        func change(at step: ValuePath.Step) -> MapDelta.Change? {
            parts[step]?.map { PartEdit(path: $0.path.dropFirst(), node: $0.node) }
                .joined(for: side)
        }
        if case .key = step {
            let entries = parts.keys.compactMap { step -> MapDelta.Entry? in
                guard case .key(let key)? = step else { return nil }
                return change(at: .key(key)).map { MapDelta.Entry(key: key, change: $0) }
            }
            return .apply(.map(entries.sorted { $0.key < $1.key }))
        }
        var (recipe, end) = (ListRecipe(), 0)
        for position in parts.keys.compactMap({ $0?.position }).sorted() {
            recipe.append(.kept(end..<position))
            switch change(at: .position(position)) {
            case .apply(let edit)?: recipe.append(.edited(position, edit))
            case .remove?: break
            case nil: recipe.append(.kept(position..<(position + 1)))
            }
            end = position + 1
        }
        recipe.finish(tail: end)
        return .apply(.list(recipe))
    }
}

extension ValuePath.Step {
    var position: Int? {
        if case .position(let position) = self { position } else { nil }
    }
}
