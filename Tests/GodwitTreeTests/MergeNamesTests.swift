import GodwitTree
import Testing

/// Fields that look like the names of records, and whose values go to other records.
@Suite struct MergeNamesTests {
    func merge(_ base: String, _ ours: String, _ theirs: String) throws -> Merge {
        try Merge(base: Value(json: base), ours: Value(json: ours), theirs: Value(json: theirs))
    }

    /// Expects one result, whichever side is ours.
    func expect(
        _ base: String,
        _ ours: String,
        _ theirs: String,
        gives result: String,
        isReported: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let wanted = try Value(json: result)
        for merge in [try merge(base, ours, theirs), try merge(base, theirs, ours)] {
            #expect(merge.value == wanted, sourceLocation: sourceLocation)
            let reports = merge.conflicts.filter { !$0.isNotice }
            #expect(reports.isEmpty != isReported, "\(reports)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: ["id", "code", "key"])
    func `an edit finds its record though the records were numbered anew`(name: String) throws {
        func list(_ records: [String]) -> String {
            let numbered = records.enumerated().map { "{\"\(name)\":\($0 + 1),\($1)}" }
            return "[\(numbered.joined(separator: ","))]"
        }
        let (wake, eat, stretch) = (#""t":"Wake""#, #""t":"Eat""#, #""t":"Stretch""#)
        try expect(
            list([wake, eat]),
            list([stretch, wake, eat]),
            list([wake, eat + #","done":true"#]),
            gives: list([stretch, wake, eat + #","done":true"#])
        )
        let questions = [
            #""question":"Capital of France?","answer":"Paris""#,
            #""question":"Legs of a spider?","answer":"eight""#,
            #""question":"Boiling point of water?","answer":"100""#,
        ]
        let hinted = questions[1] + #","hint":"more than six""#
        try expect(
            list(questions),
            list([questions[1], questions[2]]),
            list([questions[0], hinted, questions[2]]),
            gives: list([hinted, questions[2]])
        )
        try expect(
            list(questions),
            list([questions[1], questions[0], questions[2]]),
            list([questions[0], hinted, questions[2]]),
            gives: list([hinted, questions[0], questions[2]])
        )
    }

    @Test func `an edit of a record that was removed is reported, though the next has its number`()
        throws
    {
        let merge = try merge(
            #"[{"id":1,"q":"red or blue","a":"red"},{"id":2,"q":"big or small","a":"big"}]"#,
            #"[{"id":1,"q":"big or small","a":"big"}]"#,
            #"[{"id":1,"q":"red or blue","a":"red","hint":"warm"},{"id":2,"q":"big or small","a":"big"}]"#
        )
        #expect(!merge.conflicts.filter { !$0.isNotice }.isEmpty)
        let big = merge.value.list?.first { $0["q"] == "big or small" }
        #expect(big?["hint"] == nil)
    }

    @Test(arguments: ["who", "warden", "name", "title"])
    func `an edit stays with its record though two records have swapped a name`(name: String) throws
    {
        func list(_ names: [String], _ extra: String = "") -> String {
            """
            [{"room":"blue","\(name)":"\(names[0])","hours":5,"note":"bring the big projector"\(extra)},
            {"room":"green","\(name)":"\(names[1])","hours":1,"note":"ask for keys"},
            {"room":"red","\(name)":"\(names[2])","hours":3,"note":"door is open"}]
            """
        }
        try expect(
            list(["ann", "bob", "cy"]),
            list(["cy", "bob", "ann"]),
            list(["ann", "bob", "cy"], #","seats":20"#),
            gives: list(["cy", "bob", "ann"], #","seats":20"#)
        )
    }

    @Test func `two lines that both sides draw are not one line`() throws {
        let lines = ["[[0,0],[1,1],[3,1]]", "[[0,0],[2,2],[3,1]]"]
        for base in [#"{"g":null}"#, "{}", #"{"g":[]}"#] {
            let merge = try merge(base, #"{"g":\#(lines[0])}"#, #"{"g":\#(lines[1])}"#)
            #expect(try lines.map { try Value(json: $0) }.contains(merge.value["g"]))
            #expect(!merge.conflicts.isEmpty)
        }
        try expect(
            "{}",
            #"{"g":[[0,0],[1,1]]}"#,
            #"{"g":[[0,0],[1,1],[2,2]]}"#,
            gives: #"{"g":[[0,0],[1,1],[2,2]]}"#
        )
        let shape = try merge(
            "{}",
            #"{"g":{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]}}"#,
            #"{"g":{"type":"LineString","coordinates":[[5,5],[6,6]]}}"#
        )
        let sides = try [
            Value(json: #"{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0,0]]]}"#),
            Value(json: #"{"type":"LineString","coordinates":[[5,5],[6,6]]}"#),
        ]
        #expect(sides.contains(shape.value["g"] ?? .null))
    }

    @Test func `a variable that both sides set has one value, and both learn of it`() throws {
        for base in [["A=1", "B=2"], []] as [Value] {
            let (ours, theirs): (Value, Value) = (
                .list(Value.List(Array(base.list ?? []) + ["C=3"])),
                .list(Value.List(Array(base.list ?? []) + ["C=4"]))
            )
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect([ours, theirs].contains(merge.value))
            #expect(!merge.conflicts.isEmpty)
        }
    }

    @Test(arguments: ["$ref", "name"])
    func `a small record that both sides replace is replaced by one of theirs`(name: String) throws
    {
        func list(_ names: String...) -> Value {
            .list(Value.List(names.map { [Key(name): .string(Key($0))] }))
        }
        let merge = Merge(base: list("A", "B"), ours: list("A", "C"), theirs: list("A", "D"))
        #expect([list("A", "C"), list("A", "D")].contains(merge.value))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test(arguments: ["title", "name"])
    func `a record keeps its name beside a new one that has what it had`(name: String) throws {
        func list(_ records: (String, who: String, done: Bool)...) -> String {
            let records = records.map {
                #"{"\#(name)":"\#($0.0)","who":"\#($0.who)","done":\#($0.done)}"#
            }
            return "[\(records.joined(separator: ","))]"
        }
        try expect(
            list(("Milk", "Karl", false), ("Train", "Anna", false), ("Bags", "Clara", false)),
            list(
                ("Milk", "Karl", false),
                ("Train", "Bert", false),
                ("Guide", "Anna", false),
                ("Bags", "Clara", false)
            ),
            list(("Milk", "Karl", false), ("Train", "Anna", true), ("Bags", "Clara", false)),
            gives: list(
                ("Milk", "Karl", false),
                ("Train", "Bert", true),
                ("Guide", "Anna", false),
                ("Bags", "Clara", false)
            )
        )
    }

    @Test func `a step that is split stays what its name says, wherever it goes`() throws {
        let (lint, docs) = (
            #"{"name":"Lint","run":"make lint"}"#, #"{"name":"Docs","run":"make docs"}"#
        )
        let (old, test) = (
            #"{"name":"Lint","run":"make docs"}"#, #"{"name":"Test","run":"npm test"}"#
        )
        try expect(
            #"{"open":[\#(old),\#(test)],"later":[]}"#,
            #"{"open":[\#(test)],"later":[\#(old)]}"#,
            #"{"open":[\#(lint),\#(docs),\#(test)],"later":[]}"#,
            gives: #"{"open":[\#(docs),\#(test)],"later":[\#(lint)]}"#
        )
    }

    @Test func `a new card does not land in another column that is empty like one before`() throws {
        try expect(
            """
            [{"name":"Todo","cards":["Deploy","Docs"]},{"name":"Doing","cards":[]},
             {"name":"Ideas","cards":["Logo","Jingle"]}]
            """,
            """
            [{"name":"Todo","cards":["Deploy","Docs"]},{"name":"Doing","cards":[]},
             {"name":"Ideas","cards":["Logo","Jingle","Poster"]}]
            """,
            """
            [{"name":"Todo","cards":["Docs"]},{"name":"Doing","cards":["Deploy"]},
             {"name":"Done","cards":[]}]
            """,
            gives: """
                [{"name":"Todo","cards":["Docs"]},{"name":"Doing","cards":["Deploy"]},
                 {"name":"Done","cards":[]},{"name":"Ideas","cards":["Logo","Jingle","Poster"]}]
                """,
            isReported: true
        )
    }

    @Test(arguments: [("text", "due"), ("topic", "date"), ("who", "day")])
    func `an edit stays with its record where dates are exchanged and more is changed`(
        name: String,
        date: String
    ) throws {
        func list(_ records: (String, day: Int, rest: String)...) -> String {
            let records = records.map {
                #"{"\#(name)":"\#($0.0)","\#(date)":"2024-05-0\#($0.day)",\#($0.rest)}"#
            }
            return "[\(records.joined(separator: ","))]"
        }
        let (home, money) = (#""tags":["home"]"#, #""tags":["money"]"#)
        let phone = #""tags":["money","phone"]"#
        let anna = #","by":"Anna""#
        try expect(
            list(("Pay rent", 1, home), ("Call bank", 2, money)),
            list(("Pay rent", 2, home + anna), ("Call bank", 1, money + anna)),
            list(("Pay rent", 1, home), ("Call bank", 2, phone)),
            gives: list(("Pay rent", 2, home + anna), ("Call bank", 1, phone + anna))
        )
    }

    /// Milestones, each a week after the one before it.
    private func plan(
        _ name: String,
        _ names: [String],
        with extra: [String: String] = [:]
    ) -> String {
        let items = names.enumerated().map { index, text in
            let own = extra[text].map { ",\($0)" } ?? ""
            let day = 10 + index
            return
                #"{"\#(name)":\#(text),"due":"2026-03-\#(day)","till":"2026-03-\#(day + 1)"\#(own)}"#
        }
        return "[\(items.joined(separator: ","))]"
    }

    @Test(arguments: ["id", "name", "text"], ["kickoff", "review"])
    func `an edit stays with its record though one that is put in moves all dates on`(
        name: String,
        added: String
    ) throws {
        let names = ["opening", "model", "login", "payment", "closing"].map { "\"\($0)\"" }
        var more = names
        more.insert("\"\(added)\"", at: added == "kickoff" ? 0 : 3)
        let room = ["\"payment\"": #""room":"Lab""#]
        try expect(
            plan(name, names),
            plan(name, names, with: room),
            plan(name, more),
            gives: plan(name, more, with: room)
        )
    }

    @Test(arguments: [[100, 101, 102, 103], [7, 3, 9, 5]])
    func `an edit stays with its number though one that is put in moves all dates on`(
        numbers: [Int]
    ) throws {
        let names = numbers.map(String.init)
        let more = ["150"] + names
        let room = [names[2]: #""room":"Lab""#]
        try expect(
            plan("id", names),
            plan("id", names, with: room),
            plan("id", more),
            gives: plan("id", more, with: room)
        )
    }

    @Test func `a record that one side removes is reported where the other one moves its dates`()
        throws
    {
        let names = ["opening", "model", "login", "payment"].map { "\"\($0)\"" }
        let base = try Value(json: plan("id", names))
        let ours = try Value(
            json: #"""
                [{"id":"opening","due":"2026-03-10","till":"2026-03-11"},
                {"id":"login","due":"2026-03-12","till":"2026-03-13"},
                {"id":"payment","due":"2026-03-13","till":"2026-03-14"}]
                """#
        )
        let theirs = try Value(json: plan("id", ["\"kickoff\""] + names))
        let merge = Merge(base: base, ours: ours, theirs: theirs)
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
    }

    @Test(
        arguments: [
            (#"["A","B","C"]"#, #"["A","B","C","D"]"#), ("[1,2,5]", "[1,2,3,4]"),
            (#"["Q1","Q2","Q4"]"#, #"["Q1","Q2","Q3","Q4"]"#),
        ]
    )
    func `an edit finds its record though the records were lettered or numbered anew`(
        old: String,
        new: String
    ) throws {
        func list(_ names: String, _ texts: [String], right: String? = nil) throws -> Value {
            let names = try Value(json: names).list ?? []
            return .list(
                Value.List(
                    zip(names, texts).map { name, text in
                        ["label": name, "text": .string(Key(text)), "right": .bool(text == right)]
                    }
                )
            )
        }
        let texts = ["Paris", "London", "Rome"]
        // Letters between others say nothing about which record is which.
        let middle = old.contains("A") ? [] : [["Paris", "Berlin", "London", "Rome"]]
        for more in [["Berlin"] + texts] + middle {
            let merge = try Merge(
                base: list(old, texts),
                ours: list(new, more),
                theirs: list(old, texts, right: "London")
            )
            let wanted = try list(new, more, right: "London")
            #expect(merge.value == wanted)
        }
    }

    @Test func `an edit finds its record though some between others were numbered anew`() throws {
        func list(_ items: [(String, String)], done: String? = nil) -> String {
            let records = items.map { id, text in
                #"{"id":\#(id),"t":"\#(text)","done":\#(text == done)}"#
            }
            return "[\(records.joined(separator: ","))]"
        }
        let chapters = [
            (#""intro""#, "Introduction"), (#""ch1""#, "The harbor"), (#""ch2""#, "Storm at night"),
            (#""ch3""#, "Letters home"), (#""outro""#, "Afterword"),
        ]
        let fewer = [
            (#""intro""#, "Introduction"), (#""ch1""#, "Storm at night"),
            (#""ch2""#, "Letters home"), (#""outro""#, "Afterword"),
        ]
        let steps = [("10", "Wash"), ("20", "Boil"), ("30", "Steam"), ("40", "Serve")]
        let more = [
            ("10", "Wash"), ("20", "Soak"), ("25", "Boil"), ("30", "Steam"), ("40", "Serve"),
        ]
        for (old, new, done) in [(chapters, fewer, "Storm at night"), (steps, more, "Boil")] {
            try expect(list(old), list(new), list(old, done: done), gives: list(new, done: done))
        }
    }

    @Test func `two new records with one id are reported though a third has the title of one`()
        throws
    {
        func list(_ items: [(String, String)]) throws -> Value {
            .list(
                Value.List(
                    items.map { ["id": .string(Key($0)), "title": .string(Key($1)), "prio": 1] }
                )
            )
        }
        let old = [("T-1", "Fix login"), ("T-2", "Add cache"), ("T-3", "Drop it"), ("T-4", "Docs")]
        let base = try list(old)
        let ours = try list(old + [("T-5", "Bench"), ("T-6", "Logs")])
        let theirs = try list(old + [("T-5", "Logs")])
        for merge in [
            Merge(base: base, ours: ours, theirs: theirs),
            Merge(base: base, ours: theirs, theirs: ours),
        ] {
            #expect(merge.conflicts.contains { !$0.isNotice })
        }
    }
}
