import GodwitTestKit
import GodwitTree

extension Seeded {
    /// Keys that a format may take for something of its own.
    static let treacherousKeys: [Key] = [
        "a", "b", "", " ", "-", "=", ">", "+", ":-", "/", "~", "~1", "a/b", "m~n", "0", "1", "01",
        "nil", "#_", "d/set", "\u{e9}", "e\u{301}", "\"\\\n\u{1}\u{7f}",
    ]

    mutating func treacherousKey() -> Key { pick(Self.treacherousKeys) }

    /// A random value whose keys and strings are such that a format may stumble over them.
    mutating func treacherousValue(depth: Int = 3) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &self) {
        case 0: return pick([.null, true, false])
        case 1: return .int(pick([0, 1, -1, .max, .min, 9_007_199_254_740_993]))
        case 2: return pick([0.0, 1.0, -1.5, 1.0e300, 2.5e-300, 1.0e16, 0.1])
        case 3, 4: return .string(treacherousKey())
        case 5: return .int(.random(in: 0...3, using: &self))
        case 6, 7: return .map(treacherousMap(depth: depth - 1))
        default:
            let count = Int.random(in: 0...5, using: &self)
            return .list((0..<count).map { _ in treacherousValue(depth: depth - 1) })
        }
    }

    mutating func treacherousMap(depth: Int = 3) -> Value.Map {
        let count = Int.random(in: 0...4, using: &self)
        return Value.Map(
            (0..<count).map { _ in (treacherousKey(), treacherousValue(depth: depth)) }
        )
    }

    /// A random delta of any kind, made for no base in particular.
    mutating func wildDelta(depth: Int = 3) -> Delta {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &self) {
        case 0: return .keep
        case 1: return .set(treacherousValue(depth: depth))
        case 2: return .set(.bytes([0, 255, 16]))
        case 3: return .adding(pick([1, -7, .max, .min]))
        case 4: return wildText()
        case 5, 6:
            let count = Int.random(in: 1...4, using: &self)
            let changes = (0..<count).map { _ -> (Key, MapDelta.Change) in
                (treacherousKey(), happens(0.2) ? .remove : .apply(wildDelta(depth: depth - 1)))
            }
            return .map(Dictionary(changes) { $1 })
        default: return wildList(depth: depth - 1)
        }
    }

    private mutating func wildText() -> Delta {
        var offset = 0
        let splices = (0..<Int.random(in: 1...3, using: &self)).map { _ in
            offset += Int.random(in: 1...9, using: &self)
            let removed = Int.random(in: 0...3, using: &self)
            defer { offset += removed }
            return TextDelta.Splice(
                offset: offset,
                removed: removed,
                inserted: treacherousKey().text
            )
        }
        return (try? .text(splices)) ?? .keep
    }

    /// Parts at random until they do not contradict each other.
    private mutating func wildList(depth: Int) -> Delta {
        while true {
            let delta = try? ListDelta(
                removes: some { random in
                    let start = random.place()
                    return start..<(start + random.count())
                },
                moves: some { random in
                    ListDelta.Move(
                        source: random.place(),
                        target: random.place(),
                        count: random.count()
                    )
                },
                inserts: some { random in
                    let value = random.treacherousValue(depth: depth)
                    return ListDelta.Insert(position: random.place(), value: value)
                },
                edits: some { random in
                    let delta = random.wildDelta(depth: depth)
                    return ListDelta.Edit(position: random.place(), delta: delta)
                }
            )
            if let delta { return delta.parts == ListDelta.Parts.none ? .keep : .list(delta) }
        }
    }

    private mutating func place() -> Int { pick([0, 1, 2, 3, 5, 8, 13, 1_000_000_000_000]) }
    private mutating func count() -> Int { pick([1, 1, 1, 2, 3, 1_000_000_000]) }

    private mutating func some<Item>(_ item: (inout Seeded) -> Item) -> [Item] {
        (0..<Int.random(in: 0...2, using: &self)).map { _ in item(&self) }
    }
}

extension ListDelta.Parts {
    /// Those of a delta that does nothing.
    fileprivate static var none: ListDelta.Parts? { (try? ListDelta())?.parts }
}
