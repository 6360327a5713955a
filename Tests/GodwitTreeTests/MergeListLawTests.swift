import GodwitTestKit
import GodwitTree
import Testing

/// M4 to M7 for lists of every kind: each two things that two sides can do in a place of five
/// items, and large lists with many such places.
@Suite struct MergeListLawTests {
    @Test(arguments: ItemStyle.allCases)
    func `any two things done in one place of a list keep the laws`(style: ItemStyle) {
        var laws = LawBook()
        let edits = ZoneEdit.all(editing: style.isRecord)
        for ours in edits {
            for theirs in edits {
                check(ListZones(style, [ZonePair(ours: ours, theirs: theirs)]), &laws)
            }
        }
        laws.record()
    }

    @Test(arguments: ItemStyle.allCases)
    func `many things done in a large list keep the laws`(style: ItemStyle) {
        var laws = LawBook()
        let edits = ZoneEdit.all(editing: style.isRecord)
        for seed in 0..<UInt64(30 * Soak.factor) {
            var random = Seeded(seed: seed)
            let pairs = (0..<random.pick([8, 40, 300])).map { _ in
                ZonePair(ours: random.pick(edits), theirs: random.pick(edits))
            }
            check(ListZones(style, pairs), &laws, "seed \(seed)")
        }
        laws.record()
    }

    @Test(arguments: ItemStyle.allCases)
    func `what two sides do in different places of a list adds up, either way round`(
        style: ItemStyle
    ) {
        var laws = LawBook()
        let edits = ZoneEdit.all(editing: style.isRecord)
        for seed in 0..<UInt64(200 * Soak.factor) {
            var random = Seeded(seed: seed)
            let pairs = (0..<random.pick([2, 4, 40])).map { zone in
                let edit = random.pick(edits)
                return zone.isMultiple(of: 2)
                    ? ZonePair(ours: edit, theirs: .none) : ZonePair(ours: .none, theirs: edit)
            }
            let zones = ListZones(style, pairs)
            // Each zone as the side has it that did something there.
            let wanted = zones.list(zones.sum, asOurs: true, asTheirs: true)
            let (merge, mirrored) = (zones.merge, zones.mirrored)
            let isSilent = merge.conflicts.isEmpty && mirrored.conflicts.isEmpty
            let text = "\(pairs.filter { _ in pairs.count < 8 }), seed \(seed)"
            laws.check("M7 both changes", merge.value == wanted, text)
            laws.check("M7 the same mirrored", mirrored.value == wanted, text)
            laws.check("M7 no conflict", isSilent, "\(text): \(merge.conflicts)")
        }
        laws.record()
    }

    private func check(_ zones: ListZones, _ laws: inout LawBook, _ name: String = "") {
        let merge = zones.merge
        let text = zones.pairs.count == 1 ? "\(zones.pairs) on \(zones.base): \(merge)" : name
        let found = zones.numbers(of: merge.value)
        let numbers = found.compactMap { $0 }
        laws.check("M4 nothing else, and every edit", numbers.count == found.count, text)
        laws.check("M4 each at most once", Set(numbers).count == numbers.count, text)
        laws.check("M4 all that is to stay", zones.expected.isSubset(of: numbers), text)
        laws.check("M4 all that is to go", zones.expected.isSuperset(of: numbers), text)
        laws.check(
            "M5 runs stay together",
            zones.runs.allSatisfy { areTogether($0, numbers) },
            text
        )
        laws.check("M6 unmoved items keep their order", keepsOrder(zones, numbers), text)
        laws.check(
            "M6 an inserted item is right of its left neighbour",
            isBesideNeighbours(zones, numbers),
            text
        )
        laws.check(
            "M6 a moved item is right of its left neighbour",
            areMovedBesideNeighbours(zones, numbers),
            text
        )
        let isContested = zones.pairs.contains(where: \.isContested)
        let mayConflict = zones.pairs.contains(where: \.mayConflict)
        laws.check(
            "a conflict is reported where there is one",
            isContested ? !merge.conflicts.isEmpty : mayConflict || merge.conflicts.isEmpty,
            text
        )
    }

    private func areTogether(_ run: [Int], _ numbers: [Int]) -> Bool {
        guard let start = numbers.firstIndex(of: run[0]) else { return false }
        return numbers[start...].starts(with: run)
    }

    private func keepsOrder(_ zones: ListZones, _ numbers: [Int]) -> Bool {
        let still = Set(zones.base).subtracting(zones.moved)
        let kept = numbers.filter(still.contains)
        let present = Set(kept)
        return kept == zones.base.filter(present.contains)
    }

    /// The same for each item that one side moved, and that is there.
    private func areMovedBesideNeighbours(_ zones: ListZones, _ numbers: [Int]) -> Bool {
        let still = Set(zones.base).subtracting(zones.moved).intersection(numbers)
        return zones.movedByOne.allSatisfy { item, isOurs in
            let side = isOurs ? zones.ours : zones.theirs
            guard let there = side.firstIndex(of: item), let here = numbers.firstIndex(of: item)
            else { return true }
            return side[..<there].last(where: still.contains)
                == numbers[..<here].last(where: still.contains)
        }
    }

    /// From a run to the left, across what came there too, the next item that stayed is the one
    /// that stood there on the side that inserted the run.
    private func isBesideNeighbours(_ zones: ListZones, _ numbers: [Int]) -> Bool {
        let present = Set(numbers)
        let still = Set(zones.base).subtracting(zones.moved).intersection(present)
        return zones.runs.allSatisfy { run in
            let side = zones.ours.contains(run[0]) ? zones.ours : zones.theirs
            guard let there = side.firstIndex(of: run[0]), let here = numbers.firstIndex(of: run[0])
            else { return false }
            return side[..<there].last(where: still.contains)
                == numbers[..<here].last(where: still.contains)
        }
    }
}

extension ListZones {
    /// The list in which each zone is as the side has it that did something there.
    fileprivate var sum: [Int] {
        var guards = Set(base.indices.filter { $0 % (ZoneEdit.zoneSize + 1) == 0 }.map { base[$0] })
        guards.remove(base[0])
        let (our, their) = (split(ours, at: guards), split(theirs, at: guards))
        return zip(our, their).enumerated().flatMap { zone, sides in
            zone.isMultiple(of: 2) ? sides.0 : sides.1
        }
    }

    private func split(_ items: [Int], at guards: Set<Int>) -> [[Int]] {
        var zones: [[Int]] = [[]]
        for item in items {
            if guards.contains(item) { zones.append([]) }
            zones[zones.count - 1].append(item)
        }
        return zones
    }

    fileprivate var mirrored: Merge {
        Merge(
            base: list(base),
            ours: list(theirs, asTheirs: true),
            theirs: list(ours, asOurs: true)
        )
    }
}
