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
/// The merge is total and deterministic: it always has a value, and the same one everywhere. Each
/// part comes from one side, or combines changes to different fields, items or words. In one place,
/// unless a ``MergePolicy`` says otherwise:
///
/// - an edit beats a removal, and the merge reports it. An edit that only removes parts of the
///   value is no such edit: the whole value goes, without a report. Within one list, a removal
///   beats a move;
/// - of two scalars the merge takes one and reports it: the greater version, number or date, else
///   that of the side which the rest of the record follows, else that of the side which changed
///   more of the document, else theirs. Increments of an int add up. Two cases have no report: both
///   sides raised a version, or the two texts are prose that differs only in case, blanks or
///   punctuation;
/// - if both sides contest much of one record, the merge takes the record whole from one side and
///   reports it. The other side's few changes to other fields go with it only where a version,
///   number or date in the record tells which one is later, or where both sides created the record;
/// - containers that both sides created are merged. Of two lists of scalars that both sides
///   created, the merge takes ours and reports it, unless the lists look like sets;
/// - texts merge by lines and by words, where an unchanged word lies between the edits;
/// - in lists, the items that a side inserted stay together, ours first; of two moves of one item,
///   ours counts. New items of both sides with the same identity (see
///   ``Delta/diff(_:_:policy:inPieces:)``) are one item. Two records with the same number that
///   agree on less than half of their fields stay two, and so do two with the same name, title or
///   label that have no other value in common; the merge reports them;
/// - a value that one side moves to another container, or to another key, takes the other side's
///   edits along, if it says enough to be told from others: a long text, an `id` or `name` that is
///   a string, or three words and numbers, and if the base has no equal value elsewhere. So do the
///   items of a container that one side takes apart. If both sides move it to different ones, it
///   stands once, where ours has it, or in each new item of a list of which it is a field. If the
///   other side removes it, it stays, as an edited value does. The merge reports both cases. An edit
///   of an item does not land on another one that comes into its place from elsewhere; if names and
///   content leave it open whether one did, both sides' edits stay together and the merge reports
///   them;
/// - in a map, the key says which value it is: an edit stays at its key, though the other side moves
///   values from key to key;
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
    /// Changes that could not both be kept, and notices for review (``Conflict/isNotice``).
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
        let changes = base.withoutTurnovers(deltas.opened(base, policy.root), policy.root)
        let tree = Merger.tree(base, changes, place)
        self.init(base, changes.deltas, tree)
        // An edit that follows a move may nest too deep where it arrives.
        guard tree.hasMoves, !value.isNested(within: Value.depthMax) else { return }
        self.init(base, changes.deltas, Merger.treeWithoutMoves(base, changes, place))
    }

    private init(_ base: Value, _ deltas: Sides<Delta>, _ tree: MergeTree) {
        var settlement = Settlement(deltas, hasMoves: tree.hasMoves)
        settlement.settle(tree.root)
        let written = tree.root.written
        delta = written.delta?.delta ?? .keep
        value = base.changed(by: delta)
        afterOurs = written.after.ours?.delta ?? .keep
        afterTheirs = written.after.theirs?.delta ?? .keep
        conflicts = settlement.conflicts
    }
}
