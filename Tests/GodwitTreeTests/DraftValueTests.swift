import GodwitTestKit
import Testing

@testable import GodwitTree

private struct Money: ValueConvertible, Equatable {
    let cents: Int

    init(cents: Int) { self.cents = cents }

    func asValue() throws(TreeError) -> Value { try cents.asValue() }

    init?(value: Value) {
        guard let cents = Int(value: value) else { return nil }
        self.init(cents: cents)
    }
}

/// What can be assigned to a place of a draft, and read from it.
@Suite struct DraftValueTests {
    private func assigned(_ body: (inout Draft) -> Void) throws -> Value? {
        var value: Value = ["a": "before", "l": ["before"]]
        let base = value
        let delta = try value.edit(body)
        #expect(try delta.applied(to: base) == value)
        return value["a"]
    }

    @Test func `a double reads an int that it holds exactly, and a float none that is too large`() {
        let exact = Int64(1) << 53
        #expect(Double(value: 3) == 3 && Double(value: .int(exact)) == 9_007_199_254_740_992)
        #expect(Double(value: .int(exact + 1)) == nil && Double(value: "3") == nil)
        #expect(Float(value: 3) == 3 && Float(value: 0.1) == 0.1 && Float(value: -2.5) == -2.5)
        #expect(Float(value: .int(exact + 1)) == nil && Float(value: 1e300) == nil)
        #expect(Int(value: 3.0) == nil)
    }

    @Test func `any value that is a scalar in Swift can be assigned`() throws {
        let (flag, text, bytes) = (true, "text", [UInt8](1...2))
        #expect(try assigned { $0.a = flag } == true)
        #expect(try assigned { $0.a = !flag } == false)
        #expect(try assigned { $0.a = text } == "text")
        #expect(try assigned { $0.a = text + "!" } == "text!")
        #expect(try assigned { $0.a = "\(text)!" } == "text!")
        #expect(try assigned { $0.a = text.prefix(2) } == "te")
        #expect(try assigned { $0.a = Key(text) } == "text")
        #expect(try assigned { $0.a = bytes } == .bytes([1, 2]))
        #expect(try assigned { $0.a = 0.1 + 0.2 } == 0.30000000000000004)
        #expect(try assigned { $0.a = Float(0.5) } == 0.5)
        #expect(try assigned { $0.a = Value.null } == .null)
        #expect(try assigned { $0.a = Value.Map() } == [:])
        #expect(try assigned { $0.a = Value.List() } == [])
    }

    @Test func `integers of every width can be assigned`() throws {
        #expect(try assigned { $0.a = Int.min } == .int(.min))
        #expect(try assigned { $0.a = Int8.min } == -128)
        #expect(try assigned { $0.a = Int16.min } == -32_768)
        #expect(try assigned { $0.a = Int32.max } == 2_147_483_647)
        #expect(try assigned { $0.a = Int64.max } == .int(.max))
        #expect(try assigned { $0.a = UInt8.max } == 255)
        #expect(try assigned { $0.a = UInt16.max } == 65_535)
        #expect(try assigned { $0.a = UInt32.max } == 4_294_967_295)
        #expect(try assigned { $0.a = UInt(7) } == 7)
        #expect(try assigned { $0.a = UInt64(Int64.max) } == .int(.max))
    }

    @Test func `a scalar is read as what it is, and as nothing else`() {
        let value: Value = ["name": "Wine", "count": 3, "price": 9.5, "crossed": false]
        #expect(value["crossed"]?.bool == false && value["count"]?.bool == nil)
        #expect(value["price"]?.double == 9.5 && value["price"]?.integer == nil)
        #expect(value["count"]?.double == 3.0 && value["name"]?.double == nil)
        #expect(Value.int(.max).double == nil)
    }

