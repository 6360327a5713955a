// A merge as a tree, before anything is written.
//
// `SlotTurnover` first tells edits of items from other items that took their places. Then merging
// has three steps: `Merger` walks both changes along their base and builds this tree; a place that
// both sides want differently stays open in it. `Settlement` then decides the open places, with the
// whole merge in sight, and reports them. At last the tree is written: as the change of the base,
// and as the change that each side has still to make (`MergeNode+Write`).

/// The fate of one place of a merge.
indirect enum MergeNode {
    /// Neither side changed it.
    case kept
    /// One side changed it.
    case one(Side, MapDelta.Change)
    /// Both sides changed it in the same way.
    case same(MapDelta.Change)
    /// Both sides added to an int.
    case sum(Sides<Int64>)
    /// One side set an int, and the other added to it.
    case raised(Int64, by: Int64, of: Side)
    /// A rule of the policy made this value.
    case decided(Value, MergeVersions)
    case open(MergeChoice)
    case map(MergedMap)
    case list(MergedList)
    case text(MergedText)
    /// One side put in a new value.
    case inserted(Insertion)
    /// Both sides put in a container where the base has none.
    case created(empty: Value, MergeNode)
}

extension MergeNode {
    /// Has edits reported that may be of two items.
    func doubt() {
        switch self {
        case .map(let map): map.isOfTwoItems = true
        case .text(let text): text.isOfTwoItems = true
        default: break
        }
    }
}

/// The tree of a merge.
struct MergeTree {
    let root: MergeNode
    /// Whether some value was found again in another container.
    let hasMoves: Bool
}

/// A place as the base and both sides have it; nil where it is absent.
struct MergeVersions {
    let base: Value?
    let sides: Sides<Value?>
}

/// Something that both sides want differently.
final class MergeChoice {
    let place: MergePlace
    let reason: Conflict.Reason
    let versions: MergeVersions
    /// The vote of the values themselves, such as that one version is greater.
    let vote: Vote?
    /// The change of one side to a value that the other removed.
    let edit: Delta?
    /// Whose wish is granted where nothing else speaks for a side.
    let leaning: Side?
    /// Whose wish is granted, once that is decided.
    var picked: Side?
    /// Whether the merge reports this choice although nothing was left to decide.
    var isDoubtful = false

    init(
        _ reason: Conflict.Reason,
        _ versions: MergeVersions,
        _ place: MergePlace,
        edit: Delta? = nil,
        leaning: Side? = nil
    ) {
        (self.reason, self.versions, self.place) = (reason, versions, place)
        (self.edit, self.leaning) = (edit, leaning)
        vote = versions.sides.ours.flatMap { ours in
            versions.sides.theirs.flatMap { Vote(ours: ours, theirs: $0) }
        }
    }

    /// The side that edited a value which the other removed.
    var editor: Side? {
        guard reason == .removedAndEdited else { return nil }
        return versions.sides.ours == nil ? .theirs : .ours
    }
}

/// A map that both sides changed.
final class MergedMap {
    let base: Value.Map
    let deltas: Sides<Delta>
    let place: MergePlace
    var entries: [(key: Key, node: MergeNode)] = []
    /// The side that is taken as a whole.
    var whole: Side?
    /// Whether one side may have put another item in this place.
    var isOfTwoItems = false

    init(_ base: Value.Map, _ deltas: Sides<Delta>, _ place: MergePlace) {
        (self.base, self.deltas, self.place) = (base, deltas, place)
    }

    var versions: MergeVersions {
        let base = Value.map(base)
        let sides = deltas.map { Optional(base.changed(by: $0)) }
        return MergeVersions(base: place.isNew ? nil : base, sides: sides)
    }
}

/// A list that both sides changed.
final class MergedList {
    let base: Value.List
    let plan: ListMerge
    /// The items of the merged list, some of which may still go.
    var items: [(item: ListMerge.Item, node: MergeNode)] = []
    /// Conflicts that a person may look at, whatever is decided.
    var reports: [Conflict] = []
    /// Whether an item that both sides move to different places is reported.
    var reportsMoves = true

    init(_ base: Value.List, _ plan: ListMerge) { (self.base, self.plan) = (base, plan) }
}

/// A new value of one side; it, or a part of it, may turn out to be one that the side removed
/// elsewhere.
final class Insertion {
    let side: Side
    let value: Value
    let place: MergePlace
    /// The value where it came from, and the merge of both sides' changes to it.
    var origin: (base: Value, node: MergeNode)?
    /// The merges of parts of the value, or of all of it, with the other side's changes.
    var edits: [PartEdit] = []
    /// The merge of a row with the other side's columns, where nothing else is merged.
    var row: PartEdit?
    /// The ways to the parts that were found again, and to what is around these.
    private var arrivedPaths: Set<[ValuePath.Step]> = []
    private var pathsAround: Set<[ValuePath.Step]> = []
    /// Conflicts that a person may look at, whatever is decided.
    var reports: [Conflict] = []

    init(_ side: Side, _ value: Value, _ place: MergePlace) {
        (self.side, self.value, self.place) = (side, value, place)
    }

    /// Whether some value was found in it.
    var isDestination: Bool { !arrivedPaths.isEmpty }

    func noteArrival(at path: [ValuePath.Step]) {
        arrivedPaths.insert(path)
        for length in path.indices { pathsAround.insert(Array(path[..<length])) }
    }

    /// Whether a part was found again.
    func hasArrival(at path: [ValuePath.Step]) -> Bool { arrivedPaths.contains(path) }

    /// Whether a part was found again, or what is around it, or something in it.
    func hasArrivals(around path: [ValuePath.Step]) -> Bool {
        pathsAround.contains(path)
            || (0...path.count).contains { arrivedPaths.contains(Array(path[..<$0])) }
    }

    /// Whether both sides' changes meet in it.
    var isMerged: Bool { origin != nil || !edits.isEmpty }

    /// Whether the value is an item of a list that the base has.
    var isItem: Bool { place.list != nil }
}
