import GodwitTestKit
import Testing

@testable import GodwitTree

/// Values that stand in several places, and so say nothing about which one is meant.
@Suite struct MergeRepeatsTests {
    private let separator: Value = ["type": "separator"]

    private func menu(_ items: [Value]) -> Value {
        .list(Value.List(items.map { $0.text == nil ? $0 : ["type": "item", "label": $0] }))
    }

    @Test func `two equal items that both sides put in at different places are two`() {
        let items: [Value] = ["Open", "Save", separator, "Print", "Close", "Quit"]
        var (ours, theirs, both) = (items, items, items)
        ours.insert(separator, at: 1)
        theirs.insert(separator, at: 5)
        both.insert(separator, at: 5)
        both.insert(separator, at: 1)
        #expect(merge(menu(items), menu(ours), menu(theirs)).value == menu(both))
        #expect(merge(menu(items), menu(ours), menu(ours)).value == menu(ours))
    }

    @Test(arguments: ["", "---"] as [Value])
    func `two equal lines without a word are two`(line: Value) {
        let verses: Value = ["Verse one", "Verse two", "Verse three"]
        let ours: Value = ["Verse one", line, "Verse two", "Verse three"]
        let theirs: Value = ["Verse one", "Verse two", line, "Verse three"]
        let merged: Value = ["Verse one", line, "Verse two", line, "Verse three"]
        #expect(merge(verses, ours, theirs).value == merged)
    }

    @Test func `one number that both sides put in is one, wherever its neighbours went`() {
        let merges: [(Value, Value, Value, count: Int)] = [
            ([3, 1, 2], [1, 2, 3, 4], [3, 1, 2, 4], 4),
            ([22, 443, 9_000], [22, 443, 9_000, 8_080], [22, 443, 8_080, 9_000], 4),
            ([1, 3], [1, 3, 2], [1, 2, 3], 3),
            (refs("abc"), refs("bcad"), refs("abcd"), 4),
            (refs("ab"), refs("abc"), refs("cab"), 3),
        ]
        for (base, ours, theirs, count) in merges {
            #expect(merge(base, ours, theirs).value.list?.count == count, "\(ours), \(theirs)")
            #expect(merge(base, theirs, ours).value.list?.count == count, "\(ours), \(theirs)")
        }
    }

    private func refs(_ names: String) -> Value {
        .list(Value.List(names.map { ["ref": .string(Key(String($0)))] }))
    }

    @Test func `a number that one side corrected to is not one that the other put in`() {
        let merge = merge([4, 5, 3, 5, 2], [4, 5, 1, 5, 2], [4, 5, 3, 1, 5, 2])
        #expect(merge.value == [4, 5, 1, 1, 5, 2] || !merge.conflicts.isEmpty)
    }

    @Test func `one word that both sides put into a set at different places is one`() {
        let merge = merge(["a", "m", "z"], ["ui", "a", "m", "z"], ["a", "m", "z", "ui"])
        #expect(merge.value.list?.count == 4)
    }

    @Test func `a default that stands under several keys was not moved`() {
        let todo: Value = "(not translated yet)"
        let texts = merge(
            ["empty": todo, "title": "Warenkorb", "help": todo],
            ["title": "Warenkorb", "help": todo, "thanks": todo],
            ["empty": "Ihr Warenkorb ist leer", "title": "Warenkorb", "help": todo]
        )
        #expect(texts.value["thanks"] == todo)
        #expect(texts.conflicts.map(\.path.description) == ["/empty"])

        let editor: Value = ["role": "editor", "quota": 100, "theme": "light"]
        let admin: Value = ["role": "admin", "quota": 100, "theme": "light"]
        let users = merge(
            ["alice": editor, "bob": editor],
            ["bob": editor, "dave": editor],
            ["alice": admin, "bob": editor]
        )
        #expect(users.value["dave"] == editor)
        #expect(users.conflicts.map(\.path.description) == ["/alice"])
        // Both gave her another key: that is told.
        let both = merge(
            ["alice": editor, "bob": editor],
            ["bob": editor, "dave": editor],
            ["bob": editor, "dora": editor]
        )
        #expect(both.conflicts.map(\.reason) == [.bothMoved])
        // Without Bob, it is Alice's record under another key.
        let renamed = merge(["alice": editor], ["dave": editor], ["alice": admin])
        #expect(renamed.value == ["dave": admin])
    }

    @Test func `two commands that both sides wrote are not one command`() {
        let base: Value = ["image": "shop:1"]
        func service(_ command: Value) -> Value { ["image": "shop:1", "command": command] }
        let (npm, node): (Value, Value) = (["npm", "start"], ["node", "server.js"])
        let created = merge(base, service(npm), service(node))
        #expect(created.value == service(npm))
        #expect(created.conflicts.map(\.path.description) == ["/command"])
        // Lists that share an item, differ in length or were there may be sets.
        let sets: [(Value, Value, Value)] = [
            (base, ["a", "b"], ["a", "c"]), (base, ["a", "b"], ["c"]),
            (service([]), ["a", "b"], ["c", "d"]),
        ]
        for (base, ours, theirs) in sets {
            let tagged = merge(base, service(ours), service(theirs))
            let wanted = Set(Array(ours.list ?? []) + Array(theirs.list ?? []))
            #expect(Set(Array(tagged.value["command"]?.list ?? [])) == wanted)
            #expect(tagged.conflicts.isEmpty)
        }

        let debug: Value = ["node", "server.js", "--debug"]
        let lines = merge(["- milk"], ["- bread"], ["- milk", "- eggs"])
        #expect(lines.conflicts.isEmpty)
        let changed = merge(service(node), service(npm), service(debug))
        #expect(changed.value == service(npm) || changed.value == service(debug))
        #expect(changed.conflicts.map(\.path.description) == ["/command"])
    }
}
