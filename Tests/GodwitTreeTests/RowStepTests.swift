import GodwitTestKit
import GodwitTree
import Testing

/// Rows that one side changes all alike, where the other side changes one of them.
@Suite struct RowStepTests {
    private let points = "[[112,40],[260,52],[100,180],[20,200]]"
    private let moved = "[[124,49],[272,61],[112,189],[32,209]]"

    @Test func `a point that leaves a shape that the other side moves is reported`() throws {
        try expectMerge(
            points,
            "[[112,40],[100,180],[20,200]]",
            moved,
            gives: moved,
            isTold: true
        )
    }

    @Test func `a new point stays between its neighbours where the other side moves the shape`()
        throws
    {
        try expectMerge(
            points,
            "[[112,40],[180,45],[260,52],[100,180],[20,200]]",
            moved,
            gives: "[[124,49],[180,45],[272,61],[112,189],[32,209]]"
        )
        try expectMerge(
            points,
            "[[112,40],[260,52],[180,116],[100,180],[20,200]]",
            moved,
            gives: "[[124,49],[272,61],[180,116],[112,189],[32,209]]"
        )
    }

    @Test func `a point that comes to stand where another one stood is none of that`() throws {
        try expectMerge(
            "[[90,150],[0,60],[200,180],[100,150],[60,0],[30,130],[20,20],[190,170]]",
            "[[90,150],[0,60],[100,150],[60,0],[30,130],[20,20],[190,170]]",
            "[[100,160],[10,70],[210,190],[110,160],[70,10],[40,140],[30,30],[200,180]]",
            gives: "[[100,160],[10,70],[210,190],[110,160],[70,10],[40,140],[30,30],[200,180]]",
            isTold: true
        )
    }

    private func doses(_ doses: (String, Int)...) -> String {
        let items = doses.map { #"{"time":"\#($0)","dose":\#($1),"unit":"ml"}"# }
        return "[" + items.joined(separator: ",") + "]"
    }

    @Test func `a dose that goes while the other side puts all of them off is reported`() throws {
        let base = doses(("06:00", 45), ("08:00", 5), ("09:00", 30), ("11:00", 5))
        let later = doses(("08:00", 45), ("10:00", 5), ("11:00", 30), ("13:00", 5))
        try expectMerge(
            base,
            doses(("06:00", 45), ("09:00", 30), ("11:00", 5)),
            later,
            gives: later,
            isTold: true
        )
    }

    @Test func `what two rows exchange takes the edits of the other side along`() throws {
        func days(_ second: String, _ third: String) -> String {
            #"[{"day":1,"stops":["Louvre"]},{"day":2,"stops":[\#(second)]},{"day":3,"stops":[\#(third)]}]"#
        }
        let (zoo, pub) = (#""Orsay","Zoo""#, #""Opera","Pub""#)
        try expectMerge(
            days(zoo, pub),
            days(pub, zoo),
            days(zoo + #","Cafe""#, pub),
            gives: days(pub, zoo + #","Cafe""#)
        )
    }

    @Test func `names that change places in a numbered list take the other side's edits along`()
        throws
    {
        try expectMerge(
            #"[[1,"Ann",90,"FR"],[2,"Bob",80,"DE"],[3,"Cleo",70,"DE"]]"#,
            #"[[1,"Ann",90,"FR"],[2,"Cleo",85,"DE"],[3,"Bob",80,"DE"]]"#,
            #"[[1,"Ann",90,"FR"],[2,"Bob",80,"AT"],[3,"Cleo",70,"DE"]]"#,
            gives: #"[[1,"Ann",90,"FR"],[2,"Cleo",85,"DE"],[3,"Bob",80,"AT"]]"#
        )
    }

    @Test func `lessons that two days exchange take the other side's edits along`() throws {
        func day(_ first: String, _ second: String, _ room: String = "A1") -> String {
            #"[{"slot":"8:00","subject":"\#(first)","room":"\#(room)"},"#
                + #"{"slot":"9:00","subject":"\#(second)","room":"A1"}]"#
        }
        func week(_ monday: String, _ tuesday: String) -> String {
            #"{"mon":\#(monday),"tue":\#(tuesday)}"#
        }
        try expectMerge(
            week(day("Math", "Art"), day("Latin", "Sport")),
            week(day("Latin", "Sport"), day("Math", "Art")),
            week(day("Math", "Art", "Lab"), day("Latin", "Sport")),
            gives: week(day("Latin", "Sport"), day("Math", "Art", "Lab")),
            isTold: true
        )
    }

    @Test func `an edit stays with its day where a series moves on`() throws {
        func days(_ range: ClosedRange<Int>, _ note: String = "") -> String {
            let items = range.map { #"{"day":\#($0),"note":"\#($0 == 5 ? note : "")"}"# }
            return "[" + items.joined(separator: ",") + "]"
        }
        try expectMerge(days(1...7), days(1...7, "x"), days(5...11), gives: days(5...11, "x"))
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `no shape that one side moves loses what the other side adds or removes`(seed: UInt64) {
        var random = Seeded(seed: seed)
        var base: [[Int]] = []
        while base.count < random.next() % 7 + 4 {
            let (across, down) = (Int(random.next() % 301), Int(random.next() % 301))
            let point = [across, down]
            if !base.contains(point) { base.append(point) }
        }
        let (right, down) = (Int.random(in: 1...30, using: &random), 1 + Int(random.next() % 30))
        let moved = base.map { [$0[0] + right, $0[1] + down] }
        let equal = moved.count { base.contains($0) }
        // A shape whose points stand where others stood looks like a series that goes on.
        guard 4 * equal <= base.count else { return }
        let place = Int.random(in: base.indices, using: &random)
        let isRemoved = random.happens(0.5)
        var (ours, wanted) = (base, moved)
        if isRemoved {
            ours.remove(at: place)
        } else {
            ours.insert([801, 802], at: place)
            wanted.insert([801, 802], at: place)
        }
        func value(_ points: [[Int]]) -> Value {
            .list(.init(points.map { .list([.int(Int64($0[0])), .int(Int64($0[1]))]) }))
        }
        for merge in [
            Merge(base: value(base), ours: value(ours), theirs: value(moved)),
            Merge(base: value(base), ours: value(moved), theirs: value(ours)),
        ] {
            #expect(merge.value == value(wanted), "seed \(seed)")
            #expect(merge.conflicts.isEmpty != isRemoved, "seed \(seed)")
        }
    }
}
