import GodwitTestKit
import Testing

@testable import GodwitTree

/// Drafts write down what was meant.
@Suite struct DraftTests {
    @Test func `a draft writes down what was meant`() throws {
        var list: Value = [
            "items": [["name": "Bread"], ["name": "Wine"], ["name": "Eggs", "count": 6]],
            "note": "for tonight",
        ]
        let delta = try list.edit {
            $0.items[0].crossed = true
            $0.items.list.move(from: 1, to: 0)
            $0.items[2].count -= 2
            $0.items.list.append(["name": "Milk"])
            $0.items[3].name = "Oat milk"
            $0.note.text.append(", or tomorrow")
            $0["who buys"] = ["Ann"]
            $0["who buys"].list.append("Ben")
        }
        #expect(
            list == [
                "items": [
                    ["name": "Wine"], ["name": "Bread", "crossed": true],
                    ["name": "Eggs", "count": 4], ["name": "Oat milk"],
                ],
                "note": "for tonight, or tomorrow",
                "who buys": ["Ann", "Ben"],
            ]
        )
        #expect(
            delta.ednText()
                == "{:items {:= {0 {:crossed true} 2 {:count #d/inc -2}} :> {0 1} "
                + ":+ {3 {:name \"Oat milk\"}}} :note #d/text [[11 0 \", or tomorrow\"]] "
                + "\"who buys\" [\"Ann\" \"Ben\"]}"
        )
    }

    @Test func `what is done and undone leaves nothing behind`() throws {
        var value: Value = ["a": [1, 2, 3], "n": 1, "words": "hello"]
        let delta = try value.edit {
            $0.a.list.insert(9, at: 1)
            $0.a.list.remove(at: 1)
            $0.a.list.move(from: 0, to: 2)
            $0.a.list.move(from: 2, to: 0)
            $0.n += 1
            $0.n -= 1
            $0.words.text.insert("x", at: 2)
            $0.words.text.removeSubrange(2..<3)
            $0.new = 5
            $0.new = nil
        }
        #expect(delta == .keep)
        #expect(value == ["a": [1, 2, 3], "n": 1, "words": "hello"])
    }

    @Test(arguments: [3, 40, 200])
    func `what changes nothing in a list of equal items leaves nothing behind`(count: Int) throws {
        let bread: Value = ["name": "Bread"]
        let edits: [(inout Draft) -> Void] = [
            { $0[1] = ["name": "Bread"] },
            { $0[1].name = "Bread" },
            {
                $0[1] = 7
                $0[1] = ["name": "Bread"]
            },
            { $0.list.move(from: 0, to: 2) },
            {
                $0.list.move(from: 0, to: 2)
                $0[1] = ["name": "Bread"]
            },
            {
                $0.list.remove(at: 0)
                $0.list.insert(bread, at: 2)
            },
            {
                $0.list.insert(bread, at: 2)
                $0.list.remove(at: 0)
            },
        ]
        let base = Value.list(Array(repeating: bread, count: count))
        for (index, edit) in edits.enumerated() {
            var value = base
            #expect(try value.edit(edit) == .keep, "edit \(index)")
            #expect(value == base, "edit \(index)")
        }
    }

    @Test func `reading a draft changes nothing`() throws {
        var value: Value = ["items": [["done": true]]]
        let delta = try value.edit {
            #expect($0.items[0].done == true)
            #expect($0.items.list.count == 1 && Value($0.nowhere) == .null)
            #expect($0.items[0].done.text.string.isEmpty)
        }
        #expect(delta == .keep)
    }

    @Test func `what does not fit is an error with its place, and nothing has changed`() throws {
        let base: Value = ["items": [["n": 1]], "name": "é"]
        let edits: [(String, (inout Draft) -> Void)] = [
            ("/items", { $0.items.x = 1 }),
            ("/items", { $0.items[1].n = 1 }),
            ("/items/0/n", { $0.items[0].n.list.append(1) }),
            ("/name", { $0.name += 1 }),
            ("/nowhere", { $0.nowhere.x = 1 }),
            ("/items", { $0.items.list.move(from: 0, to: 1) }),
            ("/items", { $0.items.list.remove(at: -1) }),
            ("/name", { $0.name.text.insert("x", at: 1) }),
            ("/name", { $0.name.text.removeSubrange(0..<3) }),
            ("/items/0", { $0.items[0].text.append("x") }),
        ]
        for (path, edit) in edits {
            var value = base
            let error = #expect(throws: TreeError.self) {
                try value.edit {
                    $0.added = true
                    edit(&$0)
                }
            }
            guard case .wrongBase(let found, _)? = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
            #expect(found.description == path)
            #expect(value == base)
        }
    }

    @Test func `a draft that comes from elsewhere is a value that is set`() throws {
        func put(_ place: inout Draft, _ other: Draft) { place = other }
        let base: Value = [
            "a": ["x": 1], "b": ["x": 2], "title": "one", "note": "two", "l": [[1], [2]],
        ]
        func with(_ key: Key, _ value: Value) throws -> Value {
            var map = try #require(base.map)
            map[key] = value
            return .map(map)
        }
        let edits: [((inout Draft) -> Void, Value)] = [
            ({ $0 = $0.b }, ["x": 2]), ({ $0 = Draft(["x": 1]) }, ["x": 1]),
            (
                { draft in
                    let other = draft.b
                    put(&draft.a, other)
                }, try with("a", ["x": 2])
            ),
            (
                { draft in
                    let other = draft.l[1]
                    put(&draft.l[0], other)
                }, try with("l", [[2], [2]])
            ),
            (
                {
                    $0.note.text = $0.title.text
                    $0.note.text.append("!")
                }, try with("note", "one!")
            ),
            ({ $0.a = $0.b }, try with("a", ["x": 2])),
        ]
        for (edit, wanted) in edits {
            var value = base
            let delta = try value.edit(edit)
            #expect(value == wanted)
            #expect(try delta.applied(to: base) == wanted)
        }
    }

    @Test func `many edits of maps in maps cost what they are`() throws {
        let cost = try CostRatio(
            small: { try editMaps(count: 10_000) },
            large: { try editMaps(count: 40_000) }
        )
        #expect(cost.isLinear, "\(cost)")
    }

    private func editMaps(count: Int) throws {
        var value: Value = ["tasks": [:]]
        let delta = try value.edit { draft in
            for number in 0..<count { draft.tasks[Key("\(number)")] = ["done": false] }
            for number in 0..<count { draft.tasks[Key("\(number)")].done = true }
        }
        #expect(try delta.applied(to: ["tasks": [:]]) == value)
        let base = value
        let second = try value.edit { draft in
            for number in 0..<count { draft.tasks[Key("\(number)")].done = number }
            for number in 0..<count { draft.tasks[Key("\(number)")].name = "n" }
        }
        #expect(try second.applied(to: base) == value)
    }

    @Test func `many edits of items cost what they are`() throws {
        let cost = try CostRatio(
            small: { try editItems(count: 5_000) },
            large: { try editItems(count: 20_000) }
        )
        #expect(cost.isLinear, "\(cost)")
    }

    private func editItems(count: Int) throws {
        var value: Value = ["tasks": .list((0..<count).map { ["id": .int(Int64($0))] })]
        let base = value
        let delta = try value.edit { draft in
            for number in 0..<count { draft.tasks[number].done = true }
            for number in 0..<count { draft.tasks[number].name = "n" }
        }
        #expect(try delta.applied(to: base) == value)
    }

    @Test func `any edits of a draft are those of its delta`() throws {
        for seed in 0..<20_000 as Range<UInt64> {
            var random = Seeded(seed: seed)
            let base = Value.map(random.map())
            var value = base
            let delta = try value.edit { draft in
                for _ in 0..<Int.random(in: 1...12, using: &random) { random.edit(&draft) }
            }
            let result = try delta.applied(to: base)
            try #require(result == value, "seed \(seed): \(base) by \(delta)")
            try #require(try Delta(canonicalBytes: delta.canonicalBytes) == delta, "seed \(seed)")
        }
    }

    @Test func `any edits of a text are those of a string`() throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = Seeded(seed: seed)
            var model = random.prose()
            let base = Value.string(Key(model))
            var draft = Draft(base)
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                let scalars = Array(model.unicodeScalars)
                let start = Int.random(in: 0...scalars.count, using: &random)
                let end = min(scalars.count, start + random.pick([0, 0, 1, 2, 30]))
                let new = random.pick(["", "a", "é", "word ", "\u{1f9fa}", random.prose()])
                let before = String.UnicodeScalarView(scalars[..<start])
                let removed = String.UnicodeScalarView(scalars[start..<end])
                let offset = String(before).utf8.count
                let range = offset..<(offset + String(removed).utf8.count)
                draft.text.replaceSubrange(range, with: new)
                model = String(before) + new + String(String.UnicodeScalarView(scalars[end...]))
            }
            #expect(Value(draft) == .string(Key(model)), "seed \(seed)")
            #expect(try Delta(draft).applied(to: base) == Value(draft), "seed \(seed)")
        }
    }
}

