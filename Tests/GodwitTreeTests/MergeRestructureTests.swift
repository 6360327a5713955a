import GodwitTestKit
import Testing

@testable import GodwitTree

/// Containers that a side takes apart, or gives another form, and records that look like others.
@Suite struct MergeRestructureTests {
    /// Expects one result in both orders of the sides.
    ///
    /// - Parameter isTold: Whether something is reported.
    private func expect(
        _ base: Value,
        _ ours: Value,
        _ theirs: Value,
        gives wanted: Value? = nil,
        isTold: Bool = false,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            let merge = merge(base, ours, theirs)
            if let wanted { #expect(merge.value == wanted, sourceLocation: location) }
            #expect(merge.conflicts.isEmpty != isTold, sourceLocation: location)
        }
    }

    private static let milk: Value = ["id": "a", "title": "Milk"]
    private static let bread: Value = ["id": "b", "title": "Bread", "shop": "Lidl"]

    @Test func `a removal stays where both sides wrap a list`() {
        func wrapped(_ items: Value) -> Value { ["version": 2, "items": items] }
        expect(
            [Self.milk, Self.bread],
            wrapped([Self.milk]),
            wrapped([Self.milk, Self.bread]),
            gives: wrapped([Self.milk])
        )
        expect(
            ["people": ["Anna", "Tom", "Li"]],
            ["people": ["adults": ["Anna", "Tom"]]],
            ["people": ["adults": ["Anna", "Tom", "Li"]]],
            gives: ["people": ["adults": ["Anna", "Tom"]]]
        )
    }

    @Test func `a removal stays where both sides dissolve a container`() {
        func board(_ inbox: Value?, _ week: Value) -> Value {
            var columns: [Value] = [["title": "Week", "cards": week]]
            if let inbox { columns.insert(["title": "Inbox", "cards": inbox], at: 0) }
            return ["columns": .list(Value.List(columns))]
        }
        let bob: Value = ["id": "c-9", "title": "Call Bob"]
        let card: Value = ["id": "c-1", "title": "Update login", "due": "2026-02-01"]
        let less: Value = ["id": "c-1", "title": "Update login"]
        expect(
            board([card], [bob]),
            board(nil, [bob, less]),
            board(nil, [bob, card]),
            gives: board(nil, [bob, less])
        )
        expect(
            ["lint": ["rules": ["semi": "error", "quotes": "warn"]]],
            ["rules": ["semi": "error"]],
            ["rules": ["semi": "error", "quotes": "warn"]],
            gives: ["rules": ["semi": "error"]]
        )
    }

    @Test func `a removal stays where both sides put a record into a new container of another`() {
        func card(_ tags: Value, who: Value?) -> Value {
            var card: Value.Map = ["title": "Send kitchen", "tags": tags]
            card["who"] = who
            return .map(card)
        }
        func nested(_ card: Value) -> Value {
            ["photos": ["title": "Refactor photos", "cards": ["kitchen": card]]]
        }
        expect(
            ["photos": ["title": "Refactor photos"], "kitchen": card([], who: "tom")],
            nested(card(["red"], who: "tom")),
            nested(card([], who: nil)),
            gives: nested(card(["red"], who: nil))
        )
    }

    @Test func `edits go along with the cards of a column that the other side dissolves`() {
        func card(_ id: Value, _ prio: Value) -> Value {
            ["id": id, "title": "Card", "prio": prio]
        }
        func column(_ id: Value, _ cards: Value) -> Value { ["id": id, "cards": cards] }
        let (base, bob): (Value, Value) = ([card("c-1", 2), card("c-2", 1)], card("c-9", 3))
        func board(_ columns: Value) -> Value { ["columns": columns] }
        let dissolved = board([column("week", [bob, card("c-1", 2), card("c-2", 1)])])
        let start = board([column("in", base), column("week", [bob])])
        expect(
            start,
            board([column("in", [card("c-1", 4), card("c-2", 1)]), column("week", [bob])]),
            dissolved,
            gives: board([column("week", [bob, card("c-1", 4), card("c-2", 1)])])
        )
        // What is new in the column keeps it.
        let extended: Value = [card("c-1", 2), card("c-2", 1), card("c-3", 1)]
        let larger = board([column("in", extended), column("week", [bob])])
        expect(start, larger, dissolved, isTold: true)
    }

