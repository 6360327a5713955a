// Records that both sides removed, with another record of each side in the same place, or elsewhere.
//
// Each side may have given the record another name, or both may have removed it and put in records of
// their own. Both records stay, and a conflict says so if each has a value of the removed one, besides
// its name, or half of the words of a long text; and if the removed one was not moved. A record in
// another place needs the words. If one side alone put in such a record, the other removed what this one
// moved and changed; that is told, too.

/// A record that both sides may have renamed.
struct Rename {
    let list: MergedList
    let conflict: Conflict
}

extension Merger {
    /// Reports the records that are not found elsewhere.
    func reportRenames() {
        guard !renames.isEmpty else { return }
        let arrived = agreedValues
        for rename in renames where !found.contains(rename.conflict.path) {
            if let record = rename.conflict.base, arrived.contains(ItemContent(record)) { continue }
            rename.list.reports.append(rename.conflict)
        }
    }

    /// The values that both sides put in one place, and those in them.
    var agreedValues: Set<ItemContent> {
        Set(agreed.flatMap(\.newValues).map(ItemContent.init))
    }
}

extension Delta {
    /// The values that this change puts in, and those in them.
    fileprivate var newValues: [Value] {
        switch self {
        case .set(let value): return value.withParts
        case .map(let delta):
            return delta.entries.flatMap { entry -> [Value] in
                if case .apply(let change) = entry.change { change.newValues } else { [] }
            }
        case .list(let delta):
            let parts = delta.parts
            return parts.inserts.flatMap(\.value.withParts) + parts.edits.flatMap(\.delta.newValues)
        default: return []
        }
    }
}

extension MergedList {
    /// - Parameter twins: The places of new items that are one, theirs to ours.
    func renames(besides twins: [Int: Int], _ place: MergePlace) -> [Rename] {
        let runs = removedRuns
        guard !runs.isEmpty else { return [] }
        var ours = newItems(of: .ours, except: Set(twins.values))
        var theirs = newItems(of: .theirs, except: Set(twins.keys))
        let kept = Sides(ours: Side.ours, theirs: .theirs).map(keptBefore)
        var found: [Successors] = []
        var missed: [Int] = []
        for run in runs {
            let (our, their) = (kept.ours[run.lowerBound], kept.theirs[run.lowerBound])
            let removed = plan.segments.ranges[run].flatMap { $0 }
            let near = successors(of: removed, &ours[our, default: []], &theirs[their, default: []])
            let nearby = Set(near.map(\.position))
            found += near
            missed += removed.filter { !nearby.contains($0) }
        }
        let distant = distantSuccessors(of: missed, inOrder(ours), inOrder(theirs))
        let both = (found + distant).map { successors in
            rename(of: successors.position, .bothSet, successors.sides.map { $0 }, .both, place)
        }
        let distantPositions = Set(distant.map(\.position))
        missed.removeAll(where: distantPositions.contains)
        return both
            + loneSuccessors(of: missed, Sides(ours: inOrder(ours), theirs: inOrder(theirs)), place)
    }

    private func rename(
        of position: Int,
        _ reason: Conflict.Reason,
        _ sides: Sides<Value?>,
        _ choice: Conflict.Choice,
        _ place: MergePlace
    ) -> Rename {
        let versions = MergeVersions(base: base[position], sides: sides)
        let place = place.child(.position(position))
        return Rename(list: self, conflict: Conflict(reason, versions, choice, place))
    }

    private static var likenessMin: Double { 0.6 }

    /// What one side alone put in that is much like what both removed.
    private func loneSuccessors(
        of removed: [Int],
        _ new: Sides<[Value]>,
        _ place: MergePlace
    ) -> [Rename] {
        let counts = [removed.count, new.ours.count, new.theirs.count]
        guard counts.allSatisfy({ $0 <= Self.successorsMax }) else { return [] }
        return removed.compactMap { position in
            let item = base[position]
            let bag = Resemblance(item)
            guard bag.wordCount > 1 else { return nil }
            let sides = new.map { items in
                items.first {
                    !item.hasOtherID(than: $0)
                        && bag.score(with: Resemblance($0)) >= Self.likenessMin
                }
            }
            guard (sides.ours == nil) != (sides.theirs == nil) else { return nil }
            let side = sides.ours == nil ? Side.theirs : .ours
            return rename(of: position, .removedAndEdited, sides, .init(side), place)
        }
    }

    /// What may have become of a removed item on both sides.
    private typealias Successors = (position: Int, sides: Sides<Value>)

    /// How many new items are looked at for one that is gone.
    private static var successorsMax: Int { 16 }

