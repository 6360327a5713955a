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
                deltas.append(try Delta(draft))
                values.append(Value(draft))
            }
            for law in try laws(deltas, values) where !law.1 {
                Issue.record("\(law.0), seed \(seed): \(base) by \(deltas)")
                return
            }
        }
    }

    @Test func `no part of a recorded delta leaves what it touches as it is`() throws {
        for seed in 0..<UInt64(20_000 * Soak.factor) {
            var random = Seeded(seed: seed)
            let base = random.document()
            var draft = Draft(base)
            for _ in 0..<Int.random(in: 1...8, using: &random) { random.record(in: &draft) }
            let delta = try Delta(draft)
            let isIdle = try delta.isIdle(on: base)
            try #require(delta == .keep || !isIdle, "seed \(seed): \(base) by \(delta)")
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
                found.canonicalBytes.count <= Delta.set(values[2]).canonicalBytes.count + 16
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
            let deltas = try sides.map { try Delta($0) }
            for law in try laws(base, deltas[0], deltas[1]) where !law.1 {
                Issue.record(
                    "\(law.0), seed \(seed): \(base) by \(try sides.map { try Delta($0) })"
                )
                return
            }
        }
    }

    private func laws(_ base: Value, _ ours: Delta, _ theirs: Delta) throws -> [(String, Bool)] {
        let merge = try Merge(base: base, ours: ours, theirs: theirs)
        let again = try Merge(base: base, ours: ours, theirs: theirs)
        let same = try Merge(base: base, ours: ours, theirs: ours)
        return [
            (
                "M1 right",
                try Merge(base: base, ours: ours, theirs: .keep).delta == ours
            ),
            (
                "M1 left",
                try Merge(base: base, ours: .keep, theirs: theirs).delta == theirs
            ),
            // What is added counts for each side that adds it.
            (
                "M2 the same",
                ours.hasIncrement || same.delta == ours && same.conflicts.isEmpty
            ),
            (
                "M3 after ours",
                try merge.afterOurs.applied(to: ours.applied(to: base)) == merge.value
            ),
            (
                "M3 after theirs",
                try merge.afterTheirs.applied(to: theirs.applied(to: base)) == merge.value
            ),
            (
                "M3 as one",
                try ours.composed(with: merge.afterOurs).applied(to: base) == merge.value
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
            let deltas = try (Delta(ours), Delta(theirs))
            let merge = try Merge(base: base, ours: deltas.0, theirs: deltas.1)
            let mirrored = try Merge(base: base, ours: deltas.1, theirs: deltas.0)
            #expect(merge.delta == mirrored.delta && merge.conflicts.isEmpty, "seed \(seed)")
            #expect(merge.value["a"] == Value(ours.a) && merge.value["b"] == Value(theirs.b))
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

extension Delta {
    /// Whether this, or a change inside it, but for moves, leads to what was there.
    fileprivate func isIdle(on base: Value) throws -> Bool {
        switch self {
        case .map(let delta):
            return try delta.entries.contains { entry in
                guard let value = base[entry.key] else { return entry.change == .remove }
                guard case .apply(let change) = entry.change else { return false }
                return try change.isIdle(on: value)
            }
        case .list(let delta):
            guard delta.parts.moves.isEmpty else { return false }
            return try applied(to: base) == base
                || delta.parts.edits.contains { edit in
                    try edit.delta.isIdle(on: base.list?[edit.position] ?? .null)
                }
        default: return try applied(to: base) == base
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
            "value": 1, "move": ["from": "here"], "list": [1], "text": "b",
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
        let items = draft.items.list.count
        let place = Int.random(in: 0...items, using: &self)
        switch Int.random(in: 0..<15, using: &self) {
        case 0: draft.items.list.insert(item(), at: place)
        case 1 where items > 0: draft.items.list.remove(at: min(place, items - 1))
        case 2 where items > 1: draft.items.list.move(from: min(place, items - 1), to: 0)
        case 3 where items > 1: draft.items.list.move(from: 0, to: items - 1)
        case 4 where items > 0: draft.items[min(place, items - 1)].name = pick(["Rye", "Oats"])
        case 5 where items > 0: draft.items[min(place, items - 1)].parts.list.append(7)
        case 6 where items > 0: draft.items[min(place, items - 1)].parts = [1]
        case 7: draft.count += Int64.random(in: -2...2, using: &self)
        case 8: write(into: &draft)
        case 9: draft.tags.list.append(pick(["red", "far", "near"]))
        case 10: draft[pick(["other", "tags"])] = nil
        case 11: recordNothing(in: &draft)
        case 12: setVerb(of: &draft)
        default: draft.other = value(depth: 2)
        }
        if (draft.tags as Value.List?) == nil { draft.tags = [] }
        if Value(draft.other) == .null { draft.other = ["x": 1] }
    }

    /// Fields whose names are those of verbs.
    private mutating func setVerb(of draft: inout Draft) {
        let number = Int.random(in: 0...2, using: &self)
        switch Int.random(in: 0..<6, using: &self) {
        case 0: draft.value = number
        case 1: draft.append = number
        case 2: draft.remove = happens(0.5) ? number : nil
        case 3: draft.move.from = pick(["here", "there"])
        case 4: draft["text"].text.append(pick(["a", "b"]))
        default: draft["list"].list.append(number)
        }
    }

    /// What leads back to what was there.
    private mutating func recordNothing(in draft: inout Draft) {
        let key: Key = pick(["items", "count", "note", "tags", "other", "value"])
        let value: Value? = draft[key]
        switch Int.random(in: 0..<4, using: &self) {
        case 0: draft[key] = value
        case 1:
            draft[key] = happens(0.5) ? 7 : nil
            draft[key] = value
        case 2:
            draft.note.text.insert("and ", at: 0)
            draft.note.text.removeSubrange(0..<4)
        default:
            guard let first: Value = draft.tags[0] else { return }
            draft.tags.list.remove(at: 0)
            draft.tags.list.insert(first, at: 0)
        }
    }

    private mutating func write(into draft: inout Draft) {
        let note = Key(Value(draft.note).text ?? "")
        let size = draft.note.text.utf8Count
        var offset = Int.random(in: 0...min(size, 30), using: &self)
        var end = min(size, offset + pick([0, 0, 2, 4]))
        while !note.isBoundary(offset) { offset -= 1 }
        while !note.isBoundary(end) { end += 1 }
        draft.note.text.replaceSubrange(offset..<end, with: pick(["", "x", "more "]))
    }
}
