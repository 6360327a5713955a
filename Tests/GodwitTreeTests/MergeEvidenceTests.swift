import GodwitTestKit
import Testing

@testable import GodwitTree

/// Which record an edit is about, where names and values tell different stories.
@Suite struct MergeEvidenceTests {
    /// A merge both ways, with equal results.
    private func merge(
        _ base: Value,
        _ ours: Value,
        _ theirs: Value
    ) -> (value: Value, isReported: Bool) {
        let merge = Merge(base: base, ours: ours, theirs: theirs)
        let other = Merge(base: base, ours: theirs, theirs: ours)
        #expect(merge.value.unordered == other.value.unordered)
        let isReported = merge.conflicts.contains { !$0.isNotice }
        #expect(isReported == other.conflicts.contains { !$0.isNotice })
        return (merge.value, isReported)
    }

    @Test(arguments: ["id", "name", "key", "user"] as [Key])
    func `values that records exchange leave the edits with their names`(name: Key) {
        func record(_ key: Value, _ role: Value, mail: Value? = nil) -> Value {
            var record: Value.Map = ["role": role]
            record[name] = key
            record["mail"] = mail
            return .map(record)
        }
        let base: Value = [record("ann", "admin"), record("bob", "user")]
        let swapped: Value = [record("ann", "user"), record("bob", "admin")]
        let mailed: Value = [record("ann", "admin", mail: "a@x"), record("bob", "user")]
        let added = merge(base, swapped, mailed)
        // Under a name that is not usual, the record may be that of the role.
        let wanted: Value = [record("ann", "user", mail: "a@x"), record("bob", "admin")]
        #expect(added.value == wanted || name == "user" && added.isReported)

        let removed = merge(base, swapped, [record("bob", "user")])
        #expect(removed.value == [record("bob", "admin")] || removed.isReported)
    }