    @Test func `a removal beside an edit in a container that the other side dissolves is reported`()
    {
        expect(
            ["home": ["title": "Welcome to our shop", "old": "Old"], "cart": ["a": "b"]],
            ["title": "Welcome to our shop", "old": "Old", "cart": ["a": "b"]],
            ["home": ["title": "Welcome to our little shop"], "cart": ["a": "b"]],
            isTold: true
        )
        func task(_ text: Value, done: Value = false) -> Value { ["text": text, "done": done] }
        func week(_ tasks: Value) -> Value { ["name": "Week", "tasks": tasks] }
        func later(_ tasks: Value) -> Value { ["name": "Later", "tasks": tasks] }
        let (mom, renew, milk) = (task("Call mom"), task("Renew the passport"), task("Buy milk"))
        expect(
            ["sections": [week([mom, renew]), later([milk])]],
            ["sections": [later([milk, mom, renew])]],
            ["sections": [week([task("Renew the passport", done: true)]), later([milk])]],
            isTold: true
        )
    }

    @Test func `a record without a name is there once where both sides dissolve its container`() {
        func task(_ text: Value, done: Value = false) -> Value { ["text": text, "done": done] }
        let (milk, mom, called) = (
            task("Buy milk"), task("Call mom"), task("Call mom", done: true)
        )
        expect(
            ["today": [milk], "inbox": [mom]],
            ["today": [milk, mom]],
            ["today": [milk, called]],
            gives: ["today": [milk, called]]
        )
        expect(
            ["inbox": [milk, mom]],
            ["open": [milk], "later": [mom]],
            ["open": [milk], "later": [called]],
            gives: ["open": [milk], "later": [called]]
        )
        func track(_ title: Value, _ duration: Value) -> Value {
            ["title": title, "duration": duration]
        }
        func group(_ name: Value, _ tracks: Value) -> Value { ["name": name, "tracks": tracks] }
        let (room, day) = (track("Room talk", 335), track("Pay day", 139))
        expect(
            ["lists": [group("Rock", [room, track("Photos car", 194)]), group("Pop", [day])]],
            ["tracks": [room, track("Photos car", 194), day]],
            ["tracks": [room, track("Photos car", 195), day]],
            gives: ["tracks": [room, track("Photos car", 195), day]]
        )
    }

    @Test func `edits stay with their records where a side wraps a block`() {
        func block(_ text: Value, _ children: Value? = nil, type: Value? = nil) -> Value {
            var block: Value.Map = ["text": text]
            block["children"] = children
            block["type"] = type
            return .map(block)
        }
        let (milk, bread, costs) = (block("Milk"), block("Bread"), block("Costs"))
        expect(
            [block("Shopping", [milk, bread]), costs],
            [block("Plans", [block("Shopping", [milk, bread])]), costs],
            [block("Shopping", [bread]), costs],
            gives: [block("Plans", [block("Shopping", [bread])]), costs]
        )
        func trip(_ type: Value) -> Value {
            let tickets = block("Buy tickets", [block("Window seat", type: "p")], type: type)
            return block("Trip to Rome", [tickets], type: "p")
        }
        expect(
            [trip("p")],
            [block("Spring", [trip("p")], type: "p")],
            [trip("h2")],
            gives: [block("Spring", [trip("h2")], type: "p")],
            isTold: true
        )
    }

    @Test func `a removal in a record that moves into a part of a dissolved group is reported`() {
        func record(_ id: Value, _ children: Value? = nil, due: Value? = nil) -> Value {
            var record: Value.Map = ["id": id, "title": "Record"]
            record["children"] = children
            record["due"] = due
            return .map(record)
        }
        let (plan, costs) = (record("y"), record("x", due: "2026-03-01"))
        expect(
            [record("g", [plan]), costs],
            [plan, record("x")],
            [record("g", [record("y", [costs])])],
            isTold: true
        )
    }