    @Test func `arrays and dictionaries of what can be assigned can be`() throws {
        let (ints, rows, named) = ([1, 2], [["x"], []], ["b": 1.5, "a": 2])
        #expect(try assigned { $0.a = ints } == [1, 2])
        #expect(try assigned { $0.a = rows } == [["x"], []])
        #expect(try assigned { $0.a = named } == ["a": 2.0, "b": 1.5])
        #expect(try assigned { $0.a = [Key("k"): [true]] } == ["k": [true]])
        #expect(
            try assigned { $0.a = [[UInt8]](arrayLiteral: [1], []) } == [.bytes([1]), .bytes([])]
        )
    }

    @Test func `literals need no type`() throws {
        let name: Key = "Ann"
        #expect(try assigned { $0.a = "Wine" } == "Wine")
        #expect(try assigned { $0.a = -1 } == -1)
        #expect(try assigned { $0.a = 1.5 } == 1.5)
        #expect(try assigned { $0.a = false } == false)
        #expect(try assigned { $0.a = .null } == .null)
        #expect(try assigned { $0.a = [] } == [])
        #expect(try assigned { $0.a = [:] } == [:])
        #expect(
            try assigned { $0.a = ["n": 1, "of": .string(name), "l": [1, "two", [true]]] }
                == ["n": 1, "of": "Ann", "l": [1, "two", [true]]]
        )
    }

    @Test func `nil removes a key, and an optional that is nil does`() throws {
        let (nothing, something): (String?, String?) = (nil, "x")
        let isEmpty = nothing == nil
        #expect(try assigned { $0.a = nil } == nil)
        #expect(try assigned { $0.a = nothing } == nil)
        #expect(try assigned { $0.a = something } == "x")
        #expect(try assigned { $0.a = isEmpty ? nil : 1 } == nil)
        #expect(try assigned { $0.a = isEmpty ? 1 : nil } == 1)
        #expect(try assigned { $0.a = $0.nowhere } == nil)
        for edit in [{ $0.l[0] = nil }, { $0.l[0] = nothing }] as [(inout Draft) -> Void] {
            #expect(throws: TreeError.self) { try assigned(edit) }
        }
        #expect(throws: TreeError.self) { try assigned { $0 = nil } }
    }

    @Test func `what no value stands for is a failure with its place, not a trap`() throws {
        let edits: [(String, (inout Draft) -> Void)] = [
            ("/a", { $0.a = Double.nan }),
            ("/a", { $0.a = -Float.infinity }),
            ("/a", { $0.a = UInt64.max }),
            ("/a/1", { $0.a = [0, Double.infinity] }),
            ("/a/x", { $0.a = ["x": UInt64.max] }),
            ("/l/0", { $0.l[0] = Double.nan }),
            ("/l", { $0.l.list.append(Double.nan) }),
            ("/a", { $0.a += UInt64.max }),
        ]
        for (path, edit) in edits {
            let error = #expect(throws: TreeError.self) { try assigned(edit) }
            guard case .inexpressible(let found, _)? = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
            #expect(found.description == path)
        }
    }

    @Test func `a place is read as what it is assigned to`() throws {
        var value: Value = [
            "n": 300, "x": 1.5, "s": "text", "b": true, "y": .bytes([1]), "l": [1, 2],
            "m": ["a": 1],
        ]
        try value.edit { draft in
            let (text, bytes): (String?, [UInt8]?) = (draft.s, draft.y)
            let (list, map): ([Int]?, [String: Int]?) = (draft.l, draft.m)
            #expect(draft.n == 300 && draft.x == 1.5 && draft.b == true && draft.l[1] == 2)
            #expect(text == "text" && bytes == [1] && list == [1, 2] && map == ["a": 1])
            let (byte, word, missing): (UInt8?, [String]?, Int?) = (draft.n, draft.l, draft.nowhere)
            #expect(byte == nil && word == nil && missing == nil)
            let nowhere: Int? = draft.l[2]
            #expect(nowhere == nil && Value(draft.l[2]) == .null)
        }
    }

    @Test func `a type of an app can be assigned and read`() throws {
        let price = Money(cents: 250)
        #expect(try assigned { $0.a = price } == 250)
        #expect(try assigned { $0.a = [price, price] } == [250, 250])
        #expect(try assigned { $0.l.list.append(price) } == "before")
        var value: Value = ["price": 250, "prices": [1, 2]]
        try value.edit {
            #expect($0.price == price)
            let prices: [Money]? = $0.prices
            #expect(prices == [Money(cents: 1), Money(cents: 2)])
        }
    }

    @Test func `verbs of lists take any value, and say which place there is not`() throws {
        var value: Value = [1]
        let (text, numbers) = ("x", [UInt16](2...3))
        try value.edit {
            $0.list.append(text)
            $0.list.append("y")
            $0.list.append(["n": 1, "s": "two"])
            $0.list.append(contentsOf: numbers)
            $0.list.append(contentsOf: [4, "five"])
            $0.list.insert(true, at: 0)
            $0.list.insert(!text.isEmpty, at: 0)
            $0.list.insert(contentsOf: ["a", "b"].map { $0 + "!" }, at: 0)
            $0.list.move(from: $0.list.count - 1, to: 0)
        }
        #expect(
            value == ["five", "a!", "b!", true, true, 1, "x", "y", ["n": 1, "s": "two"], 2, 3, 4]
        )
        let edits: [(Int, (inout Draft) -> Void)] = [
            (13, { $0.list.insert(0, at: 13) }), (-1, { $0.list.insert(0, at: -1) }),
            (12, { $0.list.remove(at: 12) }), (-2, { $0.list.remove(at: -2) }),
            (12, { $0.list.move(from: 0, to: 12) }), (-1, { $0.list.move(from: -1, to: 0) }),
        ]
        for (place, edit) in edits {
            let error = #expect(throws: TreeError.self) { try value.edit(edit) }
            #expect("\(error, default: "none")".contains("there is no place \(place) in"))
        }
    }

    @Test func `the names of verbs are fields`() throws {
        var value: Value = [
            "count": 1, "value": 1, "text": "a", "list": [1], "items": ["count": 2],
        ]
        try value.edit {
            $0.count = 3
            $0.value = 4
            $0.items.count += 2
            $0.insert = "i"
            $0.append = ["at": 0]
            $0.append.at = nil
            $0.move = ["from": 1]
            $0.remove = true
            $0.set = 1
            $0.add = 2
            $0.delta = 3
            $0.failure = false
            $0["text"].text.append("b")
            $0["list"].list.append(2)
        }
        #expect(
            value == [
                "count": 3, "value": 4, "text": "ab", "list": [1, 2], "items": ["count": 4],
                "insert": "i", "append": [:], "move": ["from": 1], "remove": true, "set": 1,
                "add": 2, "delta": 3, "failure": false,
            ]
        )
    }
}

