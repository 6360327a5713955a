import GodwitTestKit
import GodwitTree

// A list for laws of merging: zones of five items, with a guard between them that no side touches.
//
// Each side does one thing in each zone, so that the smallest change from the base is the one that
// it made: which item moved, and which stayed, is then no matter of taste. No two items resemble
// each other, and the list is in no order.

/// What the items of a list are.
enum ItemStyle: CaseIterable {
    /// Ints; or strings, all different.
    case numbers, words
    /// Maps with an `id`; or without one.
    case keyed, unnamed

    var isRecord: Bool { self == .keyed || self == .unnamed }

    /// An item that no other resembles, with what the sides have edited in it.
    func item(_ number: Int, ours: Int = 0, theirs: Int = 0) -> Value {
        let scrambled = number * 7_919 % 100_003
        let word = String(UInt64(scrambled) &* 0x9e37_79b9_7f4a_7c15 >> 20, radix: 36)
        switch self {
        case .numbers: return .int(Int64(scrambled))
        case .words: return .string(Key(word))
        case .keyed, .unnamed:
            var map: Value.Map = [
                "title": .string(Key("\(word) u\(word) v\(word) w\(word)")),
                "mass": .int(Int64(ours)), "width": .int(Int64(theirs)),
            ]
            if self == .keyed { map["id"] = .string(Key("k\(word)")) }
            return .map(map)
        }
    }
}

/// What one side does in one zone.
enum ZoneEdit: Hashable {
    case none
    /// A run of new items in a gap.
    case insert(count: Int, gap: Int)
    case remove(Range<Int>)
    case edit(Int)
    /// An item to a place at least two further on or back.
    case move(from: Int, to: Int)

    static let zoneSize = 5

    static func all(editing isRecord: Bool) -> [ZoneEdit] {
        let places = 0..<zoneSize
        let inserts = (0...zoneSize).flatMap { gap in
            [1, 3].map { ZoneEdit.insert(count: $0, gap: gap) }
        }
        let removes = places.flatMap { start in
            [1, 2].filter { start + $0 <= zoneSize }.map { ZoneEdit.remove(start..<(start + $0)) }
        }
        let moves = places.flatMap { from in
            places.filter { abs($0 - from) >= 2 }.map { ZoneEdit.move(from: from, to: $0) }
        }
        return [.none] + inserts + removes + moves + (isRecord ? places.map { .edit($0) } : [])
    }
}

/// What both sides do in one zone.
struct ZonePair: CustomStringConvertible {
    let ours: ZoneEdit
    let theirs: ZoneEdit

    var description: String { "(\(ours) and \(theirs))" }

    /// Whether one side removes what the other edits, so that a conflict is due.
    var isContested: Bool {
        switch (ours, theirs) {
        case (.remove(let range), .edit(let place)), (.edit(let place), .remove(let range)):
            range.contains(place)
        default: false
        }
    }

    /// Whether a conflict may be reported.
    var mayConflict: Bool {
        if case (.move(let our, _), .move(let their, _)) = (ours, theirs) { return our == their }
        return isContested
    }
}

/// A base and both sides, by the numbers of their items.
struct ListZones {
    let style: ItemStyle
    let pairs: [ZonePair]
    private(set) var base: [Int] = []
    private(set) var ours: [Int] = []
    private(set) var theirs: [Int] = []
    /// Runs that one side inserted together.
    private(set) var runs: [[Int]] = []
    private(set) var moved: Set<Int> = []
    /// The items that one side alone moved, and whether that was ours.
    private(set) var movedByOne: [Int: Bool] = [:]
    private(set) var editedByOurs: Set<Int> = []
    private(set) var editedByTheirs: Set<Int> = []

    init(_ style: ItemStyle, _ pairs: [ZonePair]) {
        (self.style, self.pairs) = (style, pairs)
        for (zone, pair) in pairs.enumerated() {
            let first = zone * (ZoneEdit.zoneSize + 1)
            let items = Array((first + 1)...(first + ZoneEdit.zoneSize))
            base += [first] + items
            ours += [first] + apply(pair.ours, to: items, new: 30_000 + zone * 3, isOurs: true)
            theirs += [first] + apply(pair.theirs, to: items, new: 60_000 + zone * 3, isOurs: false)
        }
        let last = pairs.count * (ZoneEdit.zoneSize + 1)
        base.append(last)
        ours.append(last)
        theirs.append(last)
    }

    private mutating func apply(_ edit: ZoneEdit, to items: [Int], new: Int, isOurs: Bool) -> [Int]
    {
        var items = items
        switch edit {
        case .none: break
        case .insert(let count, let gap):
            let run = Array(new..<(new + count))
            runs.append(run)
            items.insert(contentsOf: run, at: gap)
        case .remove(let range): items.removeSubrange(range)
        case .edit(let place):
            if isOurs {
                editedByOurs.insert(items[place])
            } else {
                editedByTheirs.insert(items[place])
            }
        case .move(let source, let target):
            if moved.insert(items[source]).inserted {
                movedByOne[items[source]] = isOurs
            } else {
                movedByOne[items[source]] = nil
            }
            items.insert(items.remove(at: source), at: target)
        }
        return items
    }

    /// The items that the merge must have, each once.
    var expected: Set<Int> {
        let (inOurs, inTheirs) = (Set(ours), Set(theirs))
        let kept = base.filter { item in
            (inOurs.contains(item) || editedByTheirs.contains(item))
                && (inTheirs.contains(item) || editedByOurs.contains(item))
        }
        return Set(kept + runs.joined())
    }

    func item(_ number: Int, asOurs isOurs: Bool, asTheirs isTheirs: Bool) -> Value {
        style.item(
            number,
            ours: isOurs && editedByOurs.contains(number) ? 7 : 0,
            theirs: isTheirs && editedByTheirs.contains(number) ? 9 : 0
        )
    }

    func list(_ numbers: [Int], asOurs: Bool = false, asTheirs: Bool = false) -> Value {
        .list(numbers.map { item($0, asOurs: asOurs, asTheirs: asTheirs) })
    }

    var merge: Merge {
        Merge(
            base: list(base),
            ours: list(ours, asOurs: true),
            theirs: list(theirs, asTheirs: true)
        )
    }

    /// The numbers of the items of a merged list; nil for an item that is none of these.
    func numbers(of value: Value) -> [Int?] {
        let known = Dictionary(
            (base + runs.joined()).map { (item($0, asOurs: true, asTheirs: true), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        return (value.list ?? []).map { known[$0] }
    }
}
