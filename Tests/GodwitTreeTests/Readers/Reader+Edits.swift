import GodwitTree

extension Reader {
    /// The bytes are choices: of a policy, a base, what two sides do to it, and ours once more.
    static func checkEdits(_ bytes: [UInt8]) throws -> Bool {
        var choices = Choices(bytes)
        let policy = World.policies[choices.next(World.policies.count)]
        let base = choices.value()
        let (first, ours) = try edit(base, by: &choices)
        let (second, last) = try edit(ours, by: &choices)
        let (their, theirs) = try edit(base, by: &choices)

        let both = try first.composed(with: second)
        try hold("a composition does both", try both.applied(to: base) == last)
        let back = try second.inverted(on: ours)
        let left = try both.composed(with: back)
        let right = try first.composed(with: second.composed(with: back))
        try hold("composition is associative", left == right)
        try checkMerge(of: base, ours: (first, ours), theirs: (their, theirs), policy: policy)
        return true
    }

    /// The change that is made to a value, and the value after it.
    private static func edit(
        _ value: Value,
        by choices: inout Choices
    ) throws -> (delta: Delta, value: Value) {
        var edited = value
        let delta = try edited.edit { choices.edit(&$0) }
        try hold(
            "what a draft writes down is what was done",
            try delta.applied(to: value) == edited
        )
        try check(delta, on: value)
        return (delta, edited)
    }
}
