import GodwitTree
import Testing

/// Items that take the places of others that went on to another list.
@Suite struct MergeSlotTests {
    private func merge(_ base: Value, _ ours: Value, _ theirs: Value) -> Merge {
        let merge = Merge(base: base, ours: ours, theirs: theirs)
        #expect((try? merge.delta.applied(to: base)) == merge.value)
        #expect((try? merge.afterOurs.applied(to: ours)) == merge.value)
        #expect((try? merge.afterTheirs.applied(to: theirs)) == merge.value)
        return merge
    }

    private static let titles = [
        "Fix the login page", "Fix the search page", "Write the release notes", "Order new chairs",
    ]

    /// Kinds of cards: with a string as id, with a number, and with a title alone.
    enum Kind: CaseIterable {
        case uuids, numbers, titles
    }

    private func cards(_ kind: Kind) -> [Value] {
        Self.titles.enumerated().map { number, title in
            let text = Value.string(Key(title))
            return switch kind {
            case .uuids:
                ["id": .string(Key("9f0c-\(number)")), "title": text, "done": false]
            case .numbers: ["id": .int(Int64(number + 1)), "title": text, "done": false]
            case .titles: ["title": text, "done": false]
            }
        }
    }

    private func board(_ todo: [Value], _ doing: [Value], _ done: [Value]) -> Value {
        [
            "todo": .list(Value.List(todo)), "doing": .list(Value.List(doing)),
            "done": .list(Value.List(done)),
        ]
    }

    private func ticked(_ card: Value) -> Value {
        guard case .map(var map) = card else { return card }
        map["done"] = true
        return .map(map)
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `an edit follows its card when another card takes its place`(
        _ kind: Kind,
        isMirrored: Bool
    ) {
        let cards = cards(kind)
        let (login, search, rest) = (cards[0], cards[1], Array(cards[2...]))
        let base = board([login], [search] + rest, [])
        let moved = board([], [login] + rest, [search])
        let edited = board([login], [ticked(search)] + rest, [])
        let merge = isMirrored ? merge(base, edited, moved) : merge(base, moved, edited)
        #expect(merge.value == board([], [login] + rest, [ticked(search)]))
        #expect(merge.conflicts.isEmpty)
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `an edit of the card that takes a place goes along too`(
        _ kind: Kind,
        isMirrored: Bool
    ) {
        let cards = cards(kind)
        let (login, search, rest) = (cards[0], cards[1], Array(cards[2...]))
        let base = board([login], [search] + rest, [])
        let moved = board([], [login] + rest, [search])
        let edited = board([ticked(login)], [search] + rest, [])
        let merge = isMirrored ? merge(base, edited, moved) : merge(base, moved, edited)
        #expect(merge.value == board([], [ticked(login)] + rest, [search]))
        #expect(merge.conflicts.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a card in the place of one that is removed takes no edit of it`(_ kind: Kind) {
        let cards = cards(kind)
        let (login, search, rest) = (cards[0], cards[1], Array(cards[2...]))
        let base = board([login], [search] + rest, [])
        let merge = merge(
            base,
            board([], [login] + rest, []),
            board([login], [ticked(search)] + rest, [])
        )
        // An edit beats a removal, and the report says so.
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
        guard case .list(let doing)? = merge.value["doing"] else {
            Issue.record("no list")
            return
        }
        #expect(doing.contains(login))
        #expect(doing.contains(ticked(search)))
        #expect(merge.value["todo"] == [])
    }
}

/// Rows that begin with a text, and lists in new items.
extension MergeSlotTests {
    @Test func `an edit of a number stays in the row that begins with its text`() {
        let merge = merge(
            [["milk", 1, 3], ["bread", 0, 2], ["salt", 2, 3]],
            [["milk", 1, 3], ["tea", 0, 2], ["bread", 41, 2], ["salt", 2, 3]],
            [["milk", 1, 3], ["bread", 0, 49], ["salt", 2, 3]]
        )
        #expect(
            merge.value == [["milk", 1, 3], ["tea", 0, 2], ["bread", 41, 49], ["salt", 2, 3]]
        )
    }

    @Test func `a value that becomes a field of an item of a new list stays there`() {
        let person: Value = ["id": "p1", "name": "Ann", "phone": "+44 20 7946 0000"]
        let base: Value = ["people": [person], "guests": []]
        let ours: Value = ["people": [], "guests": [person]]
        let theirs: Value = [
            "people": [], "guests": [], "teams": [["title": "First team", "lead": person]],
        ]
        let merge = merge(base, ours, theirs)
        #expect(
            merge.value == [
                "people": [], "guests": [], "teams": [["title": "First team", "lead": person]],
            ]
        )
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }
}