    @Test func `a new record does not land in a list of groups`() {
        func person(_ name: Value) -> Value { ["name": name, "city": "Bonn", "team": "none"] }
        let (ann, bob, cy, di) = (person("Ann"), person("Bob"), person("Cy"), person("Di"))
        let groups: Value = [
            ["name": "Red", "of": [ann, bob]], ["name": "Blue", "of": [cy, di]],
        ]
        let more: Value = [ann, bob, cy, di, person("Eve")]
        expect(
            ["people": [ann, bob, cy, di]],
            ["teams": groups],
            ["people": more],
            gives: ["people": more, "teams": groups],
            isTold: true
        )
    }

    @Test(arguments: ["text", "question"])
    func `an edit that may land on another record of one person is reported`(_ name: String) {
        func task(_ text: Value, _ who: Value, _ due: Value, done: Value = false) -> Value {
            .map([Key(name): text, "who": who, "due": due, "done": done])
        }
        let others: [Value] = [
            task("Clean the kitchen", "Anna", "2026-03-02"), task("Buy milk", "Li", "2026-03-03"),
        ]
        func list(_ first: Value?, _ last: Value? = nil) -> Value {
            .list(Value.List([first].compactMap(\.self) + others + [last].compactMap(\.self)))
        }
        expect(
            list(task("Water the plants", "Tom", "2026-03-01")),
            list(task("Water the plants", "Tom", "2026-03-01", done: true)),
            list(nil, task("Pay the rent", "Tom", "2026-04-09")),
            isTold: true
        )
    }

    @Test func `an edit does not follow a value of which the base has another copy`() {
        func check(_ wait: Value) -> Value { ["every": 30, "wait": wait, "retries": 3] }
        let (web, api): (Value, Value) = ("node:18", "go:1.20")
        func service(_ image: Value, _ health: Value?) -> Value {
            var service: Value.Map = ["image": image]
            service["health"] = health
            return .map(service)
        }
        let base: Value = ["web": service(web, check(5)), "api": service(api, check(5))]
        let ours: Value = [
            "web": service(web, nil), "api": service(api, check(5)),
            "job": service(api, check(5)),
        ]
        expect(
            base,
            ours,
            ["web": service(web, check(20)), "api": service(api, check(5))],
            gives: [
                "web": service(web, check(20)), "api": service(api, check(5)),
                "job": service(api, check(5)),
            ],
            isTold: true
        )
        // Both remove it, and a new service has one: nothing is in doubt.
        let theirs: Value = ["web": service(web, nil), "api": service(api, check(5))]
        expect(base, ours, theirs, gives: ours)
    }

    @Test func `an edit does not land on a new entry that is as like all others`() {
        func host(_ number: Int64, log: Value = "info") -> Value {
            [
                "host": .int(number), "port": 8080, "cpu": 2, "image": "nginx", "region": "west",
                "replicas": 3, "tls": true, "log": log, "team": "core", "timeout": 30,
                "retries": 5, "memory": "512M",
            ]
        }
        expect(
            ["web1": host(1), "web2": host(2), "web3": host(3)],
            ["web2": host(2), "web3": host(3), "web4": host(4)],
            ["web1": host(1, log: "debug"), "web2": host(2), "web3": host(3)],
            gives: [
                "web1": host(1, log: "debug"), "web2": host(2), "web3": host(3), "web4": host(4),
            ],
            isTold: true
        )
        // It does, if the entry is like this one alone.
        func key(_ name: Value) -> Value {
            ["name": name, "size": 12, "color": "red", "owner": "ann", "tags": ["x", "y"]]
        }
        expect(
            ["one": key("Lighthouse"), "two": key("Harbour")],
            ["uno": key("Lighthouse"), "two": key("Harbour")],
            ["one": ["name": "Lighthouse", "size": 13], "two": key("Harbour")],
            gives: ["uno": ["name": "Lighthouse", "size": 13], "two": key("Harbour")]
        )
    }

