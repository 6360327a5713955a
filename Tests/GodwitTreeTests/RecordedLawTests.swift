import GodwitTestKit
import Testing

@testable import GodwitTree

/// The laws again, for what drafts record: moves, words, counters, everywhere in each other.
@Suite struct RecordedLawTests {
    @Test func `recorded histories keep the laws of deltas`() throws {
        for seed in 0..<UInt64(20_000 * Soak.factor) {
            var random = Seeded(seed: seed)
            let base = random.document()
            var values = [base]
            var deltas: [Delta] = []
            for _ in 0..<3 {
                var draft = Draft(values[values.count - 1])
                for _ in 0..<Int.random(in: 1...5, using: &random) { random.record(in: &draft) }
                deltas.append(draft.delta)
                values.append(draft.value)
            }
            for law in try laws(deltas, values) where !law.1 {
                Issue.record("\(law.0), seed \(seed): \(base) by \(deltas)")
                return
            }
        }
    }

    private func laws(_ deltas: [Delta], _ values: [Value]) throws -> [(String, Bool)] {
        let (first, second, third) = (deltas[0], deltas[1], deltas[2])
        let both = try first.composed(with: second)
        let inverse = try both.inverted(on: values[0])
        let result = try both.applied(to: values[0])
        let found = Delta.diff(values[0], values[2])
        return [
            ("L3 composed", result == values[2]),
            (
                "L4 associative",
                try both.composed(with: third) == first.composed(with: second.composed(with: third))
            ),
            (
                "L5 unit",
                try both.composed(with: .keep) == both && Delta.keep.composed(with: both) == both
            ),
            ("L6 there and back", try inverse.applied(to: result) == values[0]),
            // The same delta but for what it sets to what was there: that comes back as keep.
            (
                "L6 twice inverted",
                try inverse.inverted(on: result).applied(to: values[0]) == result
            ),
            ("L7 canonical bytes", try Delta(canonicalBytes: both.canonicalBytes) == both),
            ("L7 EDN", try Delta(edn: both.ednText()) == both),
            (
                "L7 packed bytes",
                try Delta(packed: both.packed(on: values[0]), on: values[0]).applied(to: values[0])
                    == values[2]
            ),
            (
                "L8 no larger than to set it all",
                found.canonicalBytes.count <= Delta.set(values[2]).canonicalBytes.count + 64
            ),
            (
                "L9 the digest of an edit is that of the whole",
                try result.digest == Value(canonicalBytes: result.canonicalBytes).digest
            ),
        ]
    }

    @Test func `recorded rivals keep the laws of merging`() throws {
        for seed in 0..<UInt64(20_000 * Soak.factor) {
            var random = Seeded(seed: seed)
            let base = random.document()
            let sides = (0..<2).map { _ in
                var draft = Draft(base)
                for _ in 0..<Int.random(in: 1...5, using: &random) { random.record(in: &draft) }
                return draft
            }
            for law in try laws(base, sides[0], sides[1]) where !law.1 {
                Issue.record(
                    "\(law.0), seed \(seed): \(base) by \(sides[0].delta) and \(sides[1].delta)"
                )
                return
            }
        }
    }

    private func laws(_ base: Value, _ ours: Draft, _ theirs: Draft) throws -> [(String, Bool)] {
        let merge = try Merge(base: base, ours: ours.delta, theirs: theirs.delta)
        let again = try Merge(base: base, ours: ours.delta, theirs: theirs.delta)
        let same = try Merge(base: base, ours: ours.delta, theirs: ours.delta)
        return [
            (
                "M1 right",
                try Merge(base: base, ours: ours.delta, theirs: .keep).delta == ours.delta
            ),
            (
                "M1 left",
                try Merge(base: base, ours: .keep, theirs: theirs.delta).delta == theirs.delta
            ),
            // What is added counts for each side that adds it.
            (
                "M2 the same",
                ours.delta.hasIncrement || same.delta == ours.delta && same.conflicts.isEmpty
            ),
            ("M3 after ours", try merge.afterOurs.applied(to: ours.value) == merge.value),
            ("M3 after theirs", try merge.afterTheirs.applied(to: theirs.value) == merge.value),
            (
                "M3 as one",
                try ours.delta.composed(with: merge.afterOurs).applied(to: base) == merge.value
            ),
            ("M8 the same again", merge == again),
            (
                "no side's conflict names a place that is not there",
                merge.conflicts.allSatisfy { $0.base != nil || $0.ours != nil }
            ),
        ]
    }

    @Test func `edits under different keys commute, without a conflict`() throws {
        for seed in 0..<UInt64(5_000 * Soak.factor) {
            var random = Seeded(seed: seed)
            let base: Value = ["a": random.document(), "b": random.document(), "c": 1]
            var (ours, theirs) = (Draft(base), Draft(base))
            random.record(in: &ours.a)
            random.record(in: &theirs.b)
            let merge = try Merge(base: base, ours: ours.delta, theirs: theirs.delta)
            let mirrored = try Merge(base: base, ours: theirs.delta, theirs: ours.delta)
            #expect(merge.delta == mirrored.delta && merge.conflicts.isEmpty, "seed \(seed)")
            #expect(merge.value["a"] == ours.value["a"] && merge.value["b"] == theirs.value["b"])
        }
    }

