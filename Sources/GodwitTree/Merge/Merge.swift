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
/// Changes in different places both stay. In one place, unless a ``MergePolicy`` says otherwise:
///
/// - an edit beats a removal, and a removal beats a move;
/// - `theirs` is the later change, and its scalars win, but of two versions or dates the greater
///   one; what is added to an int adds up;
/// - containers that both sides created are merged, and so are changes within one text;
/// - in lists, what each side inserted stays together, ours first; items with the same identity
///   (see ``Delta/diff(_:_:policy:)``) are one item; of two moves of one item, ours counts;
/// - a list that all three sides keep sorted stays sorted; in a list of different strings, a
///   string that both sides add is there once.
public struct Merge: Hashable, Sendable {
    /// The merged value.
    public let value: Value
    /// The change from the base to the merged value.
    public let delta: Delta
    /// What is still to do after ours: the change from our value to the merged one.
    public let afterOurs: Delta
    /// What is still to do after theirs: the change from their value to the merged one.
    public let afterTheirs: Delta
    /// What could not be granted to both sides.
    public let conflicts: [Conflict]

    /// Merges two versions of `base`.
    ///
    /// - Complexity: O(*n* log *n*) in the sizes of the lists that differ, O(*n*) for the rest.
    public init(base: Value, ours: Value, theirs: Value, policy: MergePolicy = .standard) {
        let ours = Delta.diff(base, ours, policy.root)
        let theirs = Delta.diff(base, theirs, policy.root)
        guard let merge = try? Merge(base: base, ours: ours, theirs: theirs, policy: policy) else {
            preconditionFailure("The difference from a base applies to that base")
        }
        self = merge
    }

    /// Merges two changes of `base`.
    ///
    /// - Complexity: O(*k* log *k*) in the sizes of the changes, but for lists into which both
    ///   sides insert: those are looked at as a whole.
    /// - Throws: What ``Delta/applied(to:)`` throws, when a change was not made for this base.
    public init(
        base: Value,
        ours: Delta,
        theirs: Delta,
        policy: MergePolicy = .standard
    ) throws(TreeError) {
        _ = try ours.applied(to: base)
        _ = try theirs.applied(to: base)
        var merger = Merger()
        let merged = merger.merge(base, ours, theirs, Place(rules: policy.root))
        value = try merged.delta.applied(to: base)
        (delta, afterOurs, afterTheirs) = (merged.delta, merged.afterOurs, merged.afterTheirs)
        conflicts = merger.conflicts
    }
}

extension Delta {
    /// This change, made again after another change of the same base: the residual of their merge.
    ///
    /// ```swift
    /// try theirs.transformed(past: ours, on: base).applied(to: ours.applied(to: base))
    ///     == Merge(base: base, ours: ours, theirs: theirs).value
    /// ```
    ///
    /// - Throws: What ``applied(to:)`` throws, when a change was not made for this base.
    public func transformed(
        past other: Delta,
        on base: Value,
        policy: MergePolicy = .standard
    ) throws(TreeError) -> Delta {
        try Merge(base: base, ours: other, theirs: self, policy: policy).afterOurs
    }
}

/// What becomes of one place: the change of it, and what each side has still to do.
struct Merged {
    var delta: Delta
    var afterOurs: Delta
    var afterTheirs: Delta

    /// Both sides' results as they are, and a merged value.
    init(_ delta: Delta, afterOurs: Delta, afterTheirs: Delta) {
        (self.delta, self.afterOurs, self.afterTheirs) = (delta, afterOurs, afterTheirs)
    }
}

/// Where a merge is, and what is to be done there.
struct Place {
    var path = Path()
    var rules: MergePolicy.Node?

    func child(_ step: Path.Step) -> Place {
        Place(path: path.appending(step), rules: rules?.child(step))
    }
}

/// The merge under way, with the conflicts met so far.
struct Merger {
    var conflicts: [Conflict] = []

    /// - Precondition: Both deltas apply to `base`, or set it where there is none.
    mutating func merge(_ base: Value?, _ ours: Delta, _ theirs: Delta, _ place: Place) -> Merged {
        switch (ours, theirs) {
        case (.keep, _): return Merged(theirs, afterOurs: theirs, afterTheirs: .keep)
        case (_, .keep): return Merged(ours, afterOurs: .keep, afterTheirs: ours)
        case (.map(let our), .map(let their)):
            return merge(base?.map ?? [:], our, their, place)
        case (.increment(let our), .increment(let their)):
            return add(base, our, their, place)
        case (.set(.int), .set(.int)) where place.rules?.isSum == true: break
        case (.list, .list) where ours.hasIncrement: break
        case _ where ours == theirs: return Merged(ours, afterOurs: .keep, afterTheirs: .keep)
        default: break
        }
        switch (ours, theirs) {
        case (.list(let our), .list(let their)):
            return merge(base?.list ?? [], our, their, place)
        case (.text(let our), .text(let their)):
            return merge(base, our, their, place)
        case (.set(let our), .set(let their)):
            if let merged = mergeInside(base, ours, theirs, place) { return merged }
            return mergeCreated(base, our, their, place)
        default:
            if let merged = mergeInside(base, ours, theirs, place) { return merged }
            let (our, their) = (base?.changed(by: ours), base?.changed(by: theirs))
            var isTheirs = false
            if case .set = theirs { isTheirs = true }
            return settle(.replacedAndEdited, base, our, their, isTheirs ? .theirs : .ours, place)
        }
    }

