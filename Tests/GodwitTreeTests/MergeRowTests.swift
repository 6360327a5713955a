import GodwitTree
import Testing

/// Edits of rows and records in whose place the other side has put others.
@Suite struct MergeRowTests {
    /// Merges both ways round: the new item stands there, the edit of the old one is reported.
    private func expectReport(base: Value, edited: Value, replaced: Value) {
        for (ours, theirs) in [(edited, replaced), (replaced, edited)] {
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.value == replaced)
            #expect(merge.conflicts.map(\.reason) == [.replacedAndEdited])
        }
    }

    /// Merges both ways round: both changes are there, and nothing is reported.
    private func expectBoth(base: Value, edited: Value, changed: Value, _ wanted: Value) {
        for (ours, theirs) in [(edited, changed), (changed, edited)] {
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.value == wanted)
            #expect(merge.conflicts == [])
        }
    }

    private static let doses: [[Value]] = [
        ["Anna", "Ibuprofen", "400 mg", "08:00", ""], ["Ben", "Insulin", "10 IE", "07:00", ""],
    ]

    private static func rows(_ rows: [[Value]]) -> Value {
        .list(Value.List(rows.map { .list(Value.List($0)) }))
    }

    @Test func `an edit of a row does not land on another row in its place`() {
        let (anna, ben) = (Self.doses[0], Self.doses[1])
        let dora: [Value] = ["Dora", "Ramipril", "5 mg", "08:00", ""]
        expectReport(
            base: Self.rows([anna, ben]),
            edited: Self.rows([anna.dropLast() + ["given"], ben]),
            replaced: Self.rows([dora, ben])
        )
        let shop: [[Value]] = [["bread", 1, "2.00", ""], ["milk", 2, "1.20", ""]]
        for edited in [shop[1].dropLast() + ["paid"], shop[1] + ["late"]] as [[Value]] {
            expectReport(
                base: Self.rows(shop),
                edited: Self.rows([shop[0], edited]),
                replaced: Self.rows([shop[0], ["beer", 6, "5.00", ""]])
            )
        }
    }

    @Test func `edits of different cells of one row both stay`() {
        let (anna, ben) = (Self.doses[0], Self.doses[1])
        expectBoth(
            base: Self.rows([anna, ben]),
            edited: Self.rows([anna.dropLast() + ["given"], ben]),
            changed: Self.rows([["Anne"] + anna.dropFirst(), ben]),
            Self.rows([["Anne"] + anna.dropFirst().dropLast() + ["given"], ben])
        )
        expectBoth(
            base: [[1, 2, 3, 4, 5], [4, 5, 6, 7, 8]],
            edited: [[1, 2, 3, 4, 50], [4, 5, 6, 7, 8]],
            changed: [[10, 20, 30, 4, 5], [4, 5, 6, 7, 8]],
            [[10, 20, 30, 4, 50], [4, 5, 6, 7, 8]]
        )
    }

    private static func user(_ id: String, _ mail: String, _ role: String) -> Value {
        [
            "id": .string(Key(id)), "email": .string(Key(mail)), "role": .string(Key(role)),
            "plan": "team", "lang": "de", "quota": 50,
        ]
    }

    @Test func `an edit of a record does not land on a like one with another id and mark`() {
        let anna = Self.user("u1", "anna@x.org", "editor")
        let (ben, zoe) = (
            Self.user("u2", "ben@x.org", "viewer"), Self.user("u9", "zoe@x.org", "editor")
        )
        let base: Value = [anna, ben]
        let (edited, replaced): (Value, Value) = (
            [Self.user("u1", "anna@x.org", "admin"), ben], [ben, zoe]
        )
        for (ours, theirs) in [(edited, replaced), (replaced, edited)] {
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.value.list?.contains(zoe) == true)
            #expect(merge.conflicts.count == 1)
        }
    }

    @Test func `an edit follows a record that has only another id`() {
        let (anna, ben) = (
            Self.user("u1", "anna@x.org", "editor"), Self.user("u2", "ben@x.org", "viewer")
        )
        expectBoth(
            base: [anna, ben],
            edited: [Self.user("u1", "anna@x.org", "admin"), ben],
            changed: [Self.user("u7", "anna@x.org", "editor"), ben],
            [Self.user("u7", "anna@x.org", "admin"), ben]
        )
    }

    private static func dose(_ who: Value, _ drug: Value, _ dose: Value, _ at: Value) -> Value {
        ["who": who, "drug": drug, "dose": dose, "at": at, "done": ""]
    }

    @Test func `a unit that two records share does not make them one`() {
        let others = [
            Self.dose("Ben", "Insulin", "10 mg", "08:00"),
            Self.dose("Ben", "Ibuprofen", "10 mg", "12:00"),
        ]
        let anna = Self.dose("Anna", "Ibuprofen", "400 mg", "08:00")
        var given = anna
        _ = try? given.edit { $0.done = "given" }
        let dora = Self.dose("Dora", "Ramipril", "5 mg", "18:00")
        expectReport(
            base: .list(Value.List([anna] + others)),
            edited: .list(Value.List([given] + others)),
            replaced: .list(Value.List([dora] + others))
        )
    }
}
