import GodwitTree
import Testing

/// Lists of slots of which some are empty, such as the dinners of a week.
@Suite struct MergeSlotListTests {
    /// Expects one result in both orders of the sides, and no report.
    private func expect(
        _ base: Value,
        _ ours: Value,
        _ theirs: Value,
        gives wanted: Value,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            let merge = merge(base, ours, theirs)
            #expect(merge.value == wanted, sourceLocation: location)
            #expect(merge.conflicts.isEmpty, sourceLocation: location)
        }
    }

    @Test(arguments: [.null, "", [:], []] as [Value])
    func `what is put into a slot stays in it beside a move to another one`(empty: Value) {
        func week(_ dinners: [Int: Value]) -> Value {
            ["dinners": .list(Value.List((0..<7).map { dinners[$0] ?? empty }))]
        }
        let base = week([0: "Pizza", 2: "Curry"])
        expect(
            base,
            week([5: "Pizza", 2: "Curry"]),
            week([0: "Pizza"]),
            gives: week([5: "Pizza"])
        )
        expect(
            base,
            week([5: "Pizza", 2: "Curry"]),
            week([0: "Pizza", 2: "Curry", 3: "Soup"]),
            gives: week([5: "Pizza", 2: "Curry", 3: "Soup"])
        )
        expect(
            base,
            week([0: "Curry", 2: "Pizza"]),
            week([0: "Pizza", 1: "Soup", 2: "Curry"]),
            gives: week([0: "Curry", 1: "Soup", 2: "Pizza"])
        )
        expect(
            base,
            week([0: "Pizza"]),
            week([0: "Pizza", 3: "Soup"]),
            gives: week([0: "Pizza", 3: "Soup"])
        )
    }

    @Test func `a thing that moves to an empty slot leaves the other slots as they are`() {
        let (boots, map): (Value, Value) = (["item": "boots"], ["item": "map"])
        expect(
            [.null, .null, .null, boots],
            [.null, .null, boots, .null],
            [.null, map, .null, boots],
            gives: [.null, map, boots, .null]
        )
    }

    @Test func `of two things in one slot one is taken, and both sides learn of it`() {
        let merge = merge(
            [.null, .null, "rope"],
            ["torch", .null, "rope"],
            ["gem", .null, .null]
        )
        #expect(merge.value == ["torch", .null, .null] || merge.value == ["gem", .null, .null])
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `each pair of disjoint changes of a list of slots gives both`() {
        let base: [Value] = ["a", .null, "b", .null]
        var changes: [[Value]] = []
        for source in base.indices {
            for target in base.indices {
                var moved = base
                moved.swapAt(source, target)
                changes.append(moved)
            }
            var other = base
            other[source] = base[source] == .null ? "c" : .null
            changes.append(other)
        }
        for ours in changes {
            for theirs in changes {
                let slots = base.indices
                let meet = slots.contains { ours[$0] != base[$0] && theirs[$0] != base[$0] }
                if meet { continue }
                let wanted = slots.map { ours[$0] == base[$0] ? theirs[$0] : ours[$0] }
                let merge = Merge(
                    base: .list(Value.List(base)),
                    ours: .list(Value.List(ours)),
                    theirs: .list(Value.List(theirs))
                )
                #expect(merge.value == .list(Value.List(wanted)), "\(ours) \(theirs)")
            }
        }
    }

    /// Days without a name, with what is to be eaten.
    private static func days(_ meals: [[Value]]) -> Value {
        .list(Value.List(meals.map { ["meals": .list(Value.List($0))] }))
    }

    @Test func `days without a name stay where they are beside a meal that moves`() {
        expect(
            Self.days([["Pasta"], [], []]),
            Self.days([[], [], ["Pasta"]]),
            Self.days([["Pasta"], ["Pizza"], []]),
            gives: Self.days([[], ["Pizza"], ["Pasta"]])
        )
        expect(
            Self.days([[], [], ["Stew"], ["Pasta", "Sushi"]]),
            Self.days([[], ["Stew"], [], ["Pasta", "Sushi"]]),
            Self.days([["Rice"], [], ["Stew"], ["Pasta", "Sushi vegan"]]),
            gives: Self.days([["Rice"], ["Stew"], [], ["Pasta", "Sushi vegan"]])
        )
    }

    @Test func `each pair of moves of the only meal and new meals on other days is there`() {
        let count = 4
        for source in 0..<count {
            for target in 0..<count where target != source {
                for place in 0..<count where place != source && place != target {
                    var (base, ours) = (Array(repeating: [Value](), count: count), [[Value]]())
                    base[source] = ["Pasta"]
                    ours = base
                    (ours[source], ours[target]) = ([], ["Pasta"])
                    var (theirs, wanted) = (base, ours)
                    theirs[place] = ["Pizza"]
                    wanted[place] = ["Pizza"]
                    let versions = [base, ours, theirs, wanted].map(Self.days)
                    expect(versions[0], versions[1], versions[2], gives: versions[3])
                }
            }
        }
    }
}
