import GodwitTestKit
import GodwitTree
import Testing

/// L8 in documents as large as apps have them.
@Suite struct LargeDeltaLawTests {
    /// Documents of some ten kilobytes to a megabyte.
    @Test(arguments: [10_000, 100_000, 1_000_000])
    func `a delta is at most 16 bytes longer than to set the value, and leads there`(
        sizeInBytes: Int
    ) throws {
        for seed in 0..<UInt64(3 * Soak.factor) {
            var random = Seeded(seed: seed)
            let old = random.document(sizeInBytes: sizeInBytes)
            #expect(old.canonicalBytes.count >= sizeInBytes, "seed \(seed)")
            for part in [0.0001, 0.01, 0.5, 1] {
                let new = random.revision(of: old, part: part)
                let pairs: [(Value, Value)] = [(old, new), (new, old), (old, [:]), ([:], new)]
                for (from, next) in pairs {
                    let delta = Delta.diff(from, next)
                    let limit = Delta.set(next).canonicalBytes.count + 16
                    let text = "seed \(seed), \(part) of \(sizeInBytes) bytes"
                    #expect(delta.canonicalBytes.count <= limit, "\(text)")
                    #expect(try delta.applied(to: from) == next, "\(text)")
                }
            }
        }
    }
}

extension Seeded {
    /// Lists of records with words, of about so many bytes.
    fileprivate mutating func document(sizeInBytes: Int) -> Value {
        let count = sizeInBytes / 50 + 1
        let items = (0..<count).map { number -> Value in
            [
                "id": .int(Int64(number)), "title": .string(Key(prose(4...8))),
                "n": .int(self.number()), "done": .bool(happens(0.5)),
            ]
        }
        return ["items": .list(Value.List(items)), "note": .string(Key(prose(100...200)))]
    }

    /// The document with a part of its items edited, removed, moved or made anew.
    fileprivate mutating func revision(of document: Value, part: Double) -> Value {
        var items = document["items"].flatMap { $0.list.map(Array.init) } ?? []
        for _ in 0..<max(1, Int(Double(items.count) * part)) {
            let place = Int.random(in: items.indices, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: items[place] = record()
            case 1 where items.count > 1: items.remove(at: place)
            case 2: items.swapAt(place, Int.random(in: items.indices, using: &self))
            default: items[place] = revised(items[place])
            }
        }
        return ["items": .list(Value.List(items)), "note": .string(Key(prose(100...200)))]
    }
}
