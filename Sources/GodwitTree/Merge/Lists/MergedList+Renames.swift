// Records that both sides removed, with another record of each side in the same place.
//
// Each side may have given the record another name, or both may have removed it and put in records of
// their own. Both records stay, and a conflict says so if each has a value of the removed one, besides
// its name, or half of the words of a long text; and if the removed one was not moved.

/// A record that both sides may have renamed.
struct Rename {
    let list: MergedList
    let conflict: Conflict
}

extension Merger {
    /// Reports the records that are not found elsewhere.
    func reportRenames() {
        guard !renames.isEmpty else { return }
        let arrived = Set(agreed.flatMap(\.newValues).map(ItemContent.init))
        for rename in renames where !found.contains(rename.conflict.path) {
            if let record = rename.conflict.base, arrived.contains(ItemContent(record)) { continue }
            rename.list.reports.append(rename.conflict)
        }
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
        var renames: [Rename] = []
        let ours = newItems(of: .ours, except: Set(twins.values))
        let theirs = newItems(of: .theirs, except: Set(twins.keys))
        let kept = Sides(ours: Side.ours, theirs: .theirs).map(keptBefore)
        for run in runs {
            guard let ours = ours[kept.ours[run.lowerBound]],
                let theirs = theirs[kept.theirs[run.lowerBound]]
            else { continue }
            let removed = plan.segments.ranges[run].flatMap { $0 }
            for (position, sides) in successors(of: removed, ours, theirs) {
                let versions = MergeVersions(base: base[position], sides: sides.map { $0 })
                let conflict = Conflict(.bothSet, versions, .both, place.child(.position(position)))
                renames.append(Rename(list: self, conflict: conflict))
            }
        }
        return renames
    }

    /// How many new items are looked at for one that is gone.
    private static var successorsMax: Int { 16 }

    /// The new items of both sides that may be what became of a removed one: among a few each that has a
    /// value of it, among many those in the same places.
    private func successors(
        of removed: [Int],
        _ ours: [Value],
        _ theirs: [Value]
    ) -> [(position: Int, sides: Sides<Value>)] {
        let counts = [removed.count, ours.count, theirs.count]
        guard counts.allSatisfy({ $0 <= Self.successorsMax }) else {
            guard Set(counts).count == 1 else { return [] }
            return zip(removed, zip(ours, theirs)).compactMap { position, sides in
                let item = base[position]
                return item.sharesFact(with: sides.0) && item.sharesFact(with: sides.1)
                    ? (position, Sides(ours: sides.0, theirs: sides.1)) : nil
            }
        }
        var (ours, theirs) = (ours, theirs)
        let areAsMany = Set(counts).count == 1
        return removed.compactMap { position in
            // Where more came than went, an empty field says nothing.
            func isSuccessor(_ new: Value) -> Bool {
                base[position].sharesFact(with: new, besidesUnset: !areAsMany)
            }
            guard let our = ours.firstIndex(where: isSuccessor),
                let their = theirs.firstIndex(where: isSuccessor)
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

    private func sharesWords(with other: Value) -> Bool {
        guard text != nil, other.text != nil, isDistinctive else { return false }
        return Resemblance(self).score(with: Resemblance(other)) >= Self.keptMin
    }
}
