import GodwitTree
import Testing

/// Which new items of both sides are one record.
@Suite struct MergeTwinTests {
    private func merge(_ base: Value, _ ours: Value, _ theirs: Value) -> Merge {
        let merge = Merge(base: base, ours: ours, theirs: theirs)
        #expect((try? merge.afterOurs.applied(to: ours)) == merge.value)
        #expect((try? merge.afterTheirs.applied(to: theirs)) == merge.value)
        return merge
    }

    @Test func `two records with one title and nothing else in common are two`() {
        let ann: Value = ["title": "Call", "who": "Ann", "when": "Mon"]
        let tax: Value = ["title": "Call", "note": "about tax", "prio": "high"]
        let merge = merge(["tasks": []], ["tasks": [ann]], ["tasks": [tax]])

        #expect(merge.value == ["tasks": [ann, tax]])
        #expect(merge.conflicts.map(\.reason) == [.sameIdentity])
    }

    @Test func `two new records with one title and ids of their own are two`() {
        let base: Value = [["id": "c1", "title": "Fence", "owner": "ann"]]
        let ours: Value = ["id": "c3", "title": "Retro", "owner": "bob"]
        let theirs: Value = ["id": "c4", "title": "Retro", "owner": "ann"]
        for base in [base, []] as [Value] {
            let items = Array(base.list ?? [])
            let merge = merge(
                base,
                .list(Value.List(items + [ours])),
                .list(Value.List(items + [theirs]))
            )
            #expect(merge.value == .list(Value.List(items + [ours, theirs])))
        }
    }

    @Test func `two records of one new author are two`() {
        func message(_ user: Value, _ fields: Value.Map) -> Value {
            var message = fields
            message["user"] = user
            return .map(message)
        }
        let (ann, bob): (Value, Value) = (
            ["id": "u1", "name": "Ann"], ["id": "u2", "name": "Bob"]
        )
        let cem: Value = ["id": "u3", "name": "Cem"]
        let base = [message(ann, ["text": "Hi"]), message(bob, ["text": "Hello"])]
        let ours = message(cem, ["text": "I am new", "lang": "en"])
        for fields in [["image": "cat.png", "alt": "a cat"], ["text": "And here", "lang": "de"]]
            as [Value.Map]
        {
            let theirs = message(cem, fields)
            let merge = merge(
                .list(Value.List(base)),
                .list(Value.List(base + [ours])),
                .list(Value.List(base + [theirs]))
            )
            #expect(merge.value == .list(Value.List(base + [ours, theirs])))
        }
    }