    @Test func `a card that moves to another column moves no other one`() {
        let base: Value = [["name": "todo", "cards": ["X"]], ["name": "doing", "cards": []]]
        let moved: Value = [["name": "todo", "cards": []], ["name": "doing", "cards": ["X"]]]
        let added: Value = [
            ["name": "todo", "cards": ["X", "Y"]], ["name": "doing", "cards": []],
        ]
        let found = merge(base, moved, added)
        #expect(
            found.value == [["name": "todo", "cards": ["Y"]], ["name": "doing", "cards": ["X"]]]
        )
        #expect(!found.isReported)
    }

    /// Tasks as an app makes them: their names are much alike, and the defaults are equal.
    private func task(_ id: Value, _ title: Value, done isDone: Bool = false) -> Value {
        ["id": id, "text": title, "done": .bool(isDone), "prio": 2]
    }

    @Test(
        arguments: [
            ("Call the plumber", "Call the electrician"), ("Crash on start", "Crash on exit"),
        ],
        [[1, 2, 3, 4], ["a1", "b2", "c3", "d4"]] as [[Value]]
    )
    func `an edit does not land on a new record that is much like the removed one`(
        titles: (Key, Key),
        ids: [Value]
    ) {
        let (first, rest) = (
            task(ids[0], .string(titles.0)), [task(ids[1], "Buy milk"), task(ids[2], "Pay rent")]
        )
        let new = task(ids[3], .string(titles.1))
        let base = Value.list(Value.List([first] + rest))
        let ticked = Value.list(Value.List([task(ids[0], .string(titles.0), done: true)] + rest))
        for replaced in [[new] + rest, rest + [new], [rest[0], new, rest[1]]] {
            let found = merge(base, ticked, .list(Value.List(replaced)))
            #expect(found.isReported)
            #expect(
                found.value.list?.contains(task(ids[3], .string(titles.1), done: true)) == false
            )
        }
    }

    @Test func `an edit stays with a record that the other side copied and gave another title`() {
        func card(_ id: Value, _ title: Value, _ owner: Value) -> Value {
            ["id": id, "title": title, "owner": owner]
        }
        let roof = card("c2", "Roof", "bob")
        let found = merge(
            [card("c1", "Fence", "ann"), roof],
            [card("c1", "Shed", "ann"), roof, card("n7", "Fence", "ann")],
            [card("c1", "Fence", "zoe"), roof]
        )
        #expect(found.value == [card("c1", "Shed", "zoe"), roof, card("n7", "Fence", "ann")])
        #expect(!found.isReported)
    }

    @Test func `an edit does not land on another record with the same author`() {
        func book(_ title: Value, isRead: Bool = false) -> Value {
            ["title": title, "author": "Rowling", "read": .bool(isRead)]
        }
        let others: [Value] = [
            ["title": "Emma", "author": "Austen", "read": false],
            ["title": "Dune", "author": "Herbert", "read": false],
        ]
        let found = merge(
            .list(Value.List([book("Harry Potter 1")] + others)),
            .list(Value.List([book("Harry Potter 1", isRead: true)] + others)),
            .list(Value.List(others + [book("Harry Potter 2")]))
        )
        #expect(found.isReported)
        #expect(found.value.list?.contains(book("Harry Potter 2", isRead: true)) == false)
    }

    @Test func `a record that both sides rename and one moves is there twice, and reported`() {
        let base: [Value] = [
            ["id": "soup", "text": "leek and potatoes in a broth, with bread", "day": 1],
            ["id": "cake", "text": "plums and walnuts on a thin layer of dough", "day": 2],
            ["id": "fish", "text": "trout with almonds and a salad of beans", "day": 3],
        ]
        var (renamed, moved) = (base, base)
        renamed[0] = ["id": "broth", "text": "leek and carrots in a broth, with bread", "day": 8]
        moved.append(
            ["id": "starter", "text": "leek and potatoes in a cream, with toast", "day": 9]
        )
        moved.remove(at: 0)
        let found = merge(
            .list(Value.List(base)),
            .list(Value.List(renamed)),
            .list(Value.List(moved))
        )
        #expect(found.isReported && found.value.list?.count == 4)
    }

    @Test func `names that have changed places, and counting names, are still found by the rest`() {
        let base: Value = [
            ["name": "ann", "desk": "north window", "floor": 3],
            ["name": "bob", "desk": "south corner", "floor": 1],
        ]
        let swapped: Value = [
            ["name": "bob", "desk": "north window", "floor": 3],
            ["name": "ann", "desk": "south corner", "floor": 1],
        ]
        let edited: Value = [
            ["name": "ann", "desk": "north window", "floor": 4],
            ["name": "bob", "desk": "south corner", "floor": 1],
        ]
        #expect(merge(base, swapped, edited).value.list?[0]["floor"] == 4)
        func steps(_ texts: String...) -> Value {
            .list(
                Value.List(
                    texts.enumerated().map { number, text in
                        ["title": .string(Key("Step \(number + 1)")), "text": .string(Key(text))]
                    }
                )
            )
        }
        let counted = steps("wash the salad", "cut the bread")
        let inserted = steps("take a bowl", "wash the salad", "cut the bread")
        let reworded = steps("wash the salad well", "cut the bread")
        let found = merge(counted, inserted, reworded)
        #expect(
            found.value == steps("take a bowl", "wash the salad well", "cut the bread")
                || found.isReported
        )
    }

    @Test(arguments: [
        ["A", "B", "C", "D"], ["Step one", "Step two", "Step three", "Step four"],
        ["Step 1", "Step 2", "Notes", "Step 3"],
    ])
    func `names that count are still found by the rest when a record comes before them`(
        names: [String]
    ) {
        func list(_ texts: String...) -> Value {
            .list(
                Value.List(
                    zip(names, texts).map { name, text in
                        ["title": .string(Key(name)), "text": .string(Key(text))]
                    }
                )
            )
        }
        let base = list("wash the salad", "cut the bread", "boil an egg")
        let inserted = list("take a bowl", "wash the salad", "cut the bread", "boil an egg")
        let reworded = list("wash the salad well", "cut the bread", "boil an egg")
        let found = merge(base, inserted, reworded)
        #expect(
            found.value
                == list("take a bowl", "wash the salad well", "cut the bread", "boil an egg")
                || found.isReported
        )
    }

    @Test func `two new records with one name of another kind are reported`() {
        func person(_ mail: Value, _ role: Value) -> Value { ["email": mail, "role": role] }
        let base: Value = [
            person("a@x", "admin"), person("b@x", "user"), person("c@x", "user"),
            person("d@x", "guest"),
        ]
        func adding(_ role: Value) -> Value {
            .list(Value.List((base.list ?? []) + [person("e@x", role)]))
        }
        #expect(merge(base, adding("admin"), adding("guest")).isReported)
    }

    @Test func `fields that are filled in make no other record`() {
        let base: Value = [
            ["task": "paint the fence", "due": .null, "who": .null],
            ["task": "mow the lawn", "due": .null, "who": .null],
        ]
        let filled: Value = [
            ["task": "paint the fence", "due": "2026-05-01", "who": "Rosa"],
            ["task": "mow the lawn", "due": .null, "who": .null],
        ]
        let renamed: Value = [
            ["task": "paint the fence green", "due": .null, "who": .null],
            ["task": "mow the lawn", "due": .null, "who": .null],
        ]
        let found = merge(base, filled, renamed)
        #expect(
            found.value.list?[0]
                == ["task": "paint the fence green", "due": "2026-05-01", "who": "Rosa"]
        )
        #expect(!found.isReported)
    }

    @Test func `two new records are two, if nothing but a kind says that they are one`() {
        func task(_ word: Value) -> Value { ["type": "shell", "group": "build", "args": [word]] }
        let tasks = merge([], [task("remove")], [task("design")])
        #expect(tasks.value.unordered == ([task("remove"), task("design")] as Value).unordered)
        #expect(!tasks.isReported, "they have nothing to do with each other")

        let deny: Value = ["action": "deny", "proto": "udp", "ttl": 300, "match": "x"]
        let first: Value = ["action": "allow", "proto": "tcp", "ttl": 60, "match": "y"]
        let second: Value = ["action": "allow", "proto": "tcp", "ttl": 60, "target": "z"]
        let rules = merge([deny], [deny, first], [deny, second])
        #expect(rules.value.unordered == ([deny, first, second] as Value).unordered)

        func score(_ player: Value) -> Value { ["player": player, "points": 40, "round": 1] }
        let scores = merge([], [score("Rosa")], [score("Greta")])
        #expect(scores.value.unordered == ([score("Rosa"), score("Greta")] as Value).unordered)
    }

    @Test func `an edit of a record does not land on another one in its place`() {
        let spider: Value = [
            "question": "How many legs has a spider?", "options": ["6", "8"], "answer": 1,
        ]
        let capital: Value = [
            "question": "What is the capital of France?", "options": ["Paris", "Rome", "Oslo"],
            "answer": 0,
        ]
        let hinted = capital.with("hint", "Eiffel tower")
        let questions = merge([capital], [spider], [hinted])
        #expect(questions.isReported)
        #expect(questions.value == [spider] || questions.value == [hinted])

        let rent: Value = ["day": "2026-11-01", "what": "rent", "amount": 800, "category": "flat"]
        let bulb: Value = [
            "day": "2026-11-08", "what": "bulb fix", "amount": 46, "category": "fun",
        ]
        let server: Value = [
            "day": "2026-12-26", "what": "buy server", "amount": 8, "category": "fun",
        ]
        let tagged = bulb.with("tags", ["urgent"])
        let expenses = merge([rent, bulb], [rent, server], [rent, tagged])
        #expect(expenses.isReported)
        #expect(
            expenses.value.list?[1]["tags"] == nil || expenses.value.list?[1]["what"] == "bulb fix"
        )
    }

    @Test func `a record that both sides may have renamed is reported`() {
        func task(_ title: Value, note: Value? = nil) -> Value {
            var task: Value.Map = ["title": title, "done": false]
            task["note"] = note
            return .map(task)
        }
        #expect(merge([task("Pay")], [task("Test server")], [task("Write tests")]).isReported)
        let noted = task("Write tests", note: "the long ones")
        #expect(merge([task("Pay")], [task("Test server")], [noted]).isReported)
        // A task that both removed as done, and two new ones, have nothing in common.
        let done: Value = [["title": "Pay", "done": true]]
        #expect(!merge(done, [task("Test server")], [task("Write tests")]).isReported)
    }

    @Test func `a record that both sides renamed is reported beside another change`() {
        func user(_ name: Value, _ role: Value = "viewer") -> Value {
            ["name": name, "role": role]
        }
        let (ann, cy) = (user("ann"), user("cy", "admin"))
        let base: Value = [ann, user("bob"), cy]
        let added: Value = [ann, user("robert"), user("dee"), cy]
        #expect(merge(base, added, [ann, user("bobby"), cy]).isReported)
        #expect(merge(base, [user("robert"), cy], [ann, user("bobby"), cy]).isReported)
        // Another one that both removed, and a new one of one side, are two things.
        #expect(!merge(base, [ann, user("dee", "guest"), cy], [ann, cy]).isReported)
    }

    @Test func `two new records for one week are told, however few there are`() {
        func week(_ number: Int64, _ title: Value, _ topic: Value) -> Value {
            ["week": .int(number), "title": title, "topic": topic]
        }
        let base = [week(1, "Lab", "T0"), week(2, "Lab", "T1")]
        let ours: Value = .list(Value.List(base + [week(3, "Lab", "Intro")]))
        let theirs: Value = .list(Value.List(base + [week(3, "Exam", "Intro")]))
        #expect(
            Merge(base: .list(Value.List(base)), ours: ours, theirs: theirs).conflicts.count == 1
        )
    }

    @Test func `a record that both sides moved elsewhere was not renamed`() {
        let paid: Value = ["title": "Pay the rent", "note": "by Friday"]
        func board(_ todo: Value...) -> Value { ["todo": .list(Value.List(todo)), "done": [paid]] }
        let base: Value = ["todo": [paid], "done": []]
        let (test, write): (Value, Value) = (
            ["title": "Test server", "note": "by Friday"],
            ["title": "Write tests", "note": "by Friday"]
        )
        let found = merge(base, board(test), board(write))
        #expect(found.value.unordered == board(test, write).unordered)
        #expect(!found.isReported)
        let removed = Merge(
            base: ["todo": [paid]],
            ours: ["todo": [test]],
            theirs: ["todo": [write]]
        )
        #expect(removed.conflicts.first?.explanation.contains("both are there") == true)
    }

    @Test func `a list of hashes that both replace is that of one side`() {
        let base: Value = ["h1aa", "h2bb", "h3cc"]
        let (ours, theirs): (Value, Value) = (["k1dd", "k2ee", "k3ff"], ["m1gg", "m2hh"])
        let found = Merge(base: base, ours: ours, theirs: theirs)
        #expect(found.value == ours || found.value == theirs)
        #expect(found.conflicts.count == 1)
    }

    @Test(arguments: ["10.05.24|12.05.24|11.06.24", "2024.05.10|2024.05.12|2024.06.11"])
    func `two other days are no raised versions`(days: String) {
        let days = days.split(separator: "|").map { Value.string(Key(String($0))) }
        #expect(merge(["due": days[0]], ["due": days[1]], ["due": days[2]]).isReported)
        let versions: [(Value, Value, Value)] = [
            ("1.5.10", "1.5.12", "1.6.11"), ("22.04.1", "22.04.3", "22.04.5"),
            ("^1.05.0", "^1.06.0", "^1.07.0"), ("1.2.03", "1.2.04", "1.2.05"),
        ]
        for (base, ours, theirs) in versions {
            #expect(!merge(["v": base], ["v": ours], ["v": theirs]).isReported, "\(base)")
        }
    }

    @Test func `two words that the sides wrote in capitals are contested`() {
        let base: Value = "one two three four"
        let capitals = Merge(base: base, ours: "one TWO three four", theirs: "one two THREE four")
        #expect(capitals.conflicts.count == 1)
        let commas = Merge(base: base, ours: "one two, three five", theirs: "one two three, five")
        #expect(commas.conflicts.isEmpty)
    }

    @Test(.timeLimit(.minutes(1)))
    func `many records that one side replaced are compared in a time that grows with their number`()
    {
        var random = Seeded(seed: 1)
        func words(_ count: Int) -> Value {
            let words = (0..<count).map { _ in String(random.next() % 100_000, radix: 36) }
            return .string(Key(words.joined(separator: " ")))
        }
        let count: Int64 = 4_000
        let base = (0..<count).map { ["id": .int($0), "text": words(8), "old": true] as Value }
        let replaced = (0..<count).map { ["id": .int(count + $0), "text": words(40)] as Value }
        let edited = base.map { $0.with("old", nil) }
        let merge = Merge(
            base: .list(Value.List(base)),
            ours: .list(Value.List(replaced)),
            theirs: .list(Value.List(edited))
        )
        #expect(merge.value.list?.count == Int(count))
    }
}

extension Value {
    fileprivate func with(_ key: Key, _ value: Value?) -> Value {
        var map = map ?? [:]
        map[key] = value
        return .map(map)
    }
}
