import GodwitTree
import Testing

/// Tables of which one side changes the columns, and the other side cells or rows.
@Suite struct MergeTableTests {
    /// A table with a header, as rows of cells.
    private struct Table {
        var rows: [[Value]]
        var width: Int { rows[0].count }

        /// As a list of rows.
        var rowList: Value { .list(Value.List(rows.map { .list(Value.List($0)) })) }

        /// As records with cells, and the header beside them.
        var records: Value {
            let records = rows.dropFirst().map { row -> Value in
                ["cells": .list(Value.List(row.map { ["value": $0] as Value }))]
            }
            return ["columns": .list(Value.List(rows[0])), "rows": .list(Value.List(records))]
        }

        /// As a list for each row, side by side.
        var lists: Value {
            var map: Value.Map = ["names": .list(Value.List(rows[0]))]
            for (number, row) in rows.dropFirst().enumerated() {
                map[Key("row \(number)")] = .list(Value.List(row))
            }
            return .map(map)
        }

        mutating func insertColumn(_ name: Value, _ cell: Value, at column: Int) {
            for row in rows.indices { rows[row].insert(row == 0 ? name : cell, at: column) }
        }

        mutating func removeColumn(_ column: Int) {
            for row in rows.indices { rows[row].remove(at: column) }
        }

        mutating func moveColumn(_ column: Int, to target: Int) {
            for row in rows.indices { rows[row].insert(rows[row].remove(at: column), at: target) }
        }

        /// The same with other cells, where these are named by row and column.
        func with(_ cell: Value, inRow row: Int, under name: Value) -> Table {
            var table = self
            if let column = rows[0].firstIndex(of: name) { table.rows[row][column] = cell }
            return table
        }
    }

    private static let forms: [@Sendable (Table) -> Value] = [
        { $0.rowList }, { $0.records }, { $0.lists },
    ]

    private static let header: [Value] = ["Name", "Mon", "Tue", "Wed"]

    private static let tables: [Table] = [
        [["Anna", 5, 6, 0], ["Bert", 7, 8, 0], ["Carl", 0, 9, 5]],
        [["Anna", "", "", ""], ["Bert", "", "x", ""], ["Carl", "", "", ""]],
        [
            ["Anna", true, false, false], ["Bert", false, false, true],
            ["Carl", false, true, false],
        ],
        [
            ["Anna", .null, "555", .null], ["Bert", .null, .null, .null],
            ["Carl", .null, .null, "7"],
        ],
    ].map { Table(rows: [header] + $0) }

