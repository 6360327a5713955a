/// Two values that grew from one, brought together.
///
/// ```swift
/// let merge = Merge(
///     base: ["list": ["Bread"]],
///     ours: ["list": ["Bread", "Wine"]],
///     theirs: ["list": ["Milk", "Bread"]])
/// merge.value      // {:list ["Milk" "Bread" "Wine"]}
/// merge.conflicts  // []
/// ```
///
/// The merge is total and deterministic: it always has a value, and the same one everywhere.
/// Changes in different places both stay. In one place:
///
/// - an edit beats a removal, and a removal beats a move;
/// - `theirs` is the later change, and its scalars win;
/// - containers that both sides created are merged;
/// - in lists, what each side inserted stays together, ours first; items with the same declared
///   identity (`id`, `_id`, `uuid`) are one item; of two moves of one item, ours counts.
public struct Merge: Hashable, Sendable {
    /// The merged value.
    public let value: Value
    /// The change from the base to the merged value.
    public let delta: Delta
    /// What could not be granted to both sides.
    public let conflicts: [Conflict]

    /// Merges two versions of `base`.
    ///
    /// - Complexity: O(*n* log *n*) in the sizes of the lists that differ, O(*n*) for the rest.
    public init(base: Value, ours: Value, theirs: Value) {
        let (ours, theirs) = (Delta.diff(base, ours), Delta.diff(base, theirs))
        guard let merge = try? Merge(base: base, ours: ours, theirs: theirs) else {
            preconditionFailure("The difference from a base applies to that base")
        }
        self = merge
    }

    /// Merges two changes of `base`.
    ///
    /// - Throws: What ``Delta/applied(to:)`` throws, when a change was not made for this base.
    public init(base: Value, ours: Delta, theirs: Delta) throws(TreeError) {
        _ = try ours.applied(to: base)
        _ = try theirs.applied(to: base)
        var merger = Merger()
        delta = merger.merge(base, ours, theirs, at: Path())
        value = try delta.applied(to: base)
        conflicts = merger.conflicts
    }
}

/// The merge under way, with the conflicts met so far.
struct Merger {
    private(set) var conflicts: [Conflict] = []

    /// - Precondition: Both deltas apply to `base`, or set it where there is none.
    mutating func merge(_ base: Value?, _ ours: Delta, _ theirs: Delta, at path: Path) -> Delta {
        switch (ours, theirs) {
        case (.keep, _): return theirs
        case (_, .keep): return ours
        case _ where ours == theirs: return ours
        case (.map(let ours), .map(let theirs)):
            return .map(merge(base?.map ?? [:], ours, theirs, at: path))
        case (.list(let ours), .list(let theirs)):
            return .list(merge(Array(base?.list ?? []), ours, theirs, at: path))
        case (.set(let ours), .set(let theirs)):
            return .set(mergeCreated(base, ours, theirs, at: path))
        default:
            let side: Conflict.Side = if case .set = theirs { .theirs } else { .ours }
            let values = (base?.changed(by: ours), base?.changed(by: theirs))
            report(.replacedAndEdited, base, values, chosen: side, at: path)
            return side == .theirs ? theirs : ours
        }
    }

    /// Two new values in one place: containers are merged as if both had begun empty.
    private mutating func mergeCreated(
        _ base: Value?,
        _ ours: Value,
        _ theirs: Value,
        at path: Path
    ) -> Value {
        let empty: Value
        switch (ours, theirs) {
        case (.map, .map): empty = .map([:])
        case (.list, .list): empty = .list([])
        default:
            report(.bothSet, base, (ours, theirs), chosen: .theirs, at: path)
            return theirs
        }
        let (ours, theirs) = (Delta.diff(empty, ours), Delta.diff(empty, theirs))
        return empty.changed(by: merge(empty, ours, theirs, at: path))
    }

    private mutating func merge(
        _ base: Value.Map,
        _ ours: MapDelta,
        _ theirs: MapDelta,
        at path: Path
    ) -> [Key: MapDelta.Change] {
        var result = ours.changes
        for entry in theirs.canonical {
            let (key, change) = (entry.key, entry.change)
            let (path, old) = (path.appending(.key(key)), base[key])
            switch (ours.changes[key], change) {
            case (nil, _), (.remove, .remove):
                result[key] = change
            case (.remove, .apply(let edit)):
                result[key] = change
                let edited = old?.changed(by: edit)
                report(.removedAndEdited, old, (nil, edited), chosen: .theirs, at: path)
            case (.apply(let edit), .remove):
                let edited = old?.changed(by: edit)
                report(.removedAndEdited, old, (edited, nil), chosen: .ours, at: path)
            case (.apply(let our), .apply(let their)):
                result[key] = .apply(merge(old, our, their, at: path))
            }
        }
        return result
    }

    private mutating func merge(
        _ base: [Value],
        _ ours: ListDelta,
        _ theirs: ListDelta,
        at path: Path
    ) -> ListRecipe {
        let plan = ListMerge(ours: ours.recipe, theirs: theirs.recipe)
        var result = ListRecipe()
        for item in plan.order {
            switch item {
            case .base(let position):
                let step = path.appending(.position(position))
                let our = plan.ours.edit(of: position)
                let their = plan.theirs.edit(of: position)
                reportFate(of: position, base[position], in: plan, at: step)
                result.append(.edited(position, merge(base[position], our, their, at: step)))
            case .new(let value):
                result.append(.new(value))
            case .twin(let ours, let theirs):
                result.append(.new(mergeCreated(nil, ours, theirs, at: path)))
            }
        }
        result.finish(tail: plan.count)
        return result
    }

    /// Reports an item that one side removed and the other did not want to lose, or that both
    /// moved.
    private mutating func reportFate(
        of position: Int,
        _ base: Value,
        in plan: ListMerge,
        at path: Path
    ) {
        let our = plan.ours.wish(for: position, base)
        let their = plan.theirs.wish(for: position, base)
        if our == nil || their == nil {
            let side: Conflict.Side = our == nil ? .theirs : .ours
            report(.removedAndEdited, base, (our, their), chosen: side, at: path)
        } else if plan.areMovedApart(position) {
            report(.bothMoved, base, (our, their), chosen: .ours, at: path)
        }
    }

    private mutating func report(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ sides: (ours: Value?, theirs: Value?),
        chosen: Conflict.Side,
        at path: Path
    ) {
        conflicts.append(
            Conflict(
                path: path,
                reason: reason,
                base: base,
                ours: sides.ours,
                theirs: sides.theirs,
                chosen: chosen
            )
        )
    }
}

extension Value {
    /// The value after a delta that is known to apply.
    fileprivate func changed(by delta: Delta) -> Value {
        guard let value = try? delta.applied(to: self) else {
            preconditionFailure("A merge takes deltas that apply to its base")
        }
        return value
    }
}
