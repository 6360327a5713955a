import GodwitTestKit
import GodwitTree
import Testing

// Each test compares the least processor times of many runs of one thread, small and large by
// turns: other work of the machine lengthens some runs, and shortens none.

/// The cost of a merge of recorded changes is that of the changes, not that of the document.
@Suite(.serialized) struct MergeCostTests {
    /// How much longer a merge may take in what is ten times as large: there the trees are a level
    /// higher.
    private static let ratioMax = 2.0

    private static let tenths = Array(1...9)

    @Test(.timeLimit(.minutes(1)))
    func `two lists that were made anew are merged in a time that grows with their length`() {
        let count = 20_000
        func records(_ start: Int) -> [Value] {
            (start..<(start + count)).map {
                ["id": .int(Int64($0)), "n": .int(Int64($0 * 7)), "u": .string(Key("u\($0)"))]
            }
        }
        let (base, ours, theirs) = (records(0), records(30_000), records(60_000))
        let everyOther = base.indices.map { $0 % 2 == 0 ? theirs[$0] : base[$0] }
        let removed = base.indices.filter { $0 % 2 == 0 }.map { base[$0] }
        func mergedCount(_ ours: [Value], _ theirs: [Value]) -> Int? {
            let lists = [base, ours, theirs].map { Value.list(Value.List($0)) }
            return Merge(base: lists[0], ours: lists[1], theirs: lists[2]).value.list?.count
        }
        #expect(mergedCount(ours, theirs) == 2 * count)
        #expect(mergedCount(ours, removed) == count)
        #expect(mergedCount([], everyOther) == count / 2)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a first item with many fields does not make the search for an identity slow`() throws {
        let count: Int64 = 40_000
        func list(_ shift: Int64) -> Value {
            let fields = (0..<count).map { (Key("k\($0)"), Value.int($0 + shift)) }
            let items = (0..<count).map { ["q": .int($0 + shift)] as Value }
            return .list(Value.List([.map(Value.Map(fields))] + items))
        }
        let (base, new) = (list(0), list(1))
        #expect(try Delta.diff(base, new).applied(to: base) == new)
    }

    @Test func `a rename of many records costs in proportion to them`() throws {
        func records(_ count: Int, everyThird name: String) -> Value {
            let records = (0..<count).map { number -> Value in
                let title = number.isMultiple(of: 3) ? name : "title"
                return [
                    "title": .string(Key("\(title) \(number) of all")),
                    "who": .string(Key("person \(number) there")), "done": false,
                ]
            }
            return .list(Value.List(records))
        }
        func merge(_ count: Int) throws -> () -> Void {
            let (base, ours) = (
                records(count, everyThird: "title"), records(count, everyThird: "another")
            )
            var theirs = base
            _ = try theirs.edit { draft in
                for place in stride(from: 0, to: count, by: 5) { draft[place].done = true }
            }
            return { [theirs] in _ = Merge(base: base, ours: ours, theirs: theirs) }
        }
        let cost = CostRatio(small: try merge(1_000), large: try merge(8_000))
        #expect(cost.ratio < 16, "eight times as many: \(cost)")
    }

    @Test func `two appends to a list of fifty thousand items cost as to one of five thousand`()
        throws
    {
        try compare(
            Work(Self.list(5_000), Array(repeating: 5_000, count: 9), Self.insert),
            Work(Self.list(50_000), Array(repeating: 50_000, count: 9), Self.insert)
        )
    }

    @Test func `inserts of both sides into one gap of a long list cost as of a short one`() throws {
        try compare(
            Work(Self.list(5_000), Self.tenths.map { $0 * 500 }, Self.insert),
            Work(Self.list(50_000), Self.tenths.map { $0 * 5_000 }, Self.insert)
        )
    }

    @Test func `records that both sides put in cost as much as they are many`() throws {
        try compare(try Self.twins(100), try Self.twins(400), ratioMax: 9)
    }

    @Test func `two appends to a long list of numbers cost as to a short one`() throws {
        func numbers(_ count: Int) -> Value { .list((0..<count).map { .int(Int64($0)) }) }
        try compare(
            Work(numbers(5_000), Array(repeating: 5_000, count: 9), Self.insert),
            Work(numbers(50_000), Array(repeating: 50_000, count: 9), Self.insert)
        )
    }

