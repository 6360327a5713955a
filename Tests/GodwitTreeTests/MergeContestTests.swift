import GodwitTestKit
import GodwitTree
import Testing

/// One place that both sides replace: the result has what one of them put there, and both learn
/// of it.
@Suite struct MergeContestTests {
    /// A document with one place in it.
    enum Place: CaseIterable {
        case field, word, number, longText, line, argument, coordinate, cell, item, japanese
        case option

        /// Something to put into the place.
        func filling(_ random: inout Seeded) -> String {
            switch self {
            case .number, .argument, .coordinate, .cell, .option:
                String(Int.random(in: 100...99_999, using: &random))
            case .japanese: random.character()
            default: random.uniqueWord()
            }
        }

        func document(_ filling: String, _ random: inout Seeded) -> Value {
            let text = Value.string(Key(filling))
            switch self {
            case .field: return ["id": 1, "name": text, "n": .int(random.number())]
            case .item: return ["tags": ["red", text, "green", "blue"]]
            case .argument: return ["arguments": ["--verbose", "--port", text, "--name", "x"]]
            case .cell: return ["row": ["1", "apple", text, "9"]]
            case .coordinate:
                return ["coordinates": [.double(Finite(Double(filling) ?? 1) ?? 0.5), 50.5]]
            case .number: return ["note": .string(Key("The price is \(filling) EUR for everybody"))]
            case .option: return ["build": .string(Key("node --size=\(filling) build.js --prod"))]
            case .word: return ["note": .string(Key("she bought some \(filling) at the market"))]
            case .longText:
                let lines = (0..<9).map { "line \($0) of a text that is longer\n" }
                let (head, tail) = (lines.prefix(4).joined(), lines.suffix(5).joined())
                return ["note": .string(Key("\(head)one \(filling) in between\n\(tail)"))]
            case .line: return ["source": ["import os\n", .string(Key("x = \(filling)\n")), "end"]]
            case .japanese: return ["note": .string(Key("東京の天気は\(filling)です。明日は大阪へ"))]
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `what both sides replace is replaced as one of them wants, and reported`(place: Place) {
        var laws = LawBook()
        for seed in 0..<UInt64(300 * Soak.factor) {
            let documents = documents(place, seed: seed)
            guard Set(documents).count == 3 else { continue }
            let (ours, theirs) = (documents[1], documents[2])
            let merge = Merge(base: documents[0], ours: ours, theirs: theirs)
            let text = "seed \(seed): ours \(ours), theirs \(theirs): \(merge)"
            laws.check("the value of one side", [ours, theirs].contains(merge.value), text)
            laws.check("reported", !merge.conflicts.isEmpty, text)
        }
        laws.record()
    }

    @Test(arguments: Place.allCases)
    func `what is contested in one place takes nothing from another`(place: Place) {
        var laws = LawBook()
        for seed in 0..<UInt64(300 * Soak.factor) {
            let documents = documents(place, seed: seed)
            guard Set(documents).count == 3 else { continue }
            let (ours, theirs): (Value, Value) = (
                ["a": documents[1], "b": [1, 2, 3, 4, 5, 6], "c": 1],
                ["a": documents[2], "b": [1, 2, 3, 4, 5], "c": 2]
            )
            let merge = Merge(
                base: ["a": documents[0], "b": [1, 2, 3, 4, 5], "c": 1],
                ours: ours,
                theirs: theirs
            )
            let text = "seed \(seed): ours \(ours), theirs \(theirs): \(merge)"
            let isOfOneSide = [documents[1], documents[2]].contains(merge.value["a"])
            laws.check("the value of one side", isOfOneSide, text)
            laws.check("the other edit of ours", merge.value["b"] == ours["b"], text)
            laws.check("the other edit of theirs", merge.value["c"] == theirs["c"], text)
        }
        laws.record()
    }

    /// The base and both sides, which differ in the place only.
    private func documents(_ place: Place, seed: UInt64) -> [Value] {
        var random = Seeded(seed: seed)
        let fillings = (0..<3).map { _ in place.filling(&random) }
        return fillings.map { filling in
            var same = random
            return place.document(filling, &same)
        }
    }
}