    @Test func `two features with one name, one of which has more, are one`() {
        func feature(_ name: Value, _ x: Value, _ tags: (Key, Value)...) -> Value {
            var properties: Value.Map = ["name": name, "kind": "tree", "height": 12]
            for (key, value) in tags { properties[key] = value }
            return [
                "type": "Feature", "properties": .map(properties),
                "geometry": ["type": "Point", "coordinates": [x, 48.5]],
            ]
        }
        let base: [Value] = [feature("oak", 9.1), feature("elm", 9.2)]
        func merged(_ ours: Value, _ theirs: Value) -> [Value]? {
            merge(
                .list(Value.List(base)),
                .list(Value.List(base + [ours])),
                .list(Value.List(base + [theirs]))
            ).value.list.map { Array($0.dropFirst(2)) }
        }
        #expect(
            merged(feature("ash", 9.3), feature("ash", 9.3, ("bark", "grey")))
                == [feature("ash", 9.3, ("bark", "grey"))]
        )
    }

    @Test
    func
        `two records with one number that agree on less than half, or half with another name, are two`()
    {
        let pairs: [(Value, Value)] = [
            (
                ["id": 2, "title": "Milk", "done": false, "shop": "A"],
                ["id": 2, "title": "Wine", "done": false, "price": 7]
            ),
            (["id": 2, "done": false, "milk": 3], ["id": 2, "done": false, "wine": 7]),
            (["id": 2, "title": "Soap", "count": 1], ["id": 2, "title": "Eggs", "count": 1]),
            (
                ["id": 2, "title": "Milk", "done": false, "tags": [], "due": .null, "note": ""],
                ["id": 2, "title": "Wine", "done": false, "tags": [], "due": .null, "note": ""]
            ),
        ]
        let bread: Value = ["id": 1, "title": "Bread", "done": false]
        for (ours, theirs) in pairs {
            let merge = merge(
                ["items": [bread]],
                ["items": [bread, ours]],
                ["items": [bread, theirs]]
            )
            #expect(merge.value == ["items": [bread, ours, theirs]])
            #expect(merge.conflicts.map(\.reason) == [.sameIdentity])
        }
    }

    @Test(arguments: ["id", "uuid", "key", "path"] as [Key])
    func `two records with one string as identity and nothing else in common are two`(
        identity: Key
    ) {
        let bread: Value = .map([identity: "b", "title": "Bread", "shop": "A", "done": false])
        // What both have unset, and lists that unite, do not make one of them.
        let milk: Value = .map([
            identity: "c", "title": "Milk", "shop": "A", "done": false, "tags": ["x"],
        ])
        let tax: Value = .map([
            identity: "c", "subject": "Tax", "who": "Ann", "done": false, "tags": ["y"],
        ])
        let merge = merge([bread], [bread, milk], [bread, tax])

        #expect(merge.value == [bread, milk, tax])
        #expect(merge.conflicts.map(\.reason) == [.sameIdentity])
    }

    @Test func `a record that one side knows more of is one`() {
        let merge = merge([], [["id": "c"]], [["id": "c", "title": "Milk"]])
        #expect(merge.value == [["id": "c", "title": "Milk"]])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `two records with one string as identity that differ in a field are one, reported`()
    {
        let ours: Value = ["id": "c", "title": "Milk", "shop": "A", "unit": "l"]
        let theirs: Value = ["id": "c", "title": "Milk, fresh", "price": 2, "note": "cold"]
        let merge = merge([], [ours], [theirs])
        #expect(merge.value.list?.count == 1)
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `two records that agree on most are one with the fields of both`() {
        let ours: Value = ["id": 2, "title": "Milk", "shop": "A", "unit": "l", "price": 2]
        let theirs: Value = ["id": 2, "title": "Milk", "shop": "A", "unit": "l", "note": "cold"]
        let merge = merge(["items": []], ["items": [ours]], ["items": [theirs]])
        #expect(
            merge.value == [
                "items": [
                    [
                        "id": 2, "title": "Milk", "shop": "A", "unit": "l", "price": 2,
                        "note": "cold",
                    ]
                ]
            ]
        )
    }

    @Test func `an identity that an app declares makes one record of two`() {
        var policy = MergePolicy()
        policy.identify(by: "title", at: "/tasks")
        let merge = Merge(
            base: ["tasks": []],
            ours: ["tasks": [["title": "Call", "who": "Ann"]]],
            theirs: ["tasks": [["title": "Call", "note": "about tax"]]],
            policy: policy
        )
        #expect(
            merge.value == ["tasks": [["title": "Call", "who": "Ann", "note": "about tax"]]]
        )
    }

    @Test func `two keys that an app declares tell records apart together`() {
        var policy = MergePolicy()
        policy.identify(by: "number", "day", at: "/flights")
        func flight(_ day: Value, _ field: Key, _ value: Value) -> Value {
            .map(["number": "LH 1", "day": day, field: value])
        }
        let merge = Merge(
            base: ["flights": []],
            ours: ["flights": [flight("Mon", "gate", "A1"), flight("Tue", "gate", "A2")]],
            theirs: ["flights": [flight("Tue", "seat", "7C")]],
            policy: policy
        )
        let tuesday: Value = ["number": "LH 1", "day": "Tue", "gate": "A2", "seat": "7C"]
        #expect(merge.value == ["flights": [flight("Mon", "gate", "A1"), tuesday]])
    }

    /// What both branches added, of which one corrected something.
    @Test func `a record without a name that one side corrected is reported`() throws {
        let towns: [Value] = ["Rome", "Oslo", "Bern", "Wien"].enumerated().map { place, name in
            [
                "at": [.int(Int64(place)), 40.25],
                "properties": ["city": name, "pop": .int(Int64(place))],
            ]
        }
        var corrected = towns
        corrected[2] = ["at": [2, 40.25], "properties": ["city": "Bern", "pop": 7]]
        for base in [[], [["at": [9.5, 9.5], "properties": ["city": "Riga", "pop": 9]]]] as [Value]
        {
            let items = Array(base.list ?? [])
            let merge = merge(
                base,
                .list(Value.List(items + towns)),
                .list(Value.List(items + corrected))
            )
            #expect(merge.value.list?.count == items.count + 5)
            #expect(merge.conflicts.map(\.reason) == [.sameIdentity])
        }
    }

    @Test func `two last records that have nothing in common are two`() {
        let rules: [Value] = ["db", "web", "mail"].map { ["from": "any", "to": $0, "ports": [80]] }
        let ours: Value = ["from": "ten", "to": "log", "ports": [1]]
        let theirs: Value = ["from": "six", "to": "box", "ports": [2]]
        let merge = merge(
            [],
            .list(Value.List(rules + [ours])),
            .list(Value.List(rules + [theirs]))
        )
        #expect(merge.value == .list(Value.List(rules + [ours, theirs])))
    }

    @Test func `two new pairs that look alike are two`() throws {
        for (ours, theirs) in [
            (["parse", "store"], ["parse", "print"]), (["bank", "Bank"], ["bank", "Ufer"]),
        ] {
            let (our, their) = (
                ours.map { Value.string(Key($0)) }, theirs.map { Value.string(Key($0)) }
            )
            let (first, same): (Value, Value) = (["start", "read"], ["read", "parse"])
            let (ourPair, theirPair) = (Value.list(Value.List(our)), Value.list(Value.List(their)))
            let merge = merge([first], [first, same, ourPair], [first, same, theirPair])
            #expect(merge.value == [first, same, ourPair, theirPair])
        }
    }
}
