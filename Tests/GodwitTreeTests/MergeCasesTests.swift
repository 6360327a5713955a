import GodwitTree
import Testing

/// Merges that people expect to come out in one way, each for one rule of lists, texts or records.
@Suite struct MergeCasesTests {
    @Test func `a point that both sides move is moved by one of them, and both learn of it`() {
        let (ours, theirs): (Value, Value) = ([10.1, 50.0], [10.2, 50.0])
        let merge = Merge(base: [10.0, 50.0], ours: ours, theirs: theirs)

        #expect([ours, theirs].contains(merge.value))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `a row of which each side edits another cell has both edits`() {
        let merge = Merge(
            base: ["1", "apple", "3", "9"],
            ours: ["1", "apple", "7", "9"],
            theirs: ["1", "apple", "3", "7"]
        )

        #expect(merge.value == ["1", "apple", "7", "7"])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `a number in a text that both sides edit is the number of one`() {
        func text(_ price: Int) -> Value {
            .string(Key("The price is \(price) EUR for everybody in here"))
        }
        let merge = Merge(base: text(20), ours: text(25), theirs: text(30))

        #expect(merge.value == text(30))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `an argument that both sides set is set once`() {
        let (ours, theirs): (Value, Value) = (["--port", "8080"], ["--port", "9090"])
        let merge = Merge(base: ["--port", "80"], ours: ours, theirs: theirs)

        #expect([ours, theirs].contains(merge.value))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `a line of source that both sides edit stays one line`() {
        func source(_ number: Int) -> Value {
            ["import os\n", .string(Key("x = \(number)\n")), "print(x)\n"]
        }
        let merge = Merge(base: source(1), ours: source(2), theirs: source(3))

        #expect([source(2), source(3)].contains(merge.value))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `a tag that both sides add is there once`() {
        func tags(_ owner: Value) -> Value {
            [["Key": "Env", "Value": "prod"], ["Key": "Owner", "Value": owner]]
        }
        let merge = Merge(
            base: [["Key": "Env", "Value": "prod"]],
            ours: tags("ann"),
            theirs: tags("ben")
        )

        #expect([tags("ann"), tags("ben")].contains(merge.value))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `a step that both sides insert among others is there once`() {
        let setup: Value = ["uses": "setup", "with": ["v": 1]]
        let merge = Merge(
            base: [["uses": "checkout"]],
            ours: [["uses": "checkout"], setup, ["run": "a"]],
            theirs: [["uses": "checkout"], setup, ["run": "b"]]
        )

        #expect(merge.value == [["uses": "checkout"], setup, ["run": "a"], ["run": "b"]])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `a list that is sorted by version stays so`() {
        let merge = Merge(
            base: ["1.8.0", "1.9.0", "1.10.0", "1.11.0"],
            ours: ["1.8.0", "1.9.0", "1.10.0", "1.11.0", "1.12.0"],
            theirs: ["1.8.0", "1.9.0", "1.10.0", "1.11.0", "1.11.1"]
        )

        #expect(merge.value == ["1.8.0", "1.9.0", "1.10.0", "1.11.0", "1.11.1", "1.12.0"])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `an entry of a lock file is that of one side`() {
        func lock(_ version: String) -> Value {
            [
                "lodash": [
                    "version": .string(Key(version)),
                    "resolved": .string(Key("https://registry.example/lodash-\(version).tgz")),
                    "integrity": .string(Key("sha512-of-\(version)")),
                ]
            ]
        }
        for (our, their) in [("4.17.21", "4.17.20"), ("4.17.20", "4.17.21")] {
            let merge = Merge(base: lock("4.17.15"), ours: lock(our), theirs: lock(their))
            #expect(merge.value == lock("4.17.21"))
            #expect(!merge.conflicts.isEmpty)
        }
    }

    @Test func `two raised versions of a lock file's entry are reported beside other fields`() {
        func lock(_ version: Value, _ resolved: Value, _ integrity: Value?) -> Value {
            var entry: Value.Map = ["version": version, "resolved": resolved]
            entry["integrity"] = integrity
            return ["lodash": .map(entry)]
        }
        for old in ["x", nil] as [Value?] {
            let merge = Merge(
                base: lock("1.0.0", "p", old),
                ours: lock("1.1.0", "p", "y"),
                theirs: lock("1.2.0", "q", old)
            )
            #expect(merge.value["lodash"]?["version"] == "1.2.0")
            #expect(merge.conflicts.map(\.path.description) == ["/lodash/version"])
        }
        let prose = Merge(
            base: ["title": .null, "n": 1, "k": 1],
            ours: ["title": "Buy some milk", "n": 2, "k": 1],
            theirs: ["title": "buy some milk.", "n": 1, "k": 2]
        )
        #expect(prose.conflicts.isEmpty)

        // Versions of many packages are independent of each other.
        let packages = Merge(
            base: ["a": "1.0.0", "b": "1.0.0", "c": "1.0.0"],
            ours: ["a": "1.1.0", "b": "1.1.0", "c": "1.0.0"],
            theirs: ["a": "1.2.0", "b": "1.0.0", "c": "1.1.0"]
        )
        #expect(packages.value == ["a": "1.2.0", "b": "1.1.0", "c": "1.1.0"])
        #expect(packages.conflicts.isEmpty)
    }