    /// The new items of both sides that may be what became of a removed one: among a few each that has a
    /// value of it, among many those in the same places.
    private func successors(
        of removed: [Int],
        _ ours: inout [Value],
        _ theirs: inout [Value]
    ) -> [Successors] {
        let counts = [removed.count, ours.count, theirs.count]
        guard counts.allSatisfy({ $0 <= Self.successorsMax }) else {
            guard Set(counts).count == 1 else { return [] }
            return zip(removed, zip(ours, theirs)).compactMap { position, sides in
                let item = base[position]
                return item.sharesFact(with: sides.0) && item.sharesFact(with: sides.1)
                    ? (position, Sides(ours: sides.0, theirs: sides.1)) : nil
            }
        }
        let areAsMany = Set(counts).count == 1
        return pairs(of: removed, &ours, &theirs) { item, new in
            // Where more came than went, an empty field says nothing.
            item.sharesFact(with: new, besidesUnset: !areAsMany)
        }
    }

    /// The new items, in any place, that have half of the words of a long text of a removed item: a side
    /// may have moved what both renamed.
    private func distantSuccessors(
        of removed: [Int],
        _ ours: [Value],
        _ theirs: [Value]
    ) -> [Successors] {
        guard [removed.count, ours.count, theirs.count].allSatisfy({ $0 <= Self.successorsMax })
        else { return [] }
        var (ours, theirs) = (ours, theirs)
        return pairs(of: removed, &ours, &theirs) { $0.sharesText(with: $1) }
    }

    /// The first new item of each side that is like a removed one, each taken once.
    private func pairs(
        of removed: [Int],
        _ ours: inout [Value],
        _ theirs: inout [Value],
        _ isLike: (_ item: Value, _ new: Value) -> Bool
    ) -> [Successors] {
        removed.compactMap { position in
            let item = base[position]
            guard let our = ours.firstIndex(where: { isLike(item, $0) }),
                let their = theirs.firstIndex(where: { isLike(item, $0) })
            else { return nil }
            return (position, Sides(ours: ours.remove(at: our), theirs: theirs.remove(at: their)))
        }
    }

    /// The last segment before each one that a side kept.
    private func keptBefore(_ side: Side) -> [Int?] {
        var last: Int?
        return (0..<plan.segments.count).map { segment in
            defer { if !plan.side(side).isRemoved(segment) { last = segment } }
            return last
        }
    }

    /// The segments next to each other that both sides removed.
    private var removedRuns: [Range<Int>] {
        func isGone(_ segment: Int) -> Bool {
            plan.ours.isRemoved(segment) && plan.theirs.isRemoved(segment)
        }
        var runs: [Range<Int>] = []
        var segment = 0
        while segment < plan.segments.count {
            let start = segment
            while segment < plan.segments.count, isGone(segment) { segment += 1 }
            if start < segment { runs.append(start..<segment) }
            segment += 1
        }
        return runs
    }

    /// The new items of a side in their order, by the segment that stands before them.
    private func newItems(of side: Side, except twins: Set<Int>) -> [Int?: [Value]] {
        let list = plan.side(side)
        var items: [Int?: [Value]] = [:]
        for (place, value) in list.inserted where !twins.contains(place) {
            items[list.anchor(of: place), default: []].append(value)
        }
        return items
    }

    private func inOrder(_ items: [Int?: [Value]]) -> [Value] {
        items.sorted { ($0.key ?? -1) < ($1.key ?? -1) }.flatMap(\.value)
    }
}

extension Value {
    /// This value, and all in it.
    fileprivate var withParts: [Value] { [self] + parts.flatMap { $0.value.withParts } }

    private static let keptMin = 0.5

    /// Whether two records have one value in a field that is no usual name, or half of the words of
    /// a long text.
    fileprivate func sharesFact(with other: Value, besidesUnset: Bool = false) -> Bool {
        guard case .map(let map) = self else { return false }
        return map.contains { entry in
            guard !ItemIdentity.isUsual(entry.key), entry.value != .null,
                !(besidesUnset && entry.value.isUnset), let value = other[entry.key]
            else { return false }
            return value == entry.value || entry.value.sharesWords(with: value)
        }
    }

    /// Whether two records have half of the words of a long text in a field that is no usual name.
    fileprivate func sharesText(with other: Value) -> Bool {
        guard case .map(let map) = self else { return false }
        return map.contains { entry in
            !ItemIdentity.isUsual(entry.key)
                && other[entry.key].map(entry.value.sharesWords) ?? false
        }
    }

    private func sharesWords(with other: Value) -> Bool {
        guard text != nil, other.text != nil, isDistinctive else { return false }
        return Resemblance(self).score(with: Resemblance(other)) >= Self.keptMin
    }
}