    private func expect(
        _ base: Table,
        _ ours: Table,
        _ theirs: Table,
        gives wanted: Table,
        isTold: Bool = false,
        in forms: [@Sendable (Table) -> Value] = Self.forms,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for form in forms {
            for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
                let merge = merge(form(base), form(ours), form(theirs))
                #expect(merge.value == form(wanted), sourceLocation: location)
                #expect(merge.conflicts.isEmpty != isTold, sourceLocation: location)
            }
        }
    }

    private static let fillings: [Value] = [0, "", .null, false, "x"]

    /// Expects each edit of a cell in its column, beside another change of the columns.
    private func expectEachEdit(
        of base: Table,
        beside changed: Table,
        in forms: [@Sendable (Table) -> Value] = Self.forms,
        isTold: (Int) -> Bool = { _ in false }
    ) {
        for row in 1..<base.rows.count {
            // The first column has the names of the rows.
            for column in 1..<base.width {
                let name = base.rows[0][column]
                for cell in Self.fillings where cell != base.rows[row][column] {
                    let edited = base.with(cell, inRow: row, under: name)
                    let wanted = changed.with(cell, inRow: row, under: name)
                    expect(base, changed, edited, gives: wanted, isTold: isTold(column), in: forms)
                }
            }
        }
    }

    @Test(arguments: tables.indices, fillings)
    func `a cell that one side edits stays under its name where the other side puts in a column`(
        index: Int,
        filling: Value
    ) {
        let base = Self.tables[index]
        for column in 0...base.width {
            var wider = base
            wider.insertColumn("New", filling, at: column)
            expectEachEdit(of: base, beside: wider)
        }
    }

    @Test(arguments: tables.indices)
    func `a cell that one side edits stays under its name where the other removes a column`(
        index: Int
    ) {
        let base = Self.tables[index]
        for column in 1..<base.width {
            var narrower = base
            narrower.removeColumn(column)
            expectEachEdit(of: base, beside: narrower) { $0 == column }
        }
    }

    @Test(arguments: tables.indices)
    func `a cell that one side edits stays under its name where the other moves a column`(
        index: Int
    ) {
        let base = Self.tables[index]
        for (column, target) in [(1, 2), (1, 3), (3, 1), (2, 3)] {
            var moved = base
            moved.moveColumn(column, to: target)
            expectEachEdit(of: base, beside: moved, in: Array(Self.forms.prefix(2)))
        }
    }

    @Test(arguments: tables.indices)
    func `two columns with different names are both there, in one order in all rows`(index: Int) {
        let base = Self.tables[index]
        for (ourColumn, theirColumn) in [(4, 4), (2, 2), (1, 4), (3, 2)] {
            var (ours, theirs) = (base, base)
            ours.insertColumn("Sat", "", at: ourColumn)
            theirs.insertColumn("Sun", "", at: theirColumn)
            for form in Self.forms.indices {
                let form = Self.forms[form]
                let merge = merge(form(base), form(ours), form(theirs))
                var wanted = base
                wanted.insertColumn("Sat", "", at: ourColumn)
                let target = theirColumn + (theirColumn >= ourColumn ? 1 : 0)
                wanted.insertColumn("Sun", "", at: target)
                #expect(merge.value == form(wanted))
                #expect(merge.conflicts.isEmpty)
            }
        }
    }

    @Test func `a column that both sides put in is there once, and its contested cells are told`() {
        let base = Self.tables[0]
        var (ours, theirs) = (base, base)
        ours.insertColumn("Sum", 0, at: 4)
        theirs.insertColumn("Sum", 0, at: 4)
        expect(base, ours, theirs, gives: ours)
        let filled = ours.with(11, inRow: 1, under: "Sum")
        for form in Self.forms {
            for (ours, theirs) in [(filled, theirs), (theirs, filled)] {
                let merge = merge(form(base), form(ours), form(theirs))
                #expect(merge.conflicts.count == 1)
                #expect([form(ours), form(theirs)].contains(merge.value))
            }
        }
    }

    @Test func `a row that one side puts in gets the other side's columns`() {
        let base = Self.tables[0]
        var (longer, wider) = (base, base)
        longer.rows.append(["Dora", 1, 2, 3])
        wider.insertColumn("Sat", 0, at: 2)
        var wanted = wider
        wanted.rows.append(["Dora", 1, 0, 2, 3])
        expect(base, longer, wider, gives: wanted, in: Array(Self.forms.prefix(2)))
        var moved = base
        moved.moveColumn(1, to: 3)
        var wantedMoved = moved
        wantedMoved.rows.append(["Dora", 2, 3, 1])
        expect(base, longer, moved, gives: wantedMoved, in: Array(Self.forms.prefix(2)))
        var narrower = base
        narrower.removeColumn(2)
        var wantedNarrower = narrower
        wantedNarrower.rows.append(["Dora", 1, 3])
        let forms = Array(Self.forms.prefix(2))
        expect(base, longer, narrower, gives: wantedNarrower, isTold: true, in: forms)
    }

    @Test func `lists of which one is longer than the others are merged item by item`() {
        let base: Value = ["labels": ["Jan", "Feb"], "values": [9, 7]]
        let merge = merge(
            base,
            ["labels": ["Jan", "Feb", "Mar"], "values": [9, 7]],
            ["labels": ["Jan", "Feb", "Apr"], "values": [9, 7, 3]]
        )
        #expect(merge.value["labels"]?.list?.count == 4)
        #expect(merge.value["values"] == [9, 7, 3])
    }

    @Test func `values that both sides append to a chart stay at their labels`() {
        func chart(_ labels: Value, _ values: Value) -> Value {
            ["labels": labels, "values": values]
        }
        let merge = merge(
            chart(["Jan", "Feb", "Mar"], [9, 7, 5]),
            chart(["Jan", "Feb", "Mar", "Apr"], [9, 7, 5, 0]),
            chart(["Jan", "Feb", "Mar", "May"], [9, 7, 5, 2])
        )
        #expect(merge.value == chart(["Jan", "Feb", "Mar", "Apr", "May"], [9, 7, 5, 0, 2]))
        #expect(merge.conflicts.isEmpty)
    }

    /// Rows of cells that nothing names.
    private static func grid(_ rows: [[Value]]) -> Value {
        .list(Value.List(rows.map { .list(Value.List($0)) }))
    }

    @Test(arguments: [[3, 3], [2, 4], [4, 2]])
    func `a thing that moves in a grid leaves all other cells where they are`(size: [Int]) {
        let places = (0..<size[0]).flatMap { row in (0..<size[1]).map { [row, $0] } }
        func grid(_ things: [[Int]: Value]) -> Value {
            Self.grid(
                (0..<size[0]).map { row in (0..<size[1]).map { things[[row, $0]] ?? .null } }
            )
        }
        for source in places {
            for target in places where target != source {
                for place in places where place != source && place != target {
                    let merge = merge(
                        grid([source: "Anna"]),
                        grid([target: "Anna"]),
                        grid([source: "Anna", place: "Bert"])
                    )
                    #expect(merge.value == grid([target: "Anna", place: "Bert"]))
                    #expect(merge.conflicts.isEmpty)
                }
            }
        }
    }

    @Test func `rows that move in a table of words take an edit along`() {
        let rows: [[Value]] = [["big", "large"], ["small", "tiny"], ["quick", "fast"]]
        let merge = merge(
            Self.grid(rows),
            Self.grid([rows[2], rows[0], rows[1]]),
            Self.grid([rows[0], ["small", "little"], rows[2]])
        )
        #expect(merge.value == Self.grid([rows[2], rows[0], ["small", "little"]]))
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `both sides' cuts of neighbouring runs of a text stay in the order of the text`() {
        func text(_ runs: [Value]) -> Value { ["children": .list(Value.List(runs))] }
        let (before, after): (Value, Value) = (
            ["text": "Our office is closed on Friday. "], ["text": "Please call us.", "bold": true]
        )
        let (please, call): (Value, Value) = (
            ["text": "Please call ", "bold": true, "italic": true], ["text": "us.", "bold": true]
        )
        let cut: [Value] = [
            ["text": "Our office is "], ["text": "closed", "italic": true],
            ["text": " on Friday. "],
        ]
        let base = text([before, after])
        for (ours, theirs) in [
            (text([before, please, call]), text(cut + [after])),
            (text(cut + [after]), text([before, please, call])),
        ] {
            #expect(merge(base, ours, theirs).value == text(cut + [please, call]))
        }
    }

    @Test func `both sides' points of a year of days stay at their days`() {
        func chart(_ days: [Int64]) -> Value {
            [
                "days": .list(Value.List(days.map { .int($0) })),
                "values": .list(Value.List(days.map { .int($0 * $0 % 7) })),
            ]
        }
        let days = Array(Int64(100)..<500)
        let (ours, theirs) = (days + [501, 502], [90, 91] + days + [503])
        let merged = merge(chart(days), chart(ours), chart(theirs)).value
        #expect(merged == chart([90, 91] + days + [501, 502, 503]))
    }

    @Test func `sorted words beside records with as many items stay sorted`() {
        func board(_ tags: Value, _ steps: Value) -> Value {
            ["tags": tags, "cards": [["title": "Paint the fence", "steps": steps]]]
        }
        let tags: Value = ["ash", "fir", "oak"]
        let steps: Value = ["sand", "prime", "paint"]
        let merge = merge(
            board(tags, steps),
            board(["ash", "fir", "oak", "yew"], steps),
            board(["ash", "fir", "oak", "rowan"], steps)
        )
        #expect(merge.value == board(["ash", "fir", "oak", "rowan", "yew"], steps))
        #expect(merge.conflicts.isEmpty)
    }
}
