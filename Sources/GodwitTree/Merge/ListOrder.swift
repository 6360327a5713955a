// The order that a list is kept in.
//
// People and programs keep many lists sorted: by a name, a date, a number. Where the base and both
// sides are sorted by the same thing, what the sides insert next to each other is put in that
// order too; nothing else is moved.

/// An order that every side of a merge keeps.
struct ListOrder {
    private enum Collation: CaseIterable {
        case bytes, letters, alphanumerics
    }

    private let field: Key?
    private let collation: Collation
    private let isDescending: Bool

    /// How many items a list must have to be called sorted.
    private static let evidenceMin = 4

    /// Lists that people sort by hand are allowed one mistake in so many items.
    private static let errorRate = 50

    /// Returns nil when no new items of both sides meet, or the lists are in no order.
    init?(
        of base: Value.List,
        _ ours: ListDelta,
        _ theirs: ListDelta,
        _ order: [ListMerge.Item]
    ) {
        guard Self.hasMeetings(order), base.count >= Self.evidenceMin else { return nil }
        let sides = [ours, theirs].compactMap { try? Delta.list($0).applied(to: .list(base)).list }
        let lists = [Array(base)] + sides.map(Array.init)
        for field in Self.fields(of: lists) {
            for collation in Collation.allCases {
                for isDescending in [false, true] {
                    let isSorted = lists.allSatisfy {
                        Self.isSorted($0, field, collation, isDescending)
                    }
                    guard isSorted else { continue }
                    (self.field, self.collation, self.isDescending) =
                        (field, collation, isDescending)
                    return
                }
            }
        }
        return nil
    }

    /// Puts new items of both sides that stand next to each other in order; the items of one side
    /// keep theirs.
    func sort(_ items: inout [ListMerge.Item]) {
        var start = 0
        while start < items.count {
            var (ours, theirs): ([ListMerge.Item], [ListMerge.Item]) = ([], [])
            var end = start
            collecting: while end < items.count {
                switch items[end] {
                case .ours: ours.append(items[end])
                case .theirs: theirs.append(items[end])
                case .base, .twin: break collecting
                }
                end += 1
            }
            if !ours.isEmpty, !theirs.isEmpty {
                items.replaceSubrange(start..<end, with: merged(ours, theirs))
            }
            start = end + 1
        }
    }

    private func merged(
        _ ours: [ListMerge.Item],
        _ theirs: [ListMerge.Item]
    ) -> [ListMerge.Item] {
        var result: [ListMerge.Item] = []
        var rest = theirs[...]
        for our in ours {
            while let their = rest.first, isBefore(rank(their), rank(our)) {
                result.append(their)
                rest.removeFirst()
            }
            result.append(our)
        }
        return result + rest
    }

    private func rank(_ item: ListMerge.Item) -> Rank? {
        item.newValue.flatMap { Self.rank($0, field, collation) }
    }

    private func isBefore(_ left: Rank?, _ right: Rank?) -> Bool {
        guard let left, let right else { return false }
        return isDescending ? right < left : left < right
    }

    private static func hasMeetings(_ order: [ListMerge.Item]) -> Bool {
        zip(order, order.dropFirst()).contains { first, second in
            switch (first, second) {
            case (.ours, .theirs), (.theirs, .ours): true
            default: false
            }
        }
    }

    /// What the lists may be sorted by: the items themselves, or a field that all of them have.
    private static func fields(of lists: [[Value]]) -> [Key?] {
        guard let first = lists[0].first else { return [] }
        guard case .map(let map) = first else { return [nil] }
        return map.keys.filter { key in
            lists.allSatisfy { list in
                list.allSatisfy { $0[key].map { rank($0, nil, .bytes) != nil } ?? false }
            }
        }
    }

    private static func isSorted(
        _ items: [Value],
        _ field: Key?,
        _ collation: Collation,
        _ isDescending: Bool
    ) -> Bool {
        var last: Rank?
        var (rightCount, wrongCount) = (0, 0)
        for item in items {
            guard let rank = rank(item, field, collation) else { return false }
            defer { last = rank }
            guard let last, last != rank else { continue }
            if (rank < last) == isDescending { rightCount += 1 } else { wrongCount += 1 }
            guard wrongCount * Self.errorRate <= items.count else { return false }
        }
        return rightCount * 2 >= items.count - 1
    }

    private static func rank(_ item: Value, _ field: Key?, _ collation: Collation) -> Rank? {
        switch field.map({ item[$0] }) ?? item {
        case .int(let int)?: return .number(Double(int))
        case .double(let double)?: return .number(double.double)
        case .string(let text)?: return .text(collated(text, collation))
        default: return nil
        }
    }

    /// Of ASCII letters only: those of all others depend on the version of Unicode.
    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func collated(_ text: Key, _ collation: Collation) -> [UInt8] {
        switch collation {
        case .bytes: return Array(text.text.utf8)
        case .letters: return text.text.utf8.map(lowercased)
        case .alphanumerics:
            return text.text.utf8.map(lowercased).filter { byte in
                byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
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
    fileprivate var newValue: Value? {
        switch self {
        case .base, .twin: nil
        case .ours(_, let value), .theirs(_, let value): value
        }
    }
}