    @Test func `a card that was moved and retitled is there once, moved and retitled`() {
        func board(todo: Value, done: Value) -> Value {
            ["columns": [["id": "todo", "cards": todo], ["id": "done", "cards": done]]]
        }
        let (card, retitled): (Value, Value) = (
            ["id": "c1", "title": "Fix"], ["id": "c1", "title": "Fix iOS"]
        )
        let base = board(todo: [card], done: [])
        let (moved, edited) = (board(todo: [], done: [card]), board(todo: [retitled], done: []))
        for (ours, theirs) in [(moved, edited), (edited, moved)] {
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.value == board(todo: [], done: [retitled]))
            #expect(merge.conflicts.isEmpty)
        }
    }

    @Test func `two records that were given the same number stay two`() {
        let bread: Value = ["id": 1, "name": "Bread"]
        let (soap, eggs): (Value, Value) = (["id": 2, "name": "Soap"], ["id": 2, "name": "Eggs"])
        let merge = Merge(base: [bread], ours: [bread, soap], theirs: [bread, eggs])

        #expect(merge.value == [bread, soap, eggs])
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `parameters of one name in different places are two`() {
        let path: Value = ["name": "id", "in": "path"]
        let (header, query): (Value, Value) = (
            ["name": "version", "in": "header"], ["name": "version", "in": "query"]
        )
        let merge = Merge(base: [path], ours: [path, header], theirs: [path, query])

        #expect(merge.value == [path, header, query])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `an appointment has the start and the end of one side`() {
        let (ours, theirs): (Value, Value) = (
            ["start": "2026-03-10", "end": "2026-03-11"],
            ["start": "2026-03-05", "end": "2026-03-20"]
        )
        let merge = Merge(
            base: ["start": "2026-03-01", "end": "2026-03-02"],
            ours: ours,
            theirs: theirs
        )

        #expect([ours, theirs].contains(merge.value))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `an option of a command that both sides set has one number`() {
        func command(_ size: Int) -> Value {
            .string(Key("node --max-old-space-size=\(size) build.js --prod"))
        }
        let merge = Merge(base: command(4_096), ours: command(8_192), theirs: command(2_048))

        #expect([command(8_192), command(2_048)].contains(merge.value))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `an item whose id one side changes has the field that the other edits`() {
        let other: Value = ["id": "b", "name": "Other"]
        let merge = Merge(
            base: [["id": "a1", "name": "Coach", "country": "us"], other],
            ours: [["id": "a1", "name": "Coach", "country": "de"], other],
            theirs: [other, ["id": "zz9", "name": "Coach", "country": "us"]]
        )

        #expect(merge.value == [other, ["id": "zz9", "name": "Coach", "country": "de"]])
    }

    @Test func `Japanese is merged by characters`() {
        let merge = Merge(
            base: "東京の天気は晴れです。明日は大阪へ行きます。",
            ours: "京都の天気は晴れです。明日は大阪へ行きます。",
            theirs: "東京の天気は晴れです。明日は大阪へ帰ります。"
        )

        #expect(merge.value == "京都の天気は晴れです。明日は大阪へ帰ります。")
    }

    @Test func `the same edit twice, and an edit to what was there, count as none`() throws {
        let base: Value = ["name": "Wine", "n": 1]
        let same = try Merge(
            base: base,
            ours: .map(["name": .apply(.set("Wine"))]),
            theirs: .map(["name": .apply(.set("Port"))])
        )
        #expect(same.value == ["name": "Port", "n": 1] && same.conflicts.isEmpty)

        let mirrored = try Merge(
            base: base,
            ours: .map(["name": .apply(.set("Port"))]),
            theirs: .map(["name": .apply(.set("Wine"))])
        )
        #expect(mirrored.value == ["name": "Port", "n": 1] && mirrored.conflicts.isEmpty)

        let twice = Merge(
            base: base,
            ours: ["name": "Port", "n": 1],
            theirs: ["name": "Port", "n": 2]
        )
        #expect(twice.value == ["name": "Port", "n": 2] && twice.conflicts.isEmpty)
    }
}