    /// M5, and M7 in lists: what each side inserts stays together, and inserts in different gaps,
    /// away from what the other side changes, commute.
    @Test func `inserts in different places of a list commute and stay together`() throws {
        let base: Value = .list((0..<6).map { .int($0) })
        for our in 0...6 {
            for their in 0...6 where their != our {
                let ours = try Delta.list(ListDelta(inserts: inserts(["a", "b"], at: our)).recipe)
                let theirs = try Delta.list(
                    ListDelta(inserts: inserts(["x", "y", "z"], at: their)).recipe
                )
                let merge = try Merge(base: base, ours: ours, theirs: theirs)
                let mirrored = try Merge(base: base, ours: theirs, theirs: ours)
                #expect(merge.delta == mirrored.delta && merge.afterOurs == mirrored.afterTheirs)
                let text = (merge.value.list ?? []).map(\.description).joined()
                #expect(text.contains("\"a\"\"b\"") && text.contains("\"x\"\"y\"\"z\""))
            }
        }
    }

    private func inserts(_ values: [Value], at position: Int) -> [ListDelta.Insert] {
        values.enumerated().map {
            ListDelta.Insert(position: position + $0.offset, value: $0.element)
        }
    }
}

/// All changes of short texts.
@Suite struct TextLawTests {
    /// Every delta of a text: each byte stays or goes, and before each, and at the end, something
    /// is put in or not.
    private func deltas(of text: String, _ words: [String]) throws -> [Delta] {
        let count = text.utf8.count
        var all: [Delta] = []
        for removed in 0..<(1 << count) {
            var places = [[TextDelta.Splice]()]
            for offset in 0...count {
                let isRemoved = offset < count && removed >> offset & 1 == 1
                places = places.flatMap { splices in
                    words.map { word in
                        let splice = TextDelta.Splice(
                            offset: offset,
                            removed: isRemoved ? 1 : 0,
                            inserted: word
                        )
                        return word.isEmpty && !isRemoved ? splices : splices + [splice]
                    }
                }
            }
            all += try places.map { try .text($0) }
        }
        return all
    }

    @Test func `every pair of changes of a short text merges by the laws`() throws {
        let base: Value = "abc"
        let all = try deltas(of: "abc", Soak.factor > 1 ? ["", "x", "y"] : ["", "x"])
        for ours in all {
            for theirs in all {
                let merge = try Merge(base: base, ours: ours, theirs: theirs)
                let isSound =
                    try merge.afterOurs.applied(to: ours.applied(to: base)) == merge.value
                    && merge.afterTheirs.applied(to: theirs.applied(to: base)) == merge.value
                    && (theirs != .keep || merge.delta == ours)
                    && (ours != .keep || merge.delta == theirs)
                    && (ours != theirs || merge.delta == ours)
                try #require(isSound, "\(ours) and \(theirs): \(merge)")
            }
        }
    }

    @Test func `every two changes of a short text, one after the other, compose and invert`() throws
    {
        let base: Value = "ab"
        for first in try deltas(of: "ab", ["", "x"]) {
            let middle = try first.applied(to: base)
            for second in try deltas(of: middle.text ?? "", ["", "y"]) {
                let both = try first.composed(with: second)
                let end = try both.applied(to: base)
                try #require(try end == second.applied(to: middle), "\(first) then \(second)")
                let back = try both.inverted(on: base)
                try #require(try back.applied(to: end) == base && back.inverted(on: end) == both)
                let left = try both.composed(with: back)
                let right = try first.composed(with: second.composed(with: back))
                try #require(left == right, "\(first), \(second), \(back)")
            }
        }
    }
}

extension Seeded {
    /// A document as apps have them: lists of maps with ids, words, counters, prose.
    mutating func document() -> Value {
        let items = (0..<Int.random(in: 0...5, using: &self)).map { _ in item() }
        let tags = ["red", "green", "blue", "old", "new"].shuffled(using: &self).prefix(3)
        return [
            "items": .list(items), "count": .int(Int64.random(in: 0...3, using: &self)),
            "note": .string(Key("a note of more than thirty-two bytes, " + prose())),
            "tags": .list(tags.map { .string(Key($0)) }), "other": value(depth: 2),
        ]
    }

    private mutating func item() -> Value {
        [
            "id": .int(Int64.random(in: 0...8, using: &self)),
            "name": .string(Key(pick(["Bread", "Milk", "Wine"]))),
            "parts": .list((0..<Int.random(in: 0...3, using: &self)).map { .int(Int64($0)) }),
        ]
    }

    /// One thing that an app's user does somewhere.
    mutating func record(in draft: inout Draft) {
        let items = draft.items.count
        let place = Int.random(in: 0...items, using: &self)
        switch Int.random(in: 0..<12, using: &self) {
        case 0: draft.items.insert(item(), at: place)
        case 1 where items > 0: draft.items.remove(at: min(place, items - 1))
        case 2 where items > 1: draft.items.move(from: min(place, items - 1), to: 0)
        case 3 where items > 1: draft.items.move(from: 0, to: items - 1)
        case 4 where items > 0: draft.items[min(place, items - 1)].name = pick(["Rye", "Oats"])
        case 5 where items > 0: draft.items[min(place, items - 1)].parts.append(7)
        case 6 where items > 0: draft.items[min(place, items - 1)].parts = [1]
        case 7: draft["count"].add(Int64.random(in: -2...2, using: &self))
        case 8: write(into: &draft)
        case 9: draft.tags.append(.string(Key(pick(["red", "far", "near"]))))
        case 10: draft.remove(pick(["other", "tags"]))
        default: draft.other.set(value(depth: 2))
        }
        if draft.tags.value.list == nil { draft.tags = [] }
        if draft.other.value == .null { draft.other = ["x": 1] }
    }

    private mutating func write(into draft: inout Draft) {
        let size = draft.note.text.utf8Count
        let offset = Int.random(in: 0...min(size, 30), using: &self)
        let end = min(min(size, 34), offset + pick([0, 0, 2, 4]))
        draft.note.text.replaceSubrange(offset..<end, with: pick(["", "x", "more "]))
    }
}
