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
        for word in ["ui", "*", "."] as [Value] {
            let merge = merge(["a", "m", "z"], [word, "a", "m", "z"], ["a", "m", "z", word])
            #expect(merge.value.list?.count == 4, "\(word)")
        }
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
        func service(_ command: Value) -> Value { ["image": "shop:1", "command": command] }
        let (npm, node): (Value, Value) = (["npm", "start"], ["node", "server.js"])
        // Lists of words that both sides began are one, as on two devices of an app.
        let begun = merge(["x": 1], ["x": 1, "l": ["0", "2"]], ["x": 1, "l": ["1", "3"]])
        #expect(Set(Array(begun.value["l"]?.list ?? [])) == ["0", "1", "2", "3"])

        let debug: Value = ["node", "server.js", "--debug"]
        let options: [(Value, Value, Value)] = [
            (["- milk"], ["- bread"], ["- milk", "- eggs"]), (["-O2"], ["-O3"], ["-O2", "-Wall"]),
            (["draft"], ["final"], ["draft", "-urgent"]),
        ]
        for (base, ours, theirs) in options {
            #expect(merge(base, ours, theirs).conflicts.isEmpty, "\(base)")
        }
        let changed = merge(service(node), service(npm), service(debug))
        #expect(changed.value == service(npm) || changed.value == service(debug))
        #expect(changed.conflicts.map(\.path.description) == ["/command"])
    }
}
