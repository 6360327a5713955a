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
/// The merge is total and deterministic: it always has a value, and the same one everywhere. It
/// never invents one: the result holds what one side wrote, or what both changes add up to where
/// they touch different fields, items or words. In one place, unless a ``MergePolicy`` says
/// otherwise:
///
/// - an edit beats a removal, and a removal beats a move;
/// - of two scalars one is taken and reported: the greater version, number or date, else that of
///   the side which the rest of the record follows. Increments of an int add up;
/// - containers that both sides created are merged. Texts merge by lines and by words, where an
///   unchanged word lies between the edits;
///   Two lists of scalars that both sides created are not mixed, unless they look like sets: ours
///   is taken and reported;
/// - in lists, the items that a side inserted stay together, ours first; items with the same
///   identity (see ``Delta/diff(_:_:policy:inPieces:)``) are one item; of two moves of one item,
///   ours counts;
/// - a value that one side moves to another container, or to another key, takes the other side's
///   edits along. If both sides move it to different ones, it stands once, where ours has it. If
///   the other side removes it, it stays, as an edited value does. Both cases are reported;
/// - a list that all three sides keep sorted stays sorted; in a list of different strings, a
///   string that both sides add is there once.
public struct Merge: Hashable, Sendable {
    /// The merged value.
    public let value: Value
    /// The change from the base to the merged value.
    public let delta: Delta
    /// The change from our value to the merged one: the rest of the work after ours.
    public let afterOurs: Delta
    /// The change from their value to the merged one: the rest of the work after theirs.
    public let afterTheirs: Delta
    /// The wishes that excluded each other, and the places where both changes are so close that a
    /// person should look (``Conflict/isNotice``).
    public let conflicts: [Conflict]

    /// Merges two versions of `base`.
    ///
    /// - Complexity: O(*n* log *n*) in the sizes of the lists that differ, O(*n*) for the rest.
    public init(base: Value, ours: Value, theirs: Value, policy: MergePolicy = .standard) {
        let deltas = Delta.diff(base, Sides(ours: ours, theirs: theirs), policy.root)
        self.init(base, deltas, policy)
    }

    /// Merges two changes of `base`.
    ///
    /// - Complexity: O(*k* log *n*) expected, for changes of *k* places in containers of *n*
    ///   elements.
    /// - Throws: What ``Delta/applied(to:)`` throws, when a change was not made for this base.
    public init(
        base: Value,
        ours: Delta,
        theirs: Delta,
        policy: MergePolicy = .standard
    ) throws(TreeError) {
        _ = try ours.applied(to: base)
        _ = try theirs.applied(to: base)
        self.init(base, Sides(ours: ours, theirs: theirs), policy)
    }

    /// - Precondition: Both deltas apply to the base.
    private init(_ base: Value, _ deltas: Sides<Delta>, _ policy: MergePolicy) {
        let place = MergePlace(rules: policy.root)
        let tree = Merger.tree(base, deltas, place)
        self.init(base, deltas, tree)
        // An edit that follows a move may nest too deep where it arrives.
        guard tree.hasMoves, !value.isNested(within: Value.depthMax) else { return }
        self.init(base, deltas, Merger.treeWithoutMoves(base, deltas, place))
    }

    private init(_ base: Value, _ deltas: Sides<Delta>, _ tree: MergeTree) {
        var settlement = Settlement(deltas, hasMoves: tree.hasMoves)
        settlement.settle(tree.root)
        let written = tree.root.written
        delta = written.delta.delta
        value = base.changed(by: delta)
        (afterOurs, afterTheirs) = (written.after.ours.delta, written.after.theirs.delta)
        conflicts = settlement.conflicts
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
