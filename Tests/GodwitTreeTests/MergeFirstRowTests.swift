import Foundation
import GodwitTree
import Testing

/// Tables whose first row may be one of names.
@Suite struct MergeFirstRowTests {
    private typealias Rows = [[Any]]

    private func value(_ rows: Rows) throws -> Value {
        try Value(
            json: String(decoding: JSONSerialization.data(withJSONObject: rows), as: UTF8.self)
        )
    }

    /// Expects one value without a conflict, whichever side is ours.
    private func merge(
        _ base: Rows,
        _ ours: Rows,
        _ theirs: Rows,
        gives wanted: Rows,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (base, ours, theirs) = try (value(base), value(ours), value(theirs))
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect(try merge.value == value(wanted), sourceLocation: sourceLocation)
            #expect(merge.conflicts.isEmpty, sourceLocation: sourceLocation)
        }
    }

    @Test(
        arguments: [
            [
                ["Mon", "Ann", "Bob"], ["Tue", "Cyd", "Cyd"], ["Wed", "Eve", "Fay"],
                ["Thu", "Gus", "Hal"],
            ],
            [
                ["Mon", "Ann", "Bob"], ["Tue", "Cyd", "Dan"], ["Wed", "Cyd", "Fay"],
                ["Thu", "Gus", "Hal"],
            ],
            [
                ["Mon", "Ann", "Bob"], ["Tue", "Cyd", "Dan"], ["Wed", "Eve", ""],
                ["Thu", "Gus", "Hal"],
            ],
            [
                ["Ajax", "Bonn", "2:1"], ["Celta", "Derby", "0:0"], ["Elche", "Hull", ""],
                ["A", "B", "2:1"],
            ],
        ] as [[[String]]]
    )
    func `a new row is as it was written if a row says that only others were turned`(
        rows: [[String]]
    ) throws {
        let places = rows[0][2].contains(":") ? (0, 1) : (1, 2)
        var ours = rows
        for row in [0, 2] { ours[row].swapAt(places.0, places.1) }
        let new = ["Fri", "Ida", "Jon"]
        try merge(rows, ours, rows + [new], gives: ours + [new])
    }

    @Test func `one row that is edited with the move does not take the names away`() throws {
        let people = ["Ann", "Bob", "Cid", "Dan"]
        var tasks: Rows = [["Task", "Owner", "Reviewer"]]
        for number in 0..<24 {
            tasks.append(["task \(number)", people[number % 4], people[(number + 1) % 4]])
        }
        var turned = tasks.map { [$0[0], $0[2], $0[1]] }
        // Bob, the first task's reviewer, takes over, and Cid reviews.
        turned[1] = ["task 0", "Cid", "Bob"]
        try merge(
            tasks,
            turned,
            tasks + [["billing", "Dora", "Emil"]],
            gives: turned + [["billing", "Emil", "Dora"]]
        )
    }

    @Test func `a row of which two cells are equal speaks by its others`() throws {
        let rota: Rows = [
            ["Mon", "Bob", "Fay", "Cyd"], ["Tue", "", "Bob", ""], ["Wed", "Bob", "", ""],
        ]
        let turned: Rows = [
            ["Mon", "Bob", "Cyd", "Fay"], ["Tue", "", "Bob", ""], ["Wed", "Max", "", ""],
        ]
        let new: Rows = [["Xmas", "Pia", "Ola", "Ned"]]
        try merge(rota, turned, rota + new, gives: turned + new)
    }

    @Test func `columns change places though most rows have equal cells in them`() throws {
        let matches: Rows = [
            ["Team", "Home", "Away"], ["Ajax", 0, 0], ["Bonn", 1, 0], ["Celta", 0, 0],
            ["Derby", 0, 0],
        ]
        let turned: Rows = [
            ["Team", "Away", "Home"], ["Ajax", 0, 0], ["Bonn", 0, 1], ["Celta", 0, 0],
            ["Derby", 0, 0],
        ]
        var theirs = matches + [["Elche", 3, 1]]
        theirs[1] = ["Ajax", 2, 0]
        var wanted = turned + [["Elche", 1, 3]]
        wanted[1] = ["Ajax", 0, 2]
        try merge(matches, turned, theirs, gives: wanted)
    }

    @Test func `a new role has its rights if their columns change places`() throws {
        let rights: Rows = [
            ["role", "read", "write", "admin"], ["guest", true, false, false],
            ["user", true, true, false], ["staff", true, true, false], ["owner", true, true, true],
            ["root", true, true, true], ["bot", true, false, false],
        ]
        let turned = rights.map { [$0[0], $0[1], $0[3], $0[2]] }
        try merge(
            rights,
            turned,
            rights + [["dev", true, true, false]],
            gives: turned + [["dev", true, false, true]]
        )
    }

    @Test func `a side moves columns of texts and puts one in`() throws {
        let base: Rows = [
            ["Name", "Q1", "Q2"], ["Ann", "11", "12"], ["Bob", "21", "22"], ["Cyd", "31", "32"],
        ]
        let ours = zip(base, ["Q0", "10", "20", "30"]).map { [$0[0], $1, $0[2], $0[1]] }
        let merge = try Merge(
            base: value(base),
            ours: value(ours),
            theirs: value(base + [["Dan", "41", "42"]])
        )
        let new = try #require(merge.value.list?.last?.list)
        #expect(new.count == 4 && new[2] == "42" && new[3] == "41")
    }

    @Test func `a new row has no cell of a column that is gone, which is reported`() throws {
        let base: Rows = [
            ["Name", "Q1", "Q2", "Q3"], ["Ann", "11", "12", "13"], ["Bob", "21", "22", "23"],
            ["Cyd", "31", "32", "33"],
        ]
        let ours = base.map { [$0[0], $0[3], $0[2]] }
        let merge = try Merge(
            base: value(base),
            ours: value(ours),
            theirs: value(base + [["Dan", "41", "42", "43"]])
        )
        #expect(try merge.value == value(ours + [["Dan", "43", "42"]]))
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
    }

    @Test func `names with digits and cells that are emptied or doubled leave the columns known`()
        throws
    {
        let quarters: Rows = [
            ["Name", "Q1", "Q2"], ["Ann", "11", "12"], ["Bob", "21", "22"], ["Cyd", "31", "32"],
        ]
        for cell in ["22", ""] {
            var turned = quarters.map { [$0[0], $0[2], $0[1]] }
            turned[2] = ["Bob", cell, cell]
            try merge(
                quarters,
                turned,
                quarters + [["Dan", "41", "42"]],
                gives: turned + [["Dan", "42", "41"]]
            )
        }
        let places: Rows = [
            ["Name", "Home", "Work"], ["Ann", "Rome", "Oslo"], ["Bob", "Bonn", "Kiel"],
            ["Cyd", "Graz", "Lodz"],
        ]
        var turned = places.map { [$0[0], $0[2], $0[1]] }
        turned[2] = ["Bob", "", ""]
        try merge(
            places,
            turned,
            places + [["Dan", "Cork", "Bern"]],
            gives: turned + [["Dan", "Bern", "Cork"]]
        )
    }
}