    @Test func `a note on a task that recurs goes with the one that is done, and is reported`() {
        func task(_ due: Value, id: Value? = nil, note: Value? = nil) -> Value {
            var task: Value.Map = ["title": "Weekly report", "due": due]
            task["id"] = id
            task["note"] = note
            return .map(task)
        }
        let rent: Value = ["title": "Pay rent", "due": "2026-01-06"]
        for ids: (Value, Value)? in [nil, ("t-3", "t-9")] {
            func old(note: Value? = nil) -> Value { task("2026-01-05", id: ids?.0, note: note) }
            let new = task("2026-01-12", id: ids?.1)
            let note: Value = "ask Tom"
            expect(
                ["open": [old(), rent], "done": []],
                ["open": [old(note: note), rent], "done": []],
                ["open": [new, rent], "done": [old()]],
                gives: ["open": [new, rent], "done": [old(note: note)]],
                isTold: true
            )
        }
    }

    @Test func `a record that both sides move, and one changes in a text, is reported`() {
        func task(_ due: Value, done: Value) -> Value {
            ["title": "Test budget", "due": due, "done": done]
        }
        expect(
            ["todo": [task("2026-03-01", done: false)], "doing": [], "done": []],
            ["todo": [], "doing": [], "done": [task("2026-03-01", done: true)]],
            ["todo": [], "doing": [task("2026-05-02", done: false)], "done": []],
            gives: [
                "todo": [], "doing": [task("2026-05-02", done: false)],
                "done": [task("2026-03-01", done: true)],
            ],
            isTold: true
        )
    }

    @Test func `a record that is there twice is reported once, however often it is looked for`() {
        let (one, two): (Value, Value) = (
            ["id": "x1", "name": "One"], ["id": "x2", "name": "Two"]
        )
        func task(_ due: Value) -> Value { ["title": "Test budget", "due": due] }
        let base: Value = ["todo": [task("March")], "doing": [], "done": [], "old": [one]]
        let ours: Value = ["todo": [], "doing": [], "done": [task("April")], "new": [one]]
        let theirs: Value = ["todo": [], "doing": [task("May")], "done": [], "old": [one, two]]
        let found = merge(base, ours, theirs)
        #expect(found.conflicts.map(\.reason) == [.bothMoved])
    }

    @Test func `a record with a long text that both sides move and edit is there once`() {
        func task(_ changes: Value.Map) -> Value {
            var task = changes
            task["text"] = "Buy two litres of milk"
            return .map(task)
        }
        expect(
            ["open": [task(["done": false])], "done": []],
            ["open": [], "done": [task(["done": true])]],
            ["open": [], "done": [task(["done": true, "by": "anna"])]],
            gives: ["open": [], "done": [task(["done": true, "by": "anna"])]]
        )
    }

    @Test func `two records without a name that both sides may have made anew are reported`() {
        func circle(_ x: Value, _ y: Value, _ r: Value) -> Value {
            ["kind": "circle", "x": x, "y": y, "r": r]
        }
        expect(
            ["back": [circle(10, 20, 5)], "front": []],
            ["back": [], "front": [circle(10, 90, 5)]],
            ["back": [], "front": [circle(70, 20, 8)]],
            isTold: true
        )
    }

    @Test
    func `records of one status that both sides move are found in a time that grows with them`() {
        func record(_ number: Int, _ more: Value.Map) -> Value {
            var record = more
            (record["a"], record["z"]) = ("open", "list")
            record["t"] = .string(Key("Task \(number)"))
            return .map(record)
        }
        func work(_ count: Int) {
            func list(_ more: Value.Map) -> Value {
                .list(Value.List((0..<count).map { record($0, more) }))
            }
            let base: Value = ["open": list(["done": false]), "ours": [], "theirs": []]
            let ours: Value = ["open": [], "ours": list(["done": true]), "theirs": []]
            let theirs: Value = ["open": [], "ours": [], "theirs": list(["done": true, "by": 1])]
            _ = Merge(base: base, ours: ours, theirs: theirs)
        }
        let cost = CostRatio(small: { work(500) }, large: { work(2_000) })
        #expect(cost.isLinear, "\(cost)")
    }
}
