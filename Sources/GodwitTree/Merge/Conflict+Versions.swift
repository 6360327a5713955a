extension Conflict {
    init(
        _ reason: Reason,
        _ versions: MergeVersions,
        _ choice: Choice,
        _ place: MergePlace
    ) {
        self.init(
            path: place.path(of: versions),
            reason: reason,
            base: versions.base,
            ours: versions.sides.ours,
            theirs: versions.sides.theirs,
            choice: choice
        )
    }
}

extension Conflict.Choice {
    init(_ side: Side) { self = side == .ours ? .ours : .theirs }
}