    @Test func `two edits in a document of ten megabytes cost as in one of one megabyte`() throws {
        func change(_ side: Int, _ position: Int) throws -> Delta {
            let edit = ListDelta.Edit(
                position: position + side * 9,
                delta: .map(["crossed": .apply(.set(true))])
            )
            return try .map([Key("list\(side * 3)"): .apply(.list(ListDelta(edits: [edit])))])
        }
        try compare(
            Work(Self.document(700), Self.tenths.map { $0 * 70 }, change),
            Work(Self.document(7_000), Self.tenths.map { $0 * 700 }, change)
        )
    }

    @Test func `edits of four times as many moved items cost four times as much`() throws {
        try compare(Self.moves(200), Self.moves(800), ratioMax: 9)
    }

    @Test func `splices in a line without blanks cost as much as the line is long`() throws {
        try compare(Self.splices(40_000), Self.splices(160_000), ratioMax: 9)
    }

    /// Ours moves all items to another list, theirs gives each of them a field.
    @Test func `four times as many records that one may be a version of cost four times as much`()
        throws
    {
        try compare(try Self.rivals(150), try Self.rivals(600), ratioMax: 9)
    }

    /// A map of records that are much alike: one side replaces half of them by one, which may be any of
    /// these, and the other side edits them.
    private static func rivals(_ count: Int) throws -> Work {
        func record(_ number: Int, _ edit: Value = 0) -> Value {
            let same = (0..<19).map { (Key("f\($0)"), Value.int(Int64(1_000 + $0))) }
            return .map(Value.Map(same + [("own", .int(Int64(number))), ("edit", edit)]))
        }
        func map(_ numbers: Range<Int>, _ edit: Value = 0) -> Value.Map {
            Value.Map(numbers.map { (Key("key \($0)"), record($0, edit)) })
        }
        let base = map(0..<count)
        var ours = map((count / 2)..<count)
        ours["new"] = record(-1)
        var theirs = base
        for entry in map(0..<(count / 2), 7) { theirs[entry.key] = entry.value }
        return Work(.map(base), [0]) { side, _ in
            .diff(.map(base), .map(side == 1 ? ours : theirs))
        }
    }

    private static func moves(_ count: Int) throws -> Work {
        func items(isDone: Bool) -> Value {
            .list(
                (0..<count).map { number in
                    [
                        "id": .string(Key("item-\(number)")), "done": .bool(isDone),
                        "note": .string(Key("a note on \(number)")),
                    ]
                }
            )
        }
        let base: Value = ["open": items(isDone: false), "archive": []]
        let moved: Value = ["open": [], "archive": items(isDone: false)]
        let edited: Value = ["open": items(isDone: true), "archive": []]
        return Work(base, [0]) { side, _ in .diff(base, side == 1 ? moved : edited) }
    }

    /// Both sides put a letter behind each hundredth of a long word, one of them at the end only.
    private static func splices(_ count: Int) throws -> Work {
        try Work(.string(Key(String(repeating: "x", count: count))), [0]) { side, _ in
            let offsets = side == 1 ? Array(stride(from: 50, to: count, by: 100)) : [count - 1]
            return try .text(
                offsets.map { TextDelta.Splice(offset: $0, removed: 0, inserted: "y") }
            )
        }
    }

    @Test func `four times as many records that both sides replace cost four times as much`() throws
    {
        func records(_ side: String, _ count: Int) -> Value {
            .list(
                Value.List(
                    (0..<count).map { number in
                        [
                            "id": .string(Key("\(side)\(number)")),
                            "title": .string(Key("\(side) title \(number)")),
                            "team": .string(Key("team \(number)")),
                        ]
                    }
                )
            )
        }
        func merge(_ count: Int) -> () -> Void {
            let versions = ["b", "o", "t"].map { records($0, count) }
            return { _ = Merge(base: versions[0], ours: versions[1], theirs: versions[2]) }
        }
        let ratio = CostRatio(small: merge(5_000), large: merge(20_000))
        #expect(ratio.isLinear, "\(ratio)")
    }