/// What a draft does not write down.
@Suite struct IdleEditTests {
    private static let base: Value = [
        "name": "Wine", "n": 1, "items": [["id": 1], ["id": 2], ["id": 3]], "note": "cat and dog",
    ]

    static let edits: [@Sendable (inout Draft) -> Void] = [
        { $0.name = "Wine" },
        { $0.name = Value($0.name) },
        {
            $0.name = "Rye"
            $0.name = "Wine"
        },
        {
            $0.name = nil
            $0.name = "Wine"
        },
        {
            $0.n += 1
            $0.n = 1
        },
        {
            $0.new = 1
            $0.new = nil
        },
        { $0.items[1] = ["id": 2] },
        { $0.items[1].id = 2 },
        {
            $0.items[1].id = 7
            $0.items[1] = ["id": 2]
        },
        { $0.items = [["id": 1], ["id": 2], ["id": 3]] },
        {
            $0.items.list.remove(at: 1)
            $0.items.list.insert(["id": 2], at: 1)
        },
        {
            $0.items.list.removeSubrange(0..<3)
            $0.items.list.append(contentsOf: [["id": 1], ["id": 2], ["id": 3]] as [Value])
        },
        { $0.note.text.replaceSubrange(0..<3, with: "cat") },
        {
            $0.note.text.replaceSubrange(0..<3, with: "bird")
            $0.note.text.replaceSubrange(0..<4, with: "cat")
        },
        {
            let before = $0.items
            $0.items.list.append(1)
            $0.items = before
        },
        {
            let before = $0
            $0 = Draft([1])
            $0 = before
        },
        { $0 = Draft(Value($0)) },
    ]

    @Test(arguments: edits.indices)
    func `a set to what is there, or back to it, records nothing`(index: Int) throws {
        var value = Self.base
        #expect(try value.edit(Self.edits[index]) == .keep)
        #expect(value == Self.base)
        var draft = Draft(Self.base)
        if index < Self.edits.count - 2 {
            Self.edits[index](&draft)
            #expect(try Delta(draft) == .keep)
        }
    }

    @Test func `a set to what is there does not beat a rename`() throws {
        let base: Value = ["items": [["name": "Wine"]]]
        var (ours, theirs) = (base, base)
        let none = try ours.edit { $0.items[0].name = "Wine" }
        let rename = try theirs.edit { $0.items[0].name = "Rye" }
        let merge = try Merge(base: base, ours: none, theirs: rename)
        #expect(merge.value == theirs && merge.conflicts.isEmpty)
    }

    @Test func `an item that is moved stays one, and its equal is not found elsewhere`() throws {
        var value: Value = [1, 1, 2, 3]
        #expect(try value.edit { $0.list.move(from: 0, to: 1) }.ednText() == "{:> {0 1}}")
        let delta = try value.edit {
            $0.list.move(from: 3, to: 0)
            $0.list.remove(at: 3)
            $0.list.append(2)
            $0.list.append(3)
        }
        #expect(delta.ednText() == "{:> {3 0} :+ {4 3}}")
        #expect(value == [3, 1, 1, 2, 3])
    }
}
