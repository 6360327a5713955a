import GodwitTree
import Testing

/// Records between which values have gone from one to the other: nothing tells which one an edit is about.
@Suite struct MergeExchangeTests {
    /// Expects that the place is reported as a conflict, whichever side is ours.
    private func expectConflict(_ base: String, _ ours: String, _ theirs: String) throws {
        let values = try [base, ours, theirs].map { try Value(json: $0) }
        for (ours, theirs) in [(values[1], values[2]), (values[2], values[1])] {
            let merge = merge(values[0], ours, theirs)
            #expect(merge.conflicts.contains { !$0.isNotice })
        }
    }

    private func list(_ records: [[String]], _ fields: [String]) -> String {
        let items = records.map { values in
            "{" + zip(fields, values).map { #""\#($0)":\#($1)"# }.joined(separator: ",") + "}"
        }
        return "[\(items.joined(separator: ","))]"
    }

    /// A rota with one person for each day.
    private func rota(_ people: [String], late: Int? = nil) -> String {
        let records = people.enumerated().map { day, person in
            let shift = day == late ? #""late""# : #""early""#
            return [#""2026-03-0\#(day + 2)""#, #""\#(person)""#, shift]
        }
        return list(records, ["date", "who", "shift"])
    }

    @Test func `an edit of a shift is reported if two people have changed places`() throws {
        try expectConflict(
            rota(["Ann", "Bob", "Cyd"]),
            rota(["Bob", "Ann", "Cyd"]),
            rota(["Ann", "Bob", "Cyd"], late: 1)
        )
    }

    @Test func `an edit is reported if a plan of like records is put off`() throws {
        let days = [#""Monday""#, #""Tuesday""#, #""Wednesday""#, #""Thursday""#]
        let squat = [#"["Squat"]"#, #"["Row"]"#, #"["Swim"]"#]
        let plans: [(name: String, parts: [String], edited: (name: String, value: String))] = [
            ("workout", [#""Legs""#, #""Run""#, #""Legs""#], ("done", "true")),
            ("exercises", squat, ("exercises", #"["Row","Curl"]"#)),
            ("km", ["5", "8", "12"], ("done", "true")),
        ]
        for plan in plans {
            func text(from day: Int, isEdited: Bool) -> String {
                let records = plan.parts.enumerated().map { index, part in
                    let isOther = isEdited && index == 1
                    let isPart = plan.edited.name == plan.name
                    return [
                        days[day + index], isOther && isPart ? plan.edited.value : part,
                        isOther && !isPart ? plan.edited.value : "false",
                    ]
                }
                return list(records, ["day", plan.name, "done"])
            }
            try expectConflict(
                text(from: 0, isEdited: false),
                text(from: 1, isEdited: false),
                text(from: 0, isEdited: true)
            )
        }
    }

    @Test func `an edit is reported if a day is put in and those behind it move on`() throws {
        func plan(_ parts: [String], isDone: Int? = nil) -> String {
            let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
            let records = zip(days, parts).enumerated().map { index, part in
                [#""\#(part.0)""#, #""\#(part.1)""#, "\(index == isDone)"]
            }
            return list(records, ["day", "workout", "done"])
        }
        let parts = ["Legs", "Back", "Swim", "Run"]
        try expectConflict(
            plan(parts),
            plan(["Legs", "Back", "Rest", "Swim", "Run"]),
            plan(parts, isDone: 3)
        )
    }

    @Test func `an edit is reported if two records have changed their values beside a third`()
        throws
    {
        func plan(_ parts: [String], isDone: Int? = nil) -> String {
            let days = ["Monday", "Tuesday", "Wednesday", "Thursday"]
            let records = zip(days, parts).enumerated().map { index, part in
                [#""\#(part.0)""#, #""\#(part.1)""#, "\(index == isDone)"]
            }
            return list(records, ["day", "exercise", "done"])
        }
        let parts = ["Legs", "Back", "Core", "Arms"]
        for new in [["Back", "Legs", "Core", "Swim"], ["Back", "Legs", "Core"]] {
            try expectConflict(plan(parts), plan(new), plan(parts, isDone: 1))
        }
    }

    @Test func `an edit stays with its card if cards go on`() throws {
        func cards(_ states: [String], note: String = "") -> String {
            let notes = [note] + states.dropFirst().map { _ in "" }
            let records = zip(["Paint", "Call", "Buy"], zip(states, notes)).map { task, card in
                [#""\#(task)""#, #""\#(card.0)""#, #""\#(card.1)""#]
            }
            return list(records, ["task", "status", "notes"])
        }
        let base = cards(["todo", "doing"])
        for states in [["doing", "done"], ["doing", "doing", "todo"]] {
            try expectMerge(
                base,
                cards(states),
                cards(["todo", "doing"], note: "red"),
                gives: cards(states, note: "red")
            )
        }
    }

    @Test(arguments: [#""2026-03-02""#, #""2026-04-01""#], [true, false])
    func `an exchange is reported though the records are stamped with it`(
        stamp: String,
        areAlike: Bool
    ) throws {
        func rota(_ people: [String], _ stamps: [String], late: Int? = nil) throws -> Value {
            let records = people.enumerated().map { day, person in
                [
                    #""2026-03-0\#(day + 2)""#, #""\#(person)""#, stamps[day],
                    day == late ? #""late""# : #""early""#,
                ]
            }
            return try Value(json: list(records, ["date", "who", "updated", "shift"]))
        }
        let old =
            areAlike
            ? Array(repeating: #""2026-01-01""#, count: 3)
            : [#""2026-01-01""#, #""2026-01-02""#, #""2026-01-03""#]
        let merge = try merge(
            rota(["Ann", "Bob", "Cyd"], old),
            rota(["Bob", "Ann", "Cyd"], [stamp, stamp, old[2]]),
            rota(["Ann", "Bob", "Cyd"], old, late: 0)
        )
        #expect(merge.conflicts.contains { !$0.isNotice })
    }

    @Test(arguments: [20, 365]) func `a plan that is put off is contested whatever its length`(
        count: Int
    ) throws {
        func plan(from first: Int, isDone: Int? = nil) throws -> Value {
            let records = (0..<count).map { index in
                let part = (index + count - first) % count
                return ["\(index * 10)", #""part \#(part)""#, "\(part == isDone)"]
            }
            return try Value(json: list(records, ["day", "what", "done"]))
        }
        let merge = try merge(plan(from: 0), plan(from: 1), plan(from: 0, isDone: 4))
        #expect(merge.conflicts.contains { !$0.isNotice })
    }

    @Test func `an edit of one side is made if both have exchanged the same`() throws {
        let base = try Value(json: rota(["Ann", "Bob", "Cyd"]))
        let swapped = try Value(json: rota(["Bob", "Ann", "Cyd"]))
        let edited = try Value(json: rota(["Bob", "Ann", "Cyd"], late: 1))
        for (ours, theirs) in [(swapped, edited), (edited, swapped)] {
            let merge = merge(base, ours, theirs)
            #expect(merge.value == edited && merge.conflicts.allSatisfy(\.isNotice))
        }
    }

    @Test func `an edit stays with its record if a second field tells which one it is`() throws {
        func rota(_ people: [String], late: Int? = nil) -> String {
            let records = people.enumerated().map { day, person in
                [
                    #""2026-03-0\#(4 - day)""#, #""\#(person)""#, "\(day + 4)",
                    day == late ? #""late""# : #""early""#,
                ]
            }
            return list(records, ["date", "who", "hours", "shift"])
        }
        try expectMerge(
            rota(["Ann", "Bob", "Cyd"]),
            rota(["Bob", "Ann", "Cyd"]),
            rota(["Ann", "Bob", "Cyd"], late: 1),
            gives: rota(["Bob", "Ann", "Cyd"], late: 1)
        )
    }

    @Test func `an edit stays with its words if the dates beside them go on`() throws {
        func plan(from day: Int, isDone: Int? = nil) -> String {
            let records = ["Legs", "Back", "Swim", "Run"].enumerated().map { index, part in
                [#""2026-03-0\#(day + index)""#, #""\#(part)""#, "\(index == isDone)"]
            }
            return list(records, ["when", "what", "done"])
        }
        try expectMerge(
            plan(from: 2),
            plan(from: 3),
            plan(from: 2, isDone: 1),
            gives: plan(from: 3, isDone: 1)
        )
    }
}
