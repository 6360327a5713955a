// Records between which values have gone from one to the other, with an edit of the other side.
//
//     base            ours            theirs
//     Monday  Legs    Monday  Back    Monday  Legs
//     Tuesday Back    Tuesday Legs    Tuesday Back, done
//
// Either the days changed places, or the exercises did: nothing else tells whether Tuesday is done, or the
// back. So the record is taken from ours, and the edit is reported, if
//
//   (1) all that ours changed in the record was in one other record alone, and is there no more; or what
//       it took out is now in one other record alone;
//   (2) just one field besides tells the two records apart;
//   (3) two records have changed their values, or no value is lost: cards that go on from `todo` to `doing`
//       exchange nothing. If there are more values than before, at least two have gone to other records.
//
// An `id`, and words as a usual name, say which record it is. Names and ids that are given anew are no such
// values, and neither are dates, times and numbers that go on from record to record beside words that stay:
// an appointment that is put off is still the same one.

extension MergedList {
    private static var changedMax: Int { 512 }

    /// The side that has put the values of another record into one that the other side edits, so that
    /// it may be the other one.
    func exchanger(of segment: Int, _ edits: Sides<Delta>) -> Side? {
        let item = base[plan.segments.ranges[segment].lowerBound]
        return Side.allCases.first { side in
            guard let exchange = Exchange(item, edits[side], edits[side.other]) else {
                return false
            }
            return exchange.isUnsure(in: base, among: changedItems(by: side, except: segment))
        }
    }

    /// The other records that a side changes; none if these are many.
    private func changedItems(by side: Side, except segment: Int) -> [ChangedItem] {
        let list = plan.side(side)
        let ranges = plan.segments.ranges
        var changed: [Int] = []
        var count = 0
        for index in ranges.indices where list.isRemoved(index) || list.edit(of: index) != .keep {
            count += ranges[index].count
            guard count <= Self.changedMax else { return [] }
            if index != segment { changed.append(index) }
        }
        let items = changed.flatMap { index in
            base[ranges[index]].map { item in
                ChangedItem(
                    old: item,
                    new: list.isRemoved(index) ? nil : item.changed(by: list.edit(of: index))
                )
            }
        }
        let inserted = list.inserted.prefix(Self.changedMax)
        return items + inserted.map { ChangedItem(old: nil, new: $0.value) }
    }
}

/// A record that a side changes: nil before it is there, and when it is gone.
private struct ChangedItem {
    let old: Value?
    let new: Value?
}

/// What a side has changed in a record that the other side edits.
private struct Exchange {
    private let old: Value.Map
    private let new: Value
    /// The fields that have other values; for a look at other records, those with values of these.
    private var fields: [Key]
    private let edited: Set<Key>

    private static let comparedMax = 512

    init?(_ item: Value, _ change: Delta, _ edit: Delta) {
        guard let old = item.map, case .map(let delta) = edit else { return nil }
        let new = item.changed(by: change)
        guard new.map != nil else { return nil }
        (self.old, self.new) = (old, new)
        let other = item.changed(by: edit)
        let changed = old.keys.filter { new[$0] != old[$0] }
        // What both sides have changed alike is no exchange of one of them.
        fields = changed.filter { other[$0] != new[$0] }
        edited = Set(delta.entries.map(\.key))
        let areFlags = fields.allSatisfy { old[$0]?.isFlag != false && new[$0]?.isFlag != false }
        if areFlags || changed.contains(where: ItemIdentity.isUsual) { return nil }
    }

    private func values(in item: Value) -> [Value?] { fields.map { item[$0] } }

    /// Whether values came from another record, or went to one, that one field alone tells from this one.
    ///
    /// Values that several records of the base have say nothing, and neither do those of a field in which
    /// each record got a value of its own: a mark that it was exchanged, or when.
    func isUnsure(in base: Value.List, among others: [ChangedItem]) -> Bool {
        var exchange = self
        exchange.fields = fields.filter { key in
            others.contains { other in
                let (before, after) = (other.old?[key], other.new?[key])
                return before != after
                    && (other.old != nil && before == new[key]
                        || other.new != nil && after == old[key])
            }
        }
        return !exchange.fields.isEmpty && exchange.comesFrom(others, in: base)
    }

    private func comesFrom(_ others: [ChangedItem], in base: Value.List) -> Bool {
        let (before, after) = (values(in: .map(old)), values(in: new))
        let records = others.filter { other in
            let (otherBefore, otherAfter) = (other.old.map(values), other.new.map(values))
            return otherBefore != otherAfter && (otherBefore == after || otherAfter == before)
        }
        let areSwapped = records.contains {
            $0.old.map(values) == after && $0.new.map(values) == before
        }
        guard areSwapped || !records.isEmpty && keepsValues(others) else { return false }
        let near =
            base.count <= Self.comparedMax ? Array(base) : others.compactMap(\.old) + [.map(old)]
        func isLone(_ values: [Value?]) -> Bool {
            near.count { self.values(in: $0) == values } == 1
        }
        let (areLone, wereLone) = (isLone(after), isLone(before))
        return records.contains { other in
            if areLone, let old = other.old, values(in: old) == after {
                return isUnsure(besides: old, others)
            }
            if wereLone, let new = other.new, values(in: new) == before {
                return isUnsure(besides: new, others)
            }
            return false
        }
    }

    /// Whether all values that these records had are in them still, in other ones (3).
    private func keepsValues(_ others: [ChangedItem]) -> Bool {
        let items = others + [ChangedItem(old: .map(old), new: new)]
        var counts: [[Value?]: Int] = [:]
        for item in items.compactMap(\.new) { counts[values(in: item), default: 0] += 1 }
        let isMore = items.count { $0.new != nil } > items.count { $0.old != nil }
        var movedCount = 0
        for item in items {
            guard let old = item.old.map(values) else { continue }
            counts[old, default: 0] -= 1
            if counts[old] ?? 0 < 0 { return false }
            if item.new.map(values) != old { movedCount += 1 }
        }
        return !isMore || movedCount > 1
    }

    private func isUnsure(besides record: Value, _ others: [ChangedItem]) -> Bool {
        let kept = old.filter { new[$0.key] == $0.value && record[$0.key] != $0.value }
        guard kept.count == 1, let name = kept.first, !edited.isSubset(of: [name.key]) else {
            return false
        }
        let areCounted = fields.allSatisfy {
            new[$0].map { $0.integer != nil || $0.isTime } ?? false
        }
        if ItemIdentity.isStrict(name.key) { return false }
        return !name.value.isWords || !name.isUsualName && !(areCounted && goOn(among: others))
    }

    /// Whether there are other values than before.
    private func goOn(among others: [ChangedItem]) -> Bool {
        Set((others.compactMap(\.old) + [.map(old)]).map(values))
            != Set((others.compactMap(\.new) + [new]).map(values))
    }
}

extension Value {
    /// Whether this is a text with letters, and no date or time.
    fileprivate var isWords: Bool {
        !isTime && text?.contains(where: \.isLetter) ?? false
    }

    fileprivate var isFlag: Bool {
        switch self {
        case .null, .bool: true
        default: false
        }
    }
}
