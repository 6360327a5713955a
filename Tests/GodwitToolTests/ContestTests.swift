import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitTool

/// Markers around values that stand elsewhere than in the base.
@Suite struct ContestTests {
    private func merge(_ base: Value, _ ours: Value, _ theirs: Value) throws -> DocumentMerge {
        let texts = [base, ours, theirs].map { Layout.indented.text(of: $0) }
        let documents = try texts.map { try Document(Array($0.utf8)) }
        return DocumentMerge(
            base: documents[0],
            ours: documents[1],
            theirs: documents[2],
            policy: .standard
        )
    }

    private func choices(_ merge: DocumentMerge) throws -> (ours: Value, theirs: Value) {
        let marked = merge.markedText().bytes
        return try (
            Document(MarkedChoice.choose("ours", from: marked)).value,
            Document(MarkedChoice.choose("theirs", from: marked)).value
        )
    }

    private let tyres: Value = ["id": "s1", "title": "Buy new tyres for the bus", "prio": 1]
    private let fence: Value = ["id": "s2", "title": "Paint the fence", "prio": 1]

    private func with(_ record: Value, _ key: Key, _ value: Value?) -> Value {
        var map = record.map ?? [:]
        map[key] = value
        return .map(map)
    }

    @Test func `a field of a record that moved is marked where the record is now`() throws {
        let merge = try merge(
            ["todo": [tyres, fence], "done": []],
            ["todo": [fence], "done": [with(tyres, "prio", 5)]],
            ["todo": [with(tyres, "prio", 9), fence], "done": []]
        )
        let (ours, theirs) = try choices(merge)
        #expect(ours == ["todo": [fence], "done": [with(tyres, "prio", 5)]])
        #expect(theirs == ["todo": [fence], "done": [with(tyres, "prio", 9)]])
    }

    @Test func `a record that one side moved and the other removed is there once or not at all`()
        throws
    {
        let merge = try merge(
            ["todo": [tyres, fence], "done": []],
            ["todo": [fence], "done": [tyres]],
            ["todo": [fence], "done": []]
        )
        let (ours, theirs) = try choices(merge)
        #expect(ours == ["todo": [fence], "done": [tyres]])
        #expect(theirs == ["todo": [fence], "done": []])
    }

    @Test func `a value under a new key that the other side edits is marked there`() throws {
        let text: Value = "one two three four five"
        let merge = try merge(
            ["a": ["text": text, "size": 100], "z": 1],
            ["b": ["text": text, "size": 200], "z": 1],
            ["a": ["text": text, "size": 300], "z": 1]
        )
        let (ours, theirs) = try choices(merge)
        #expect(ours == ["b": ["text": text, "size": 200], "z": 1])
        #expect(theirs == ["b": ["text": text, "size": 300], "z": 1])
    }

    @Test func `an item beside the place of one that is gone is marked too`() throws {
        func item(_ name: Int, _ state: Value) -> Value {
            ["id": .string(Key("item \(name)")), "state": state, "note": "a note of the item"]
        }
        let merge = try merge(
            [item(1, 100), item(2, 100), item(3, 100)],
            [item(1, 100), item(3, 200)],
            [item(1, 100), item(2, 300), item(3, 300)]
        )
        let (ours, theirs) = try choices(merge)
        #expect(ours == [item(1, 100), item(3, 200)])
        #expect(theirs == [item(1, 100), item(2, 300), item(3, 300)])
    }

    @Test func `a record among others of the same lines is one contested place`() throws {
        func records(_ name: Value? = nil) -> Value {
            .list(
                (0..<50).map { number in
                    var record: Value.Map = [
                        "id": .int(Int64(number)), "tags": ["a", .string(Key("tag \(number)"))],
                    ]
                    record["name"] = number == 7 ? name : .string(Key("name \(number)"))
                    return .map(record)
                }
            )
        }
        let base = records("name 7")
        guard case .list(var left) = base else { return }
        left.remove(at: 7)
        let merge = try merge(base, records("edited"), .list(left))
        #expect(merge.markedText().count == 1)
        let (ours, theirs) = try choices(merge)
        #expect(ours == records("edited") && theirs == .list(left))
    }

    @Test(arguments: 0..<1_000 as Range<UInt64>)
    func `no choice has a word twice that the merge has once, or lacks what that side wished`(
        seed: UInt64
    ) throws {
        var random = Seeded(seed: seed)
        var words = Words()
        let base = words.document(&random)
        let ours = words.edited(base, &random)
        let theirs = words.edited(base, &random)
        let merge = try merge(base, ours, theirs)
        let marked = merge.markedText()
        let versions = [("ours", ours), ("theirs", theirs)]
        let merged = Words.counts(merge.merge.value)
        for (side, own) in versions {
            let choice = try Document(MarkedChoice.choose(side, from: marked.bytes)).value
            let chosen = Words.counts(choice)
            for (word, count) in chosen where count > 1 {
                let most = max(merged[word, default: 0], Words.counts(own)[word, default: 0])
                #expect(count <= most, "seed \(seed): \(side) has \(word) \(count) times")
            }
            for conflict in marked.conflicts {
                let wish = side == "ours" ? conflict.ours : conflict.theirs
                for word in Words.counts(wish ?? .null).keys {
                    #expect(chosen[word] != nil, "seed \(seed): \(side) lacks \(word)")
                }
            }
        }
    }
}

/// Documents in which each word stands once, and edits of them.
private struct Words {
    private var count = 0

    mutating func word() -> Value {
        count += 1
        return .string(Key("word\(count)"))
    }

    mutating func record(_ random: inout Seeded) -> Value {
        var map: Value.Map = ["id": word()]
        for key in ["a", "b", "c"] as [Key] where random.happens(0.7) { map[key] = word() }
        return .map(map)
    }

    mutating func document(_ random: inout Seeded) -> Value {
        var map: Value.Map = [:]
        for key in ["todo", "done"] as [Key] {
            let records = (0..<Int.random(in: 0...4, using: &random)).map { _ in record(&random) }
            map[key] = .list(.init(records))
        }
        map["settings"] = record(&random)
        return .map(map)
    }

    /// A document after one to three edits, each of a record that it changes, moves, removes or adds.
    mutating func edited(_ document: Value, _ random: inout Seeded) -> Value {
        guard case .map(var map) = document else { return document }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let key: Key = random.happens(0.5) ? "todo" : "done"
            guard case .list(var records)? = map[key] else { continue }
            guard !records.isEmpty, random.happens(0.85) else {
                records.append(record(&random))
                map[key] = .list(records)
                continue
            }
            let place = Int.random(in: records.indices, using: &random)
            var record = records[place].map ?? [:]
            switch Int.random(in: 0..<5, using: &random) {
            case 0: records.remove(at: place)
            case 1:
                record["a"] = word()
                records[place] = .map(record)
            case 2:
                record["d"] = record["b"]
                record["b"] = nil
                records[place] = .map(record)
            default:
                records.remove(at: place)
                if random.happens(0.5) { record["c"] = word() }
                let other: Key = key == "todo" ? "done" : "todo"
                guard case .list(var others)? = map[other] else { continue }
                others.insert(.map(record), at: Int.random(in: 0...others.count, using: &random))
                map[other] = .list(others)
            }
            map[key] = .list(records)
        }
        return .map(map)
    }

    static func counts(_ value: Value) -> [String: Int] {
        switch value {
        case .string(let key): [key.text: 1]
        case .map(let map): total(map.map { counts($0.value) })
        case .list(let items): total(items.map(counts))
        default: [:]
        }
    }

    private static func total(_ parts: [[String: Int]]) -> [String: Int] {
        parts.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }
}
