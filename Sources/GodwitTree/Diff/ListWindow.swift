/// What differs between two lists, without their common beginning and end.
struct ListWindow {
    let old: Value.List
    let new: Value.List
    private let oldRange: Range<Int>
    private let newRange: Range<Int>

    /// How many neighbours on either side help to say what tells the items apart.
    private static let neighboursMax = 16

    /// - Complexity: O(log *n* + *m*), for *m* elements in the chunks that differ.
    init(_ old: Value.List, _ new: Value.List) {
        self.old = old
        self.new = new
        (oldRange, newRange) = old.tree.differingRanges(from: new.tree)
    }

    /// The items of both lists that differ, with some neighbours.
    var surroundings: [[Value]] {
        [
            Array(old[Self.widened(oldRange, within: old.count)]),
            Array(new[Self.widened(newRange, within: new.count)]),
        ]
    }

    private static func widened(_ range: Range<Int>, within count: Int) -> Range<Int> {
        let start = max(0, range.lowerBound - neighboursMax)
        return start..<min(count, range.upperBound + neighboursMax)
    }

    func matching(_ identity: ItemIdentity?, _ rules: MergePolicy.Node?) -> ListMatching {
        var matching = ListMatching(
            old: Array(old[oldRange]),
            new: Array(new[newRange]),
            among: surroundings.flatMap { $0 },
            identity: identity,
            rules
        )
        matching.matchAll()
        return matching
    }

    /// The new versions of old items, by their positions in the old list; of those that differ.
    func edits(_ matching: ListMatching) -> [Int: Value] {
        var edits: [Int: Value] = [:]
        for (index, value) in matching.new.enumerated() {
            guard let source = matching.sources[index] else { continue }
            edits[oldRange.lowerBound + source] = value
        }
        return edits
    }

    /// The change from the old list to the new one; `diff` is asked about items that are one.
    func recipe(
        _ matching: ListMatching,
        _ diff: (Int, Value, Value) -> Delta
    ) -> ListRecipe {
        var recipe = ListRecipe()
        recipe.append(.kept(0..<oldRange.lowerBound))
        for (index, value) in matching.new.enumerated() {
            guard let source = matching.sources[index] else {
                recipe.append(.new(value))
                continue
            }
            let position = oldRange.lowerBound + source
            recipe.append(.edited(position, diff(position, matching.old[source], value)))
        }
        recipe.finish(tail: oldRange.upperBound)
        return recipe
    }
}
