// The order that a list is kept in.
//
// People and programs keep many lists sorted: by a name, a date, a number, a version. Where nine
// of ten neighbours near the place keep one order in the base and on both sides, what the sides
// insert next to each other, or put in the place of a scalar, is put in that order too; nothing else
// is moved.

/// An order that every side of a merge keeps.
struct ListOrder {
    private enum Collation: CaseIterable {
        case bytes, letters, natural, alphanumerics
    }

    private let field: Key?
    private let collation: Collation
    private let isDescending: Bool

    /// How many items, at least, must show the order.
    private static let evidenceMin = 3
    /// How many neighbours on each side are looked at.
    private static let neighboursMax = 32

    /// Puts new items of both sides that stand next to each other in the list's order, if it has
    /// one; the items of one side keep theirs.
    static func sortMeetings(
        _ order: inout [ListMerge.Item],
        _ plan: ListMerge,
        _ base: Value.List
    ) {
        var start = 0
        while start < order.count {
            var sides = Sides<[ListMerge.Item]>(both: [])
            var end = start
            while end < order.count, let side = order[end].onlySide(in: plan, base) {
                sides[side].append(order[end])
                end += 1
            }
            if !sides.ours.isEmpty, !sides.theirs.isEmpty,
                order[start..<end].contains(where: \.isNew)
            {
                let sample = MeetingSample(order, start..<end, plan, base)
                if let sorting = ListOrder(of: sample.versions) {
                    let sorted = sorting.merged(sides, plan, base)
                    order.replaceSubrange(start..<end, with: sorted)
                }
            }
            start = end + 1
        }
    }

    /// Returns nil when the lists are in no order.
    private init?(of lists: [[Value]]) {
        guard lists.allSatisfy({ $0.count >= Self.evidenceMin }) else { return nil }
        var best: (part: Double, order: ListOrder)?
        for field in Self.fields(of: lists) {
            for collation in Collation.allCases {
                for isDescending in [false, true] {
                    let order = ListOrder(field, collation, isDescending)
                    let part = lists.map { order.sortedPart(of: $0) }.min() ?? 0
                    if part >= Self.partMin, part > best?.part ?? 0 { best = (part, order) }
                }
            }
        }
        guard let best else { return nil }
        self = best.order
    }

    private static let partMin = 0.9
    private static let stepsMin = 2

    private init(_ field: Key?, _ collation: Collation, _ isDescending: Bool) {
        (self.field, self.collation, self.isDescending) = (field, collation, isDescending)
    }

    private func merged(
        _ sides: Sides<[ListMerge.Item]>,
        _ plan: ListMerge,
        _ base: Value.List
    ) -> [ListMerge.Item] {
        func rank(_ item: ListMerge.Item) -> Rank? {
            item.newValue(plan, base).flatMap { self.rank(of: $0) }
        }
        var result: [ListMerge.Item] = []
        var rest = sides.theirs[...]
        for our in sides.ours {
            while let their = rest.first, isBefore(rank(their), rank(our)) {
                result.append(their)
                rest.removeFirst()
            }
            result.append(our)
        }
        return result + rest
    }

    private func isBefore(_ left: Rank?, _ right: Rank?) -> Bool {
        guard let left, let right else { return false }
        return isDescending ? right < left : left < right
    }

    /// The fields by which the lists may be sorted, each of which all items have; nil stands for
    /// the items themselves.
    private static func fields(of lists: [[Value]]) -> [Key?] {
        guard let first = lists[0].first else { return [] }
        guard case .map(let map) = first else { return [nil] }
        return map.keys.filter { key in
            let order = ListOrder(key, .bytes, false)
            return lists.allSatisfy { list in
                list.allSatisfy { order.rank(of: $0) != nil }
            }
        }
    }

    /// The share of neighbours that are in order, of those that differ.
    private func sortedPart(of items: [Value]) -> Double {
        var last: Rank?
        var (right, wrong) = (0, 0)
        for item in items {
            guard let rank = rank(of: item) else { return 0 }
            if isBefore(rank, last) { wrong += 1 }
            if isBefore(last, rank) { right += 1 }
            last = rank
        }
        // Two groups show no order.
        return right < Self.stepsMin ? 0 : Double(right) / Double(right + wrong)
    }

    private func rank(of item: Value) -> Rank? {
        switch field.map({ item[$0] }) ?? item {
        case .int(let int)?: return .number(Double(int))
        case .double(let double)?: return .number(double.double)
        case .string(let text)?: return .text(Self.collated(text, collation))
        default: return nil
        }
    }

    private static let comparedMaxInBytes = 128