    /// What both sides added, unless a rule wants something else.
    private mutating func add(
        _ base: Value?,
        _ ours: Int64,
        _ theirs: Int64,
        _ place: Place
    ) -> Merged {
        let (our, their) = (base?.changed(by: .adding(ours)), base?.changed(by: .adding(theirs)))
        if place.rules?.isSum == false, let decided = decide(.bothSet, base, our, their, place) {
            return Self.settled(decided, base, our, their)
        }
        let sum = Delta.adding(ours &+ theirs)
        return Merged(sum, afterOurs: .adding(theirs), afterTheirs: .adding(ours))
    }

    /// A container or a text that was replaced by one of its kind is merged as if it was edited.
    private mutating func mergeInside(
        _ base: Value?,
        _ ours: Delta,
        _ theirs: Delta,
        _ place: Place
    ) -> Merged? {
        guard let base else { return nil }
        let (our, their) = (ours.inside(base, place.rules), theirs.inside(base, place.rules))
        guard let our, let their, our != ours || their != theirs else { return nil }
        return merge(base, our, their, place)
    }

    /// Two new values in one place: containers are merged as if both had begun empty.
    mutating func mergeCreated(
        _ base: Value?,
        _ ours: Value,
        _ theirs: Value,
        _ place: Place
    ) -> Merged {
        let empty: Value
        switch (ours, theirs) {
        case (.map, .map): empty = [:]
        case (.list, .list): empty = []
        default: return settle(.bothSet, base, ours, theirs, later(ours, theirs), place)
        }
        var merged = merge(
            empty,
            .diff(empty, ours, place.rules),
            .diff(empty, theirs, place.rules),
            place
        )
        merged.delta = .set(empty.changed(by: merged.delta))
        return merged
    }

    private mutating func merge(
        _ base: Value?,
        _ ours: TextDelta,
        _ theirs: TextDelta,
        _ place: Place
    ) -> Merged {
        let merge = TextMerge(ours, theirs)
        if merge.isContested {
            let (our, their) = (base?.changed(by: .text(ours)), base?.changed(by: .text(theirs)))
            if let decided = decide(.bothRewrote, base, our, their, place) {
                return Self.settled(decided, base, our, their)
            }
            report(.bothRewrote, base, our, their, .both, place)
        }
        return merge.merged
    }
}

// MARK: - Maps

extension Merger {
    private mutating func merge(
        _ base: Value.Map,
        _ ours: MapDelta,
        _ theirs: MapDelta,
        _ place: Place
    ) -> Merged {
        var delta: [MapDelta.Entry] = []
        var (afterOurs, afterTheirs): ([MapDelta.Entry], [MapDelta.Entry]) = ([], [])
        MapDelta.walk(ours, theirs) { key, our, their in
            let merged = merge(base[key], our, their, place.child(.key(key)))
            for (change, entries) in [(merged.0, 0), (merged.1, 1), (merged.2, 2)] {
                guard let change else { continue }
                let entry = MapDelta.Entry(key: key, change: change)
                switch entries {
                case 0: delta.append(entry)
                case 1: afterOurs.append(entry)
                default: afterTheirs.append(entry)
                }
            }
        }
        return Merged(.map(delta), afterOurs: .map(afterOurs), afterTheirs: .map(afterTheirs))
    }

    /// What happens under one key, and what each side has still to do there.
    private mutating func merge(
        _ base: Value?,
        _ ours: MapDelta.Change?,
        _ theirs: MapDelta.Change?,
        _ place: Place
    ) -> (MapDelta.Change?, MapDelta.Change?, MapDelta.Change?) {
        let again = base.map { MapDelta.Change.apply(.set($0)) }
        switch (ours, theirs) {
        case (nil, .remove?) where place.rules?.isUnion == true: return (nil, nil, again)
        case (.remove?, nil) where place.rules?.isUnion == true: return (nil, again, nil)
        case (nil, _): return (theirs, theirs, nil)
        case (_, nil): return (ours, nil, ours)
        case (.remove?, .remove?): return (.remove, nil, nil)
        case (.apply(let our)?, .apply(let their)?):
            let merged = merge(base, our, their, place)
            return (.apply(merged.delta), .apply(merged.afterOurs), .apply(merged.afterTheirs))
        case (.remove?, .apply(let edit)?):
            guard let base else { return (theirs, theirs, nil) }
            let edited = base.changed(by: edit)
            guard outlives(base, nil, edited, place) else { return (.remove, nil, .remove) }
            return (theirs, .apply(.set(edited)), nil)
        case (.apply(let edit)?, .remove?):
            guard let base else { return (ours, nil, ours) }
            let edited = base.changed(by: edit)
            guard outlives(base, edited, nil, place) else { return (.remove, .remove, nil) }
            return (ours, nil, .apply(.set(edited)))
        }
    }

    /// Whether what one side removed and the other edited stays.
    mutating func outlives(
        _ base: Value,
        _ ours: Value?,
        _ theirs: Value?,
        _ place: Place
    ) -> Bool {
        switch place.rules?.rule {
        case .ours?: return ours != nil
        case .theirs?: return theirs != nil
        case .deleteWins?: return false
        case .editWins?, .union?: return true
        default:
            let choice: Conflict.Choice = ours == nil ? .theirs : .ours
            report(.removedAndEdited, base, ours, theirs, choice, place)
            return true
        }
    }
}

extension Delta {
    /// The same change as one inside the base, when it leads to a value of the same kind.
    fileprivate func inside(_ base: Value, _ rules: MergePolicy.Node?) -> Delta? {
        guard case .set(let value) = self else { return self }
        switch (base, value) {
        case (.map, .map), (.list, .list): return .diff(base, value, rules)
        case (.string(let old), .string(let new)): return TextDiff.delta(from: old, to: new)
        default: return nil
        }
    }
}

extension Value {
    /// The value after a delta that is known to apply.
    func changed(by delta: Delta) -> Value {
        guard let value = try? delta.applied(to: self) else {
            preconditionFailure("A merge takes deltas that apply to its base")
        }
        return value
    }
}
