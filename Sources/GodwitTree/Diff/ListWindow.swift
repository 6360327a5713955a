/// The parts in which two lists differ, without their common beginning and end.
struct ListWindow {
    let old: Value.List
    let new: Value.List
    private let oldRange: Range<Int>
    private let newRange: Range<Int>
    /// How many equal items behind the last one that differs both ranges include.
    private let equalCount: Int

    /// How many neighbours on either side help to say what tells the items apart.
    private static let neighboursMax = 16

    private static let equalMax = 64

    /// - Complexity: O(log *n* + *m*), for *m* elements in the chunks that differ.
    init(_ old: Value.List, _ new: Value.List) {
        self.old = old
        self.new = new
        let (oldRange, newRange) = old.tree.differingRanges(from: new.tree)
        // Which of equal neighbours went is decided where all of them are seen.
        let last = oldRange.last.map { old[$0] }
        let rest = old[oldRange.upperBound...].prefix(last == nil ? 0 : Self.equalMax)
        equalCount = rest.prefix { $0 == last }.count
        self.oldRange = oldRange.lowerBound..<(oldRange.upperBound + equalCount)
        self.newRange = newRange.lowerBound..<(newRange.upperBound + equalCount)
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
            among: surroundings,
            identity: identity,
            rules
        )
        matching.matchEnds(count: equalCount)
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