    private static func collated(_ text: Key, _ collation: Collation) -> [UInt8] {
        let bytes = Array(text.text.utf8.prefix(comparedMaxInBytes))
        switch collation {
        case .bytes: return bytes
        case .letters: return bytes.map(lowercased)
        case .natural: return natural(bytes)
        case .alphanumerics:
            return bytes.map(lowercased).filter { byte in
                byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        }
    }

    /// Numbers in front of the text by how many digits they have, so that 9 comes before 10.
    private static func natural(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let digits = bytes[position...].prefix {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
            if digits.isEmpty {
                result.append(bytes[position])
                position += 1
            } else {
                let significant = digits.drop { $0 == UInt8(ascii: "0") }
                result.append(UInt8(ascii: "0"))
                result.append(UInt8(min(255, significant.count)))
                result += significant
                position += digits.count
            }
        }
        return result
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The base and both sides around some new items.
    private struct MeetingSample {
        let versions: [[Value]]

        init(
            _ order: [ListMerge.Item],
            _ meeting: Range<Int>,
            _ plan: ListMerge,
            _ base: Value.List
        ) {
            var before: [ListMerge.Item] = []
            var count = 0
            for item in order[..<meeting.lowerBound].reversed() {
                guard count < neighboursMax else { break }
                before.append(item)
                count += item.count(plan)
            }
            var after: [ListMerge.Item] = []
            count = 0
            for item in order[meeting.upperBound...] {
                guard count < neighboursMax else { break }
                after.append(item)
                count += item.count(plan)
            }
            var behind = (plan.segments.end..<base.count).prefix(max(0, neighboursMax - count))
            if count >= neighboursMax { behind = behind.prefix(0) }
            let rest = behind.map { base[$0] }
            func values(of side: Side?) -> [Value] {
                let first = before.reversed().flatMap {
                    $0.values(of: side, plan, base, neighboursMax, fromEnd: true)
                }
                let items = order[meeting].flatMap {
                    $0.values(of: side, plan, base, neighboursMax, fromEnd: false)
                }
                let last = after.flatMap {
                    $0.values(of: side, plan, base, neighboursMax, fromEnd: false)
                }
                return first + items + last + rest
            }
            versions = [values(of: nil), values(of: .ours), values(of: .theirs)]
        }
    }
}

private enum Rank: Comparable {
    case number(Double)
    case text([UInt8])

    static func < (left: Rank, right: Rank) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): left < right
        case (.text(let left), .text(let right)): left.lexicographicallyPrecedes(right)
        case (.number, .text): true
        case (.text, .number): false
        }
    }
}

extension ListMerge.Item {
    fileprivate var isNew: Bool { if case .new = self { true } else { false } }

    /// The side that alone has this new item, or this scalar in the place of another one.
    fileprivate func onlySide(in plan: ListMerge, _ base: Value.List) -> Side? {
        switch self {
        case .base(let segment):
            guard plan.segments.ranges[segment].count == 1,
                base[plan.segments.ranges[segment].lowerBound].isScalar,
                !plan.ours.isRemoved(segment), !plan.theirs.isRemoved(segment)
            else { return nil }
            let isEdited = Sides(ours: plan.ours, theirs: plan.theirs).map {
                $0.edit(of: segment) != .keep
            }
            return isEdited.ours == isEdited.theirs ? nil : isEdited.ours ? .ours : .theirs
        case .new(let places):
            switch (places.ours, places.theirs) {
            case (_?, nil): return .ours
            case (nil, _?): return .theirs
            default: return nil
            }
        }
    }

    /// The value that the only side has.
    fileprivate func newValue(_ plan: ListMerge, _ base: Value.List) -> Value? {
        switch self {
        case .base(let segment):
            guard let side = onlySide(in: plan, base) else { return nil }
            let item = base[plan.segments.ranges[segment].lowerBound]
            return item.changed(by: plan.side(side).edit(of: segment))
        case .new(let places):
            return places.ours.flatMap { plan.ours.newValue(at: $0) }
                ?? places.theirs.flatMap { plan.theirs.newValue(at: $0) }
        }
    }

    fileprivate func count(_ plan: ListMerge) -> Int {
        if case .base(let segment) = self { plan.segments.ranges[segment].count } else { 1 }
    }

    /// The values of this item that the base, or a side, has; of many, some at one end.
    fileprivate func values(
        of side: Side?,
        _ plan: ListMerge,
        _ base: Value.List,
        _ countMax: Int,
        fromEnd: Bool
    ) -> [Value] {
        switch self {
        case .base(let segment):
            let range = plan.segments.ranges[segment]
            if let side, side == onlySide(in: plan, base) {
                return newValue(plan, base).map { [$0] } ?? []
            }
            return (fromEnd ? range.suffix(countMax) : range.prefix(countMax)).map { base[$0] }
        case .new(let places):
            guard let side, places[side] != nil else { return [] }
            return newValue(plan, base).map { [$0] } ?? []
        }
    }
}
