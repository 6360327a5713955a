import GodwitTestKit
import GodwitTree
import Testing

/// Changes that count in a merge, whatever it decides about the record around them.
@Suite struct MergeWholeTests {
    @Test func `a record that is taken whole is reported, and is that of one side`() {
        let base: Value = ["a": "one", "b": "two", "c": "three", "d": 1]
        let ours: Value = ["a": "eins", "b": "zwei", "c": "drei", "d": 1]
        let theirs: Value = ["a": "un", "b": "deux", "c": "trois", "d": 2]
        let merge = Merge(base: base, ours: ours, theirs: theirs)

        #expect(merge.value == theirs)
        #expect(merge.conflicts.map(\.reason) == [.takenWhole])
    }

    @Test func `an edit of a field beats its removal, also beside contested fields`() {
        let merge = Merge(
            base: ["v": 1, "note": "x"],
            ours: ["v": 3],
            theirs: ["v": 2, "note": "y"]
        )
        #expect(merge.value == ["v": 3, "note": "y"])
        #expect(merge.conflicts.map(\.reason) == [.bothSet, .removedAndEdited])
        #expect(merge.conflicts.map(\.choice) == [.ours, .theirs])
    }

    @Test func `contested fields of a record cost no work in the containers of it`() {
        func plan(_ name: [Value], _ first: Bool, _ second: Bool) -> Value {
            [
                "title": name[0], "editor": name[1], "place": name[2],
                "items": [["id": 1, "done": .bool(first)], ["id": 2, "done": .bool(second)]],
                "days": ["mon": .bool(first), "tue": .bool(second)],
            ]
        }
        let (a, b): ([Value], [Value]) = (["Plan A", "Bob", "Perth"], ["Plan B", "Cid", "Cairns"])
        let merge = Merge(
            base: plan(["Plan", "Ann", "Hobart"], false, false),
            ours: plan(a, true, false),
            theirs: plan(b, false, true)
        )
        #expect([plan(a, true, true), plan(b, true, true)].contains(merge.value))
        #expect(merge.conflicts.map(\.reason) == [.bothSet, .bothSet, .bothSet])
    }

    @Test func `contested fields of a record cost no new fields`() {
        let merge = Merge(
            base: ["title": "P", "editor": "Ann", "place": "H"],
            ours: ["title": "Q", "editor": "Bob", "place": "I", "a": 1, "b": "two"],
            theirs: ["title": "R", "editor": "Cid", "place": "J", "c": 3, "d": "four"]
        )
        for (key, value) in [("a", 1), ("b", "two"), ("c", 3), ("d", "four")] as [(Key, Value)] {
            #expect(merge.value[key] == value)
        }
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `increments add up in a record of which the rest is contested`() throws {
        let base: Value = ["a": "one", "b": "two", "c": "three", "n": 5]
        var (ours, theirs) = (base, base)
        let our = try ours.edit {
            $0.a = "eins"; $0.b = "zwei"; $0.c = "drei"; $0.n += 1
        }
        let their = try theirs.edit {
            $0.a = "un"; $0.b = "deux"; $0.c = "trois"; $0.n += 2
        }
        let merge = try Merge(base: base, ours: our, theirs: their)

        #expect(merge.value["n"] == 8)
        #expect(try merge.afterOurs.applied(to: ours) == merge.value)
        #expect(try merge.afterTheirs.applied(to: theirs) == merge.value)
    }

    @Test func `an increment of an item that the other side moved elsewhere goes along`() throws {
        let base: Value = [
            "todo": [["id": "c1", "title": "Fix", "votes": 3]], "done": [],
        ]
        let card: Value = ["id": "c1", "title": "Fix", "votes": 3]
        var (ours, theirs) = (base, base)
        let our = try ours.edit {
            $0.todo.list.remove(at: 0)
            $0.done.list.append(card)
        }
        let their = try theirs.edit { $0.todo[0].votes += 2 }
        let merge = try Merge(base: base, ours: our, theirs: their)

        #expect(merge.value["todo"] == [])
        #expect(merge.value["done"] == [["id": "c1", "title": "Fix", "votes": 5]])
        let rest: Delta = merge.afterOurs
        #expect(rest.hasIncrement && merge.conflicts.isEmpty)
        #expect(try merge.afterTheirs.applied(to: theirs) == merge.value)
    }

    @Test func `an increment beside a set adds to what was set`() throws {
        let base: Value = ["n": 5]
        let (add, set) = (
            Delta.map(["n": .apply(.adding(2))]), Delta.map(["n": .apply(.set(10))])
        )
        for (ours, theirs) in [(add, set), (set, add)] {
            let merge = try Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.value == ["n": 12] && merge.conflicts.isEmpty)
            #expect(try merge.afterOurs.applied(to: ours.applied(to: base)) == merge.value)
            #expect(try merge.afterTheirs.applied(to: theirs.applied(to: base)) == merge.value)
        }
    }

    @Test func `keys that one side renamed take the other side's edits along`() {
        let server: Value = ["host": "alpha.example", "port": 80, "user": "admin", "tls": true]
        var edited = server
        _ = try? edited.edit { $0.port = 8080 }
        let merge = Merge(base: ["old": server], ours: ["new": server], theirs: ["old": edited])

        #expect(merge.value == ["new": edited])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `a thousand keys that both sides change are no search for a thousand renames`() {
        let cost = CostRatio(small: Self.renames(750), large: Self.renames(3_000))
        #expect(cost.isLinear, "\(cost)")
    }

    private static func renames(_ count: Int) -> () -> Void {
        let entries = (0..<count).map { number -> (Key, Value) in
            (Key("key \(number)"), ["text": .string(Key("some words about \(number)"))])
        }
        let renamed = entries.map { (Key("new \($0.0.text)"), $0.1) }
        let edited = entries.map { ($0.0, ["text": "other words"] as Value) }
        return {
            _ = Merge(
                base: .map(Value.Map(entries)),
                ours: .map(Value.Map(renamed)),
                theirs: .map(Value.Map(edited))
            )
        }
    }
}
