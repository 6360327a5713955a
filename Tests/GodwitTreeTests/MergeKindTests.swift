import GodwitTestKit
import GodwitTree
import Testing

/// Merges of lists that are one value, of arguments, cells, code and texts that look like versions:
/// the result holds nothing that neither side wrote, and the merge reports what it decided.
@Suite struct MergeKindTests {
    private func merge(_ base: Value, _ ours: Value, _ theirs: Value) -> Merge {
        Merge(base: base, ours: ours, theirs: theirs)
    }

    // MARK: - Whole lists

    private static let replaced: [(Value, Value, Value)] = [
        ([[0, 0], [1, 0], [1, 1]], [[5, 5], [6, 5], [6, 6], [7, 7]], [[8, 8], [9, 8]]),
        ([[5.0, 5.0], [6.0, 6.0]], [5.5, 5.5], [[5.0, 5.0], [6.0, 6.0], [8.0, 8.0]]),
        (["Ann", "Ben"], [["name": "Ann"], ["name": "Ben"]], ["Ann", "Ben", "Cy"]),
        (["python", "a.py"], ["node", "b.js", "--x"], ["go"]),
        ([["id": 1], ["id": 2]], [1, 2, 3], [["id": 1], ["id": 2], ["id": 4]]),
        ([10.0, 50.0], [10.1, 50.1, 7], [10.2, 50.0]),
        ([10.0, 50.0, 3.0], [10.1, 50.1], [10.0, 50.0, 4.0]),
    ]

    @Test(arguments: replaced)
    func `of two lists that exclude each other one is taken, and reported`(
        base: Value,
        first: Value,
        second: Value
    ) {
        for (ours, theirs) in [(first, second), (second, first)] {
            let merge = merge(base, ours, theirs)
            #expect(merge.value == ours || merge.value == theirs)
            #expect(merge.conflicts.map(\.path) == [ValuePath([])])
        }
    }

    @Test func `records that one side replaced and those that the other added are all there`() {
        let merge = merge([["id": 1]], [["id": 2], ["id": 3]], [["id": 1], ["id": 4]])
        #expect(merge.value == [["id": 2], ["id": 3], ["id": 4]])
    }

    @Test func `one that only removes does not contest a list that the other replaced`() {
        let merge = merge(["a", "b", "c"], ["d", "e"], ["a", "c"])
        #expect(merge.value == ["d", "e"] && merge.conflicts.isEmpty)
    }

    @Test func `a point to which one side adds a height can be moved by the other`() {
        let merge = merge([10.0, 50.0], [10.0, 50.0, 7.0], [10.2, 50.0])
        #expect(merge.value == [10.2, 50.0, 7.0] && merge.conflicts.isEmpty)
    }

    @Test func `lines that one side swaps and the other edits are those of one side`() {
        let (base, swapped): (Value, Value) = ("a\nb\nc\nd\n", "b\na\nc\nd\n")
        for (ours, theirs) in [(swapped, "a\nb2\nc\nd\n"), ("a\nb2\nc\nd\n", swapped)] {
            let merge = merge(base, ours, theirs)
            #expect(merge.value == ours || merge.value == theirs)
            #expect(merge.conflicts.map(\.reason) == [.bothRewrote])
        }
    }

    // MARK: - Arguments

    @Test func `each option keeps its argument`() {
        let run = merge(
            ["run", "img"],
            ["run", "-e", "A=1", "img"],
            ["run", "-e", "B=2", "img"]
        )
        #expect(run.value == ["run", "-e", "A=1", "-e", "B=2", "img"])
        let host = merge(
            ["--port", "80"],
            ["--port", "80", "--host", "x"],
            ["--port", "80", "--host", "y"]
        )
        #expect(host.value == ["--port", "80", "--host", "x", "--host", "y"])
        let same = merge(["run", "img"], ["run", "-v", "img"], ["run", "-v", "img"])
        #expect(same.value == ["run", "-v", "img"])
    }

    // MARK: - Cells

    @Test func `cells of a row that repeats itself are merged by their places`() {
        for seed in 0..<UInt64(20_000) {
            var random = Seeded(seed: seed)
            let kinds = Int.random(in: 2...4, using: &random)
            let count = Int.random(in: 5...12, using: &random)
            let base = (0..<count).map { _ in Int.random(in: 0..<kinds, using: &random) }
            guard Set(base).count < count else { continue }
            let sides = (0..<2).map { _ in
                var side = base
                for _ in 0..<2 {
                    side[Int.random(in: 0..<count, using: &random)] =
                        Int.random(in: 0..<kinds, using: &random)
                }
                return side
            }
            let merge = merge(Self.list(base), Self.list(sides[0]), Self.list(sides[1]))
            let contested = base.indices.filter { index in
                let values = Set([base[index], sides[0][index], sides[1][index]])
                return sides[0][index] != sides[1][index] && values.count == 3
            }
            #expect(merge.conflicts.count == contested.count, "seed \(seed)")
            guard let list = merge.value.list, list.count == count else {
                Issue.record("another length, seed \(seed)")
                continue
            }
            for index in base.indices where !contested.contains(index) {
                let wanted = sides[0][index] == base[index] ? sides[1][index] : sides[0][index]
                #expect(list[index] == .int(Int64(wanted)), "cell \(index) of seed \(seed)")
            }
        }
    }

