import GodwitTree

extension Reader {
    /// The first byte names a policy; behind it stand two deltas, with a mark between them.
    static func checkMerge(_ bytes: [UInt8]) throws -> Bool {
        let base = World.base
        let mark = bytes.indices.dropFirst().dropLast().first { index in
            bytes[index] == 0xff && bytes[index + 1] == 0xff
        }
        guard let first = bytes.first, let mark else { return false }
        let policy = World.policies[Int(first) % World.policies.count]
        let sides = [Array(bytes[1..<mark]), Array(bytes[(mark + 2)...])]
        let deltas = sides.compactMap { try? Delta(packed: $0, on: base, budget: budget) }
        guard deltas.count == 2, let ours = try? deltas[0].applied(to: base),
            let theirs = try? deltas[1].applied(to: base)
        else { return false }
        let (our, their) = ((deltas[0], ours), (deltas[1], theirs))
        try checkMerge(of: base, ours: our, theirs: their, policy: policy)
        return true
    }

    /// What holds of the merge of two changes of a base, and of two values that grew from it.
    static func checkMerge(
        of base: Value,
        ours: (delta: Delta, value: Value),
        theirs: (delta: Delta, value: Value),
        policy: MergePolicy
    ) throws {
        let merge = try Merge(base: base, ours: ours.delta, theirs: theirs.delta, policy: policy)
        try check(merge, of: base, ours.value, theirs.value)
        let both = try ours.delta.composed(with: merge.afterOurs)
        try hold("what is left to do follows ours", try both.applied(to: base) == merge.value)

        let (ours, theirs) = (ours.value, theirs.value)
        let difference = Delta.diff(ours, theirs, policy: policy)
        try hold("a difference leads to the other", try difference.applied(to: ours) == theirs)
        let same = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
        try check(same, of: base, ours, theirs)
    }

    private static func check(
        _ merge: Merge,
        of base: Value,
        _ ours: Value,
        _ theirs: Value
    ) throws {
        let value = merge.value
        try hold("the merged value is not too deep", value.isNested(within: Value.depthMax))
        try checkDigest(value)
        try hold("a merge is a change of its base", try merge.delta.applied(to: base) == value)
        try hold("a merge is a change of ours", try merge.afterOurs.applied(to: ours) == value)
        try hold(
            "a merge is a change of theirs",
            try merge.afterTheirs.applied(to: theirs) == value
        )
        for delta in [merge.delta, merge.afterOurs, merge.afterTheirs] {
            let bytes = delta.canonicalBytes
            try hold("a merge is in normal form", try Delta(canonicalBytes: bytes) == delta)
        }
        for conflict in merge.conflicts {
            try hold("a conflict has a description", !conflict.description.isEmpty)
        }
    }

    /// Two deltas as one input.
    static func merging(_ ours: Delta, _ theirs: Delta, policy: Int) throws -> [UInt8] {
        let sides = try [ours, theirs].map { try $0.packed(on: World.base, .plain) }
        return [UInt8(policy)] + sides[0] + [0xff, 0xff] + sides[1]
    }
}
