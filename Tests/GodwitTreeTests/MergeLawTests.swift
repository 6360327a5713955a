import GodwitTestKit
import GodwitTree
import Testing

/// The laws of merging that hold for all values, M1 to M3 and M8, and for lists of different items
/// M4 and M6; M5 and M7 are in `MergeListLawTests` and `MergeTextLawTests`.
@Suite struct MergeLawTests {
    @Test func `every merge of small arrangements keeps the laws`() throws {
        for base in SmallWorld.words {
            for ours in SmallWorld.words {
                for theirs in SmallWorld.words { check(base, ours, theirs) }
            }
        }
    }

    @Test func `every merge of a few numbers keeps the laws, though they may be one value`() throws
    {
        let world = SmallWorld.arrangements.filter { ($0.list?.count ?? 0) <= 3 }
        for base in world {
            for ours in world {
                for theirs in world { check(base, ours, theirs, itemsDiffer: false) }
            }
        }
    }

    @Test func `every merge of small mixed values keeps the laws`() throws {
        for base in SmallWorld.mixed {
            for ours in SmallWorld.mixed {
                for theirs in SmallWorld.mixed { check(base, ours, theirs, itemsDiffer: false) }
            }
        }
    }

    @Test func `a hundred thousand random merges keep the laws`() throws {
        for seed in 0..<UInt64(100_000 * Soak.factor) {
            let history = History(seed: seed)
            check(history.base, history.first, history.rival, itemsDiffer: false)
        }
    }

    /// - Parameter itemsDiffer: Whether all items of these lists are different, so that they can
    ///   be followed by their value.
    private func check(
        _ base: Value,
        _ ours: Value,
        _ theirs: Value,
        itemsDiffer: Bool = true
    ) {
        let merge = Merge(base: base, ours: ours, theirs: theirs)
        let (afterOurs, afterTheirs) = (
            try? merge.afterOurs.applied(to: ours), try? merge.afterTheirs.applied(to: theirs)
        )
        var laws: [(String, Bool)] = [
            ("M1 left", Merge(base: base, ours: base, theirs: theirs).value == theirs),
            ("M1 right", Merge(base: base, ours: ours, theirs: base).value == ours),
            ("M2 same", Merge(base: base, ours: ours, theirs: ours).value == ours),
            ("M3 what is left to do after ours", afterOurs == merge.value),
            ("M3 what is left to do after theirs", afterTheirs == merge.value),
            ("M8 same again", Merge(base: base, ours: ours, theirs: theirs) == merge),
        ]
        if itemsDiffer {
            let lists = [base, ours, theirs].map { Array($0.list ?? []) }
            laws += listLaws(lists[0], lists[1], lists[2], merge)
        }
        for law in laws where !law.1 {
            Issue.record("\(law.0): base \(base), ours \(ours), theirs \(theirs): \(merge)")
        }
    }

    /// An item that a side puts in the place of another is missing where the merge chose the other
    /// side's for that place; then a conflict says so.
    private func listLaws(
        _ base: [Value],
        _ ours: [Value],
        _ theirs: [Value],
        _ merge: Merge
    ) -> [(String, Bool)] {
        let result = Array(merge.value.list ?? [])
        let survivors = result.filter(base.contains)
        let inserted = Set(ours + theirs).subtracting(base)
        let kept = base.filter { ours.contains($0) && theirs.contains($0) }
        let still = base.filter { item in
            [ours, theirs].allSatisfy { side in !isMoved(item, base, side) }
        }
        let isOnce = inserted.allSatisfy { item in
            let sidesCount = (ours.contains(item) ? 1 : 0) + (theirs.contains(item) ? 1 : 0)
            return result.count { $0 == item } <= sidesCount
        }
        let isThere = inserted.isSubset(of: result)
        return [
            ("M4 no base item twice", Set(survivors).count == survivors.count),
            ("M4 every insert at most once for each side", isOnce),
            ("M4 every insert, or a conflict", isThere || !merge.conflicts.isEmpty),
            ("M4 nothing else", inserted.union(base).isSuperset(of: result)),
            ("M4 what both keep stays, what one removes goes", Set(survivors) == Set(kept)),
            (
                "M6 items that no side moved keep their order",
                survivors.filter(still.contains) == still.filter(survivors.contains)
            ),
        ]
    }

    private func isMoved(_ item: Value, _ base: [Value], _ side: [Value]) -> Bool {
        guard case .list(let delta) = Delta.diff(.list(base), .list(side)) else { return false }
        return delta.parts.moves.contains { move in
            (move.source..<(move.source + move.count)).contains { base[$0] == item }
        }
    }
}