extension Seeded {
    /// One random edit somewhere in a draft.
    fileprivate mutating func edit(_ draft: inout Draft, depth: Int = 0) {
        switch Value(draft) {
        case .map(let map) where happens(depth < 3 ? 0.8 : 0.2):
            let key = map.randomElement(using: &self)?.key
            switch (Int.random(in: 0..<4, using: &self), key) {
            case (0, let key?): draft[key] = nil
            case (1, _), (_, nil):
                draft[pick(["a", "b", "id", "new"])] = value(depth: 2)
            case (_, let key?): edit(&draft[key], depth: depth + 1)
            }
        case .list(let list) where happens(0.9):
            let place = list.indices.randomElement(using: &self)
            switch (Int.random(in: 0..<5, using: &self), place) {
            case (0, let place?): draft.list.remove(at: place)
            case (1, let place?):
                draft.list.move(from: place, to: Int.random(in: list.indices, using: &self))
            case (2, let place?), (3, let place?): edit(&draft[place], depth: depth + 1)
            default:
                draft.list.insert(value(depth: 2), at: Int.random(in: 0...list.count, using: &self))
            }
        case .int: draft += Int.random(in: -2...2, using: &self)
        case .string where happens(0.7): draft.text.append("!")
        default: draft = Draft(value(depth: 2))
        }
    }

    /// Some words.
    mutating func prose() -> String {
        (0..<Int.random(in: 0...20, using: &self))
            .map { _ in pick(["one", "two", "three", "für", "\u{1f9fa}", "a\nb"]) }
            .joined(separator: " ")
    }
}