    @Test(
        arguments: [
            (
                ["P", "P", "A", "P", "P"], ["P", "A", "A", "P", "P"], ["P", "A", "A", "P", "A"],
                ["P", "A", "A", "P", "A"]
            ),
            (
                ["ann", "", "", "", "bob"], ["ann", "x", "", "", "bob"],
                ["ann", "x", "", "y", "bob"], ["ann", "x", "", "y", "bob"]
            ),
            (
                [[0, 0], [0, 0], [0, 0]], [[0, 0], [0, 1], [0, 0]], [[0, 0], [0, 1], [3, 0]],
                [[0, 0], [0, 1], [3, 0]]
            ),
            (
                [["done": false], ["done": false], ["done": false]],
                [["done": false], ["done": true], ["done": false]],
                [["done": false], ["done": true], ["done": true]],
                [["done": false], ["done": true], ["done": true]]
            ),
        ] as [(Value, Value, Value, Value)]
    )
    func `cells of any kind are merged by their places`(
        base: Value,
        ours: Value,
        theirs: Value,
        merged: Value
    ) {
        for merge in [merge(base, ours, theirs), merge(base, theirs, ours)] {
            #expect(merge.value == merged && merge.conflicts.isEmpty)
        }
    }

    @Test func `a cell that both sides set is contested, and its neighbours are not`() {
        let merge = merge(
            ["P", "P", "P", "P", "P"],
            ["P", "A", "P", "P", "P"],
            ["P", "L", "P", "A", "P"]
        )
        #expect(["A", "L"].contains(merge.value.list?[1]) && merge.value.list?[3] == "A")
        #expect(merge.conflicts.map(\.reason) == [.bothSet])
        let numbers = self.merge([0, 0, 0, 0, 0], [1, 0, 0, 0, 1], [0, 0, 0, 0, ""])
        #expect(numbers.value.list?.count == 5 && numbers.conflicts.count == 1)
    }

    @Test func `a closed ring of points stays closed`() {
        let merge = merge(
            [[0, 0], [0, 5], [5, 5], [5, 0], [0, 0]],
            [[0, 5], [5, 5], [5, 0], [0, 0], [0, 5]],
            [[0, 0], [0, 6], [5, 5], [5, 0], [0, 0]]
        )
        #expect(merge.value.list?.first == merge.value.list?.last)
        #expect(merge.conflicts.map(\.reason) == [.bothSet])
    }

    private static func list(_ numbers: [Int]) -> Value {
        .list(Value.List(numbers.map { .int(Int64($0)) }))
    }

    // MARK: - Texts

    @Test(arguments: [
        ("isAdmin", "isAdmin && isOwner", "isAdmin || isOwner"),
        ("node app", "node app | tee log", "node app > tee log"),
        ("= total", "= a * b", "= a / b"), ("x is y", "x > y", "x < y"),
        ("Ann Lee", "Ann Lee <ann.lee@x.org>", "Ann Lee <annlee@x.org>"),
        ("folder a", "folder a/b", "folder ab"),
        ("Java developer", "C++ developer", "C# developer"),
        ("01.03.2026", "12.03.2026", "05.04.2026"), ("1.000.000", "1.200.000", "1.100.000"),
        ("<1.5", "<2.5", "<1.7"), ("3.9.0-slim", "3.9.18-alpine", "3.10.2-slim"),
    ])
    func `signs, dates, amounts, bounds and variants are contested, and reported`(
        base: String,
        first: String,
        second: String
    ) {
        for (ours, theirs) in [(first, second), (second, first)] {
            let merge = merge(.string(Key(base)), .string(Key(ours)), .string(Key(theirs)))
            #expect(merge.conflicts.count == 1)
            #expect([ours, theirs].contains(merge.value.text))
        }
    }

    @Test(arguments: [
        ("1.4.20", "2.0.0-alpha-5", "1.4.23", "2.0.0-alpha-5"),
        ("1.0.0", "1.2.0", "1.10.0", "1.10.0"),
        ("1.9.0", "2.0.0", "2.0.0-rc.1", "2.0.0"),
        ("1.9.0", "2.0.0-rc.2", "2.0.0-rc.10", "2.0.0-rc.10"),
        ("a multi class task", "A multi-class task.", "a multiclass, task", nil),
        ("well done", "Well done!", "well done.", nil),
        ("", "the folder, a/b by default", "The folder. a/b by default", nil),
    ])
    func `raised versions, and words with other points, are no conflict`(
        base: String,
        ours: String,
        theirs: String,
        wanted: String?
    ) {
        let merge = merge(.string(Key(base)), .string(Key(ours)), .string(Key(theirs)))
        #expect(merge.conflicts.isEmpty)
        if let wanted { #expect(merge.value.text == wanted) }
    }

    @Test func `a text that becomes a record beside a new item is edited`() throws {
        try expectMerge(
            #"["checkout","npm ci","npm test"]"#,
            #"["checkout",{"run":"npm ci"},"cache","npm test"]"#,
            #"["checkout","npm test"]"#,
            gives: #"["checkout",{"run":"npm ci"},"cache","npm test"]"#,
            isTold: true
        )
    }
}