    /// A text is one string, and a changed one is written anew: a merge costs a few copies of it, and
    /// nothing for each word.
    @Test func `two edits of a text of one megabyte cost less than counting its words`() throws {
        let words = (0..<150_000).map { "word\($0 % 997)" }.joined(separator: " ")
        func splice(_ offset: Int, _ text: String) throws -> Delta {
            try .text([TextDelta.Splice(offset: offset, removed: 0, inserted: text)])
        }
        let base = Value.string(Key(words))
        let (ours, theirs) = (try splice(400_000, "ours "), try splice(800_000, "theirs "))
        var (counting, merging) = (Double.infinity, Double.infinity)
        for _ in 0..<20 {
            counting = min(
                counting,
                CostRatio.cpuSeconds {
                    #expect(words.utf8.split(separator: UInt8(ascii: " ")).count == 150_000)
                }
            )
            merging = min(
                merging,
                try CostRatio.cpuSeconds { _ = try Merge(base: base, ours: ours, theirs: theirs) }
            )
        }
        #expect(merging < counting, "\(merging * 1e6) µs to \(counting * 1e6) µs")
    }

    // MARK: - Measuring

    private struct Work {
        let base: Value
        /// Changes of both sides in several places: chunks differ in size.
        let changes: [(ours: Delta, theirs: Delta)]

        init(
            _ base: Value,
            _ places: [Int],
            _ change: (_ side: Int, _ place: Int) throws -> Delta
        )
            rethrows
        {
            self.base = base
            changes = try places.map { try (change(1, $0), change(2, $0)) }
        }

        func run() throws {
            for change in changes {
                _ = try Merge(base: base, ours: change.ours, theirs: change.theirs)
            }
        }
    }

    private func compare(_ small: Work, _ large: Work, ratioMax: Double = Self.ratioMax) throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(5)
        var (least, leastLarge) = (Double.infinity, Double.infinity)
        for round in 0..<50 where round < 2 || clock.now < end {
            least = min(least, try CostRatio.cpuSeconds { try small.run() })
            leastLarge = min(leastLarge, try CostRatio.cpuSeconds { try large.run() })
        }
        let ratio = leastLarge / least
        let (microseconds, count) = (1e6 * least, Double(small.changes.count))
        #expect(
            ratio < ratioMax,
            "\(microseconds / count) µs a merge in the small one, \(ratio) times that in the large"
        )
    }

    private static func list(_ count: Int) -> Value {
        .list(
            (0..<count).map { number in
                ["id": .string(Key("item-\(number * 7_919 % 100_003)")), "n": .int(Int64(number))]
            }
        )
    }

    private static func insert(_ side: Int, at position: Int) throws -> Delta {
        let value: Value = ["id": .string(Key("new-\(side)")), "n": .int(Int64(-side))]
        return try .list(ListDelta(inserts: [ListDelta.Insert(position: position, value: value)]))
    }

    /// New records all over a list, which both sides put in, each with a note of its own.
    private static func twins(_ count: Int) throws -> Work {
        func record(_ name: String, _ note: String) -> Value {
            ["id": .string(Key(name)), "kind": "task", "note": .string(Key(note))]
        }
        let base = Value.list((0..<(40 * count)).map { record("item-\($0)", "\($0)") })
        return try Work(base, [0]) { side, _ in
            let inserts = (0..<count).map { number in
                let value = record("new-\(number)", "of side \(side)")
                return ListDelta.Insert(position: 41 * number, value: value)
            }
            return try .list(ListDelta(inserts: inserts))
        }
    }

    /// Ten lists of so many items, of about 140 bytes each as JSON.
    private static func document(_ count: Int) -> Value {
        let note = String(repeating: "a note of some length ", count: 4)
        let item: (Int) -> Value = { number in
            [
                "id": .string(Key("item-\(number)")), "note": .string(Key("\(number) \(note)")),
                "n": .int(Int64(number)),
            ]
        }
        let lists = (0..<10).map { list in
            (Key("list\(list)"), Value.list((0..<count).map { item($0 + list * count) }))
        }
        return .map(Value.Map(lists))
    }
}
