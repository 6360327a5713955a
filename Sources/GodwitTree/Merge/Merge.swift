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
        let ours = Delta.diff(base, ours, policy: policy)
        let theirs = Delta.diff(base, theirs, policy: policy)
        guard let merge = try? Merge(base: base, ours: ours, theirs: theirs, policy: policy) else {
            preconditionFailure("The difference from a base applies to that base")
        }
        self = merge
    }

    /// Merges two changes of `base`.
    ///
    /// - Complexity: O(*k* log *k*) in the sizes of the changes, but for what is inserted on both
    ///   sides of one place in a list: then that list is looked at as a whole.
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
    private(set) var conflicts: [Conflict] = []

    /// - Precondition: Both deltas apply to `base`, or set it where there is none.
    mutating func merge(_ base: Value?, _ ours: Delta, _ theirs: Delta, _ place: Place) -> Merged {
        switch (ours, theirs) {
        case (.keep, _): return Merged(theirs, afterOurs: theirs, afterTheirs: .keep)
        case (_, .keep): return Merged(ours, afterOurs: .keep, afterTheirs: ours)
        case _ where ours == theirs: return Merged(ours, afterOurs: .keep, afterTheirs: .keep)
        case (.map(let our), .map(let their)):
            return merge(base?.map ?? [:], our, their, place)
        case (.list(let our), .list(let their)):
            return merge(base?.list ?? [], our, their, place)
        case (.text(let our), .text(let their)):
            return merge(base, our, their, place)
        case (.increment(let our), .increment(let their)):
            return Merged(.adding(our &+ their), afterOurs: theirs, afterTheirs: ours)
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
        var isUnion = false
        if case .union? = place.rules?.rule { isUnion = true }
        var delta: [MapDelta.Entry] = []
        var (afterOurs, afterTheirs): ([MapDelta.Entry], [MapDelta.Entry]) = ([], [])
        MapDelta.walk(ours, theirs) { key, our, their in
            let merged =
                isUnion && (our == .remove || their == .remove)
                ? Self.restore(base[key], our, their)
                : merge(base[key], our, their, place.child(.key(key)))
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
        switch (ours, theirs) {
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

    /// What happens under a key that nobody can remove: who did so gets it again.
    private static func restore(
        _ base: Value?,
        _ ours: MapDelta.Change?,
        _ theirs: MapDelta.Change?
    ) -> (MapDelta.Change?, MapDelta.Change?, MapDelta.Change?) {
        let (isOurs, isTheirs) = (ours != .remove, theirs != .remove)
        let change = isOurs ? ours : isTheirs ? theirs : nil
        var value = base
        if case .apply(let edit)? = change { value = (base ?? .null).changed(by: edit) }
        let again = value.map { MapDelta.Change.apply(.set($0)) }
        return (change, isOurs ? nil : again, isTheirs ? nil : again)
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

// MARK: - Decisions

extension Merger {
    /// Decides between two values of one place.
    private mutating func settle(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ ours: Value?,
        _ theirs: Value?,
        _ choice: Conflict.Choice,
        _ place: Place
    ) -> Merged {
        if let decided = decide(reason, base, ours, theirs, place) {
            return Self.settled(decided, base, ours, theirs)
        }
        report(reason, base, ours, theirs, choice, place)
        return Self.settled((choice == .ours ? ours : theirs) ?? .null, base, ours, theirs)
    }

    private static func settled(
        _ value: Value,
        _ base: Value?,
        _ ours: Value?,
        _ theirs: Value?
    ) -> Merged {
        func delta(from old: Value?) -> Delta { old == value ? .keep : .set(value) }
        return Merged(
            delta(from: base),
            afterOurs: delta(from: ours),
            afterTheirs: delta(from: theirs)
        )
    }

    /// Which of two scalars is the later one: theirs, but for versions and dates.
    private func later(_ ours: Value, _ theirs: Value) -> Conflict.Choice {
        guard let our = Succession(ours), let their = Succession(theirs),
            their.isBefore(our) == true
        else { return .theirs }
        return .ours
    }

    /// What a rule makes of two values; nil where the default holds.
    private func decide(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ ours: Value?,
        _ theirs: Value?,
        _ place: Place
    ) -> Value? {
        guard let ours, let theirs, let rule = place.rules?.rule else { return nil }
        switch rule {
        case .ours: return ours
        case .theirs: return theirs
        case .max: return ours.isLess(than: theirs).map { $0 ? theirs : ours }
        case .min: return ours.isLess(than: theirs).map { $0 ? ours : theirs }
        case .sum:
            guard let our = ours.integer, let their = theirs.integer else { return nil }
            return .int(our &+ their &- (base?.integer ?? 0))
        case .custom(let decide):
            return decide(
                Conflict(
                    path: place.path,
                    reason: reason,
                    base: base,
                    ours: ours,
                    theirs: theirs,
                    choice: .theirs
                )
            )
        case .editWins, .deleteWins, .union: return nil
        }
    }

    mutating func report(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ ours: Value?,
        _ theirs: Value?,
        _ choice: Conflict.Choice,
        _ place: Place
    ) {
        conflicts.append(
            Conflict(
                path: place.path,
                reason: reason,
                base: base,
                ours: ours,
                theirs: theirs,
                choice: choice
            )
        )
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

    /// Whether this is the smaller of two numbers or strings; nil when they cannot be compared.
    fileprivate func isLess(than other: Value) -> Bool? {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right
        case (.double(let left), .double(let right)): left.double < right.double
        case (.int(let left), .double(let right)): Double(left) < right.double
        case (.double(let left), .int(let right)): left.double < Double(right)
        case (.string(let left), .string(let right)): Key.isBefore(left, right)
        default: nil
        }
    }
}
