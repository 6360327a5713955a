import GodwitTestKit
import GodwitTree

/// Worlds small enough to try everything in them.
enum SmallWorld {
    /// Every list of at most four different items.
    static let arrangements: [Value] = arrangements(of: [1, 2, 3, 4]).map { .list($0) }

    /// The same of at most three of four strings that have nothing in common.
    static let words: [Value] = arrangements(of: ["fig", "plum", "kiwi", "date"])
        .filter { $0.count <= 3 }.map { .list($0) }

    /// Scalars, maps over two keys, lists with repetitions, and some of them nested.
    static let mixed: [Value] = {
        let scalars: [Value?] = [nil, 1, "a", ["a": 1]]
        let maps = scalars.flatMap { a in
            scalars.map { b in
                var map = Value.Map()
                map["a"] = a
                map["b"] = b
                return Value.map(map)
            }
        }
        let lists: [Value] = [
            [], [1], [1, 1], [1, 2], [2, 1], [1, 2, 1], [[1], [2]], [["a": 1]],
        ]
        let items: [Value] = [
            [["id": 1, "x": 1]], [["id": 1, "x": 2]], [["id": 2, "x": 1], ["id": 1, "x": 1]],
            ["a": [1, 2]], ["a": [2, 1, 3]], ["a": ["b": ["a": 1]]],
        ]
        return [.null, true, 1, 1.0, "a"] + maps + lists + items
    }()

    private static func arrangements(of items: [Value]) -> [[Value]] {
        [[]]
            + items.indices.flatMap { index in
                var rest = items
                let first = rest.remove(at: index)
                return arrangements(of: rest).map { [first] + $0 }
            }
    }
}

/// A base and three successors, each made from the one before; and two rivals of the first.
struct History: CustomStringConvertible {
    let base, first, second, third, rival: Value
    let seed: UInt64

    init(seed: UInt64) {
        var random = Seeded(seed: seed)
        self.seed = seed
        base = .map(random.map())
        first = random.edited(base)
        second = random.edited(first)
        third = random.edited(second)
        rival = random.edited(base)
    }

    var description: String { "seed \(seed)" }
}
