import GodwitTree

/// The values that inputs are tried on, with some of everything.
///
/// Their keys are short, so that they are easily found by chance. The inputs in `Regressions` count
/// on them: add new ones at the end.
enum World {
    /// What deltas and patches are applied to.
    static let base: Value = [
        "a": 1, "b": "Bread, b\u{e9}arnaise \u{1f35e} and more, for all of us",
        "c": [1, 2.5, "c", .null, [], true],
        "d": ["a": ["a": ["a": .null, "b": 7]], "e": [:]], "e": .bytes([0, 255, 16]), "f": 0.1,
        "g": .int(.max), "h": .null,
        "v": "1.9.0", "when": "2026-01-05",
        "id": "base",
        "items": [
            ["id": 1, "name": "Bread", "crossed": false, "count": 1],
            ["id": 2, "name": "Wine", "crossed": false, "count": 2],
            ["id": 3, "name": "Eggs", "crossed": true, "count": 6],
            ["id": 5, "name": "Tea", "crossed": false],
        ],
        "row": .list((0..<96).map { .int($0 * $0 % 23) }),
        "tags": ["amber", "green", "red", "white"],
        "table": .map(Value.Map((0..<48).map { (Key("k\($0)"), .int($0 % 7)) })),
    ]

    static let policies: [MergePolicy] = [
        .standard, policy(.ours), policy(.theirs), policy(.editWins), policy(.deleteWins),
        policy(.max), policy(.min), policy(.union), policy(.sum),
    ]

    private static func policy(_ rule: MergePolicy.Rule) -> MergePolicy {
        var policy = MergePolicy()
        policy.set(rule, at: "/")
        policy.identify(by: "id", at: "/items")
        return policy
    }

    /// Values of each kind, for every format to begin with.
    static let values: [Value] = [
        base, .null, true, false, 0, -1, 24, 1_000, .int(.max), .int(.min), 0.0, 1.5, -2.5e-8,
        0.1, 1.0e300, 65_504.0, "", "text", "\"\\\n\u{0}\u{7f}", "e\u{301}\u{1f600}",
        .bytes([]), .bytes([0, 127, 128, 255]), [], [:], [[]], [[:]], [1, [2, [3]]],
        ["": 1], ["a": .null, "b": ["a": [["b": 0.5]]]], ["two words": ["x/y": 1, "m~n": 2]],
        .list(Array(repeating: 7, count: 130)), nested(Value.depthMax),
        .map(Value.Map((0..<70).map { (Key("key \($0)"), .string(Key("value \($0)"))) })),
    ]

    /// A value that nests as deep as this.
    private static func nested(_ depth: Int) -> Value {
        (0..<depth).reduce(0) { value, level in level % 2 == 0 ? [value] : ["a": value] }
    }
}
