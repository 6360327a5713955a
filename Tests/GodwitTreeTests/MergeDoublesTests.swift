import GodwitTestKit
import GodwitTree
import Testing

/// An item that one side moves across equal ones, in every list of up to six items.
///
/// The items that a side left alone stay where they are, so that the other side's edits find them.
@Suite struct MergeDoublesTests {
    @Test(arguments: [ItemStyle.words, .numbers, .unnamed])
    func `a move across equal items takes no removal away`(style: ItemStyle) {
        var laws = LawBook()
        for base in bases(style) {
            for ours in moves(of: base) {
                for (index, item) in base.enumerated() {
                    var theirs = base
                    theirs.remove(at: index)
                    let wanted = ours.indices.filter { ours[$0] == item }.map { place in
                        var list = ours
                        list.remove(at: place)
                        return list
                    }
                    let merges = mergedBothWays(base, ours, theirs)
                    let text = "\(names(base)), ours \(names(ours)), theirs \(names(theirs))"
                    for merge in merges {
                        laws.check(
                            "the removal, and all else in our order",
                            wanted.contains(merge),
                            "\(text): \(names(merge))"
                        )
                    }
                }
            }
        }
        laws.record()
    }

    @Test(arguments: [ItemStyle.words, .numbers, .unnamed])
    func `a move across equal items leaves an addition where it was made`(style: ItemStyle) {
        var laws = LawBook()
        let new = style.item(99)
        for base in bases(style) {
            for ours in moves(of: base) {
                for place in 0...base.count {
                    var theirs = base
                    theirs.insert(new, at: place)
                    let text = "\(names(base)), ours \(names(ours)), theirs \(names(theirs))"
                    for merge in mergedBothWays(base, ours, theirs) {
                        laws.check(
                            "the addition, and all else in our order",
                            merge.filter { $0 != new } == ours && merge.contains(new),
                            "\(text): \(names(merge))"
                        )
                        laws.check(
                            "beside one of its neighbours",
                            areNeighboursKept(of: new, theirs, merge),
                            "\(text): \(names(merge))"
                        )
                    }
                }
            }
        }
        laws.record()
    }
}

extension MergeDoublesTests {
    @Test(arguments: [ItemStyle.words, .numbers, .unnamed])
    func `of equal neighbours both sides remove the same one, whatever else they do`(
        style: ItemStyle
    ) {
        var laws = LawBook()
        let equal = style.item(50)
        for (count, start) in [(2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2)] {
            var base = (0..<4).map { style.item($0) }
            base.insert(contentsOf: Array(repeating: equal, count: count), at: start)
            // As many numbers as before count as a row of cells.
            let new: [Value?] = style == .numbers ? [nil, nil] : [style.item(98), style.item(99)]
            for ours in withoutOne(equal, of: base, adding: new[0]) {
                for theirs in withoutOne(equal, of: base, adding: new[1]) {
                    for merge in mergedBothWays(base, ours, theirs) {
                        laws.check(
                            "one of them went",
                            merge.count { $0 == equal } == count - 1,
                            "\(names(base)), ours \(names(ours)), theirs \(names(theirs)): "
                                + names(merge)
                        )
                    }
                }
            }
        }
        laws.record()
    }

    /// The list without one of equal items, and with all that a side may do besides: nothing, add an
    /// item, or remove one.
    private func withoutOne(_ equal: Value, of base: [Value], adding new: Value?) -> [[Value]] {
        var list = base
        list.remove(at: base.firstIndex(of: equal) ?? 0)
        // One beside them would be in the place of the one that went.
        let apart = (0...list.count).filter { place in
            !list[max(0, place - 1)..<min(list.count, place + 1)].contains(equal)
        }
        let added = (new == nil ? [] : apart).map { place in
            var list = list
            list.insert(contentsOf: [new].compactMap(\.self), at: place)
            return list
        }
        let removed = list.indices.filter { list[$0] != equal }.map { place in
            var list = list
            list.remove(at: place)
            return list
        }
        return [list] + added + removed
    }
}

extension MergeDoublesTests {
    /// Lists of five and six items, two to four of which are equal.
    private func bases(_ style: ItemStyle) -> [[Value]] {
        (5...6).flatMap { count in
            (0..<(1 << count)).filter { (2...4).contains($0.nonzeroBitCount) }.map { equal in
                (0..<count).map { style.item(equal & 1 << $0 != 0 ? 50 : $0) }
            }
        }
    }

    /// The list with each of its items that occur once at each other place.
    private func moves(of base: [Value]) -> [[Value]] {
        base.indices.filter { index in base.count { $0 == base[index] } == 1 }.flatMap { index in
            base.indices.filter { $0 != index }.map { place in
                var list = base
                list.insert(list.remove(at: index), at: place)
                return list
            }
        }
    }

    private func mergedBothWays(_ base: [Value], _ one: [Value], _ other: [Value]) -> [[Value]] {
        [(one, other), (other, one)].map { ours, theirs in
            let merge = Merge(base: .list(base), ours: .list(ours), theirs: .list(theirs))
            return Array(merge.value.list ?? [])
        }
    }

    private func areNeighboursKept(of item: Value, _ theirs: [Value], _ merged: [Value]) -> Bool {
        func neighbours(_ list: [Value]) -> [Value?] {
            guard let place = list.firstIndex(of: item) else { return [] }
            return [
                place > 0 ? list[place - 1] : nil,
                place + 1 < list.count ? list[place + 1] : nil,
            ]
        }
        return zip(neighbours(theirs), neighbours(merged)).contains { $0 == $1 }
    }

    private func names(_ list: [Value]) -> String {
        let first = list.first { item in list.count { $0 == item } > 1 }
        return list.map { $0 == first ? "H" : $0.jsonText() }.joined(separator: " ")
    }
}
