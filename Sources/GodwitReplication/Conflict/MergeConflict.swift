internal import GodwitStore
internal import GodwitTree

/// A conflict of one object's merge, and what a later decision about it needs.
struct MergeConflict: Hashable, Sendable {
    let conflict: Conflict
    /// Where the contested place is in the merged object; nil when it is gone.
    let place: ValuePath?
    /// The version of the object that was not taken.
    let version: Int

    init(_ conflict: Conflict, place: ValuePath?, version: Int) {
        (self.conflict, self.place, self.version) = (conflict, place, version)
    }

    /// A choice between two objects.
    init(
        _ key: ObjectKey,
        since base: VersionedValue?,
        ours: VersionedValue?,
        theirs: VersionedValue?,
        _ choice: Conflict.Choice
    ) {
        conflict = Conflict(
            path: ValuePath([.key(key.collection), .key(key.key)]),
            reason: .takenWhole,
            base: base?.value,
            ours: ours?.value,
            theirs: theirs?.value,
            choice: choice
        )
        place = ValuePath()
        let (taken, other) = choice == .theirs ? (theirs, ours) : (ours, theirs)
        version = other?.version ?? taken?.version ?? 1
    }

    /// The conflict after a later change of the merged object.
    func followed(by delta: Delta) -> MergeConflict {
        MergeConflict(conflict, place: place.flatMap(delta.destination), version: version)
    }
}
