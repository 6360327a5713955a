import GodwitTree
import Testing

/// A small input that stands for very much, and how it is read.
struct Bomb: Sendable, CustomTestStringConvertible {
    typealias Reading = @Sendable () throws -> Void

    let testDescription: String
    /// Makes the input, and returns how it is read.
    let prepare: @Sendable () -> Reading

    private init(_ name: String, _ prepare: @escaping @Sendable () -> Reading) {
        testDescription = name
        self.prepare = prepare
    }
}

extension Bomb {
    static let all = packed + frames + bodies + texts + patches

    /// Packed deltas of some kilobytes, which unfold to a million parts and more.
    private static let packed: [Bomb] = {
        let parts: [(String, head: [UInt8], part: [UInt8])] = [
            ("removed places", [0xd1], [0x02]),
            ("kept edits", [0xd2], [0x00, 0xc0]),
            ("moved places", [0xd4], [0x02, 0x00]),
            ("splices", [0xc3], [0x01, 0x01, 0x00]),
            ("inserted nulls", [0xd8, 0x01, 0x01], [0xf6]),
            ("changed keys", [0xc6], [0x61, 0x61, 0xc1]),
        ]
        return parts.flatMap { name, head, part in
            [1 << 25, 1 << 21, 1 << 18].map { size in
                Bomb("\(size) bytes of \(name)") {
                    let count = size / part.count
                    let bytes = [0xc3] + head + leb128(count) + many(part, count)
                    return unfolding(bytes, on: [])
                }
            }
        }
    }()

    private static let frames = [
        Bomb("a frame of zeros") {
            unfolding([UInt8](repeating: 0, count: 1 << 26), on: [])
        },
        // Its head says 64 MiB, and there is one block of a single byte behind it.
        Bomb("a frame that says it is large") {
            let frame: [UInt8] = [0xa0, 0x00, 0x00, 0x00, 0x04, 0x09, 0x00, 0x00, 0x00]
            return { _ = try Delta(packed: [0xc4] + frame, on: []) }
        },
        Bomb("lists in each other's place") {
            unfolding([0xc3] + head(0x9a, 1 << 23) + many([0x80], 1 << 23), on: [])
        },
        Bomb("maps like a large one") {
            let keys = (0..<(1 << 14)).map { (Key("key \($0)"), Value.int(0)) }
            let item = [0xc5] + [UInt8](repeating: 0, count: 1 << 11) + [0x00]
            let bytes = [0xc3, 0xd8, 0x01, 0x01] + leb128(3_000) + many(item, 3_000)
            return unfolding(bytes, on: [.map(Value.Map(keys))], isHarmless: true)
        },
    ]

    /// What a server may be sent.
    private static let bodies = [
        Bomb("a million lists in CBOR") {
            let bytes = head(0x9a, 1 << 20) + many([0x81, 0x00], 1 << 20)
            return { _ = try Value(canonicalBytes: bytes, budget: .request) }
        },
        Bomb("rows of lists in CBOR") {
            let row = [0x98, 0x64] + many([0x81, 0x00], 100)
            let bytes = head(0x9a, 1 << 14) + many(row, 1 << 14)
            return { _ = try Value(canonicalBytes: bytes, budget: .request) }
        },
        Bomb("a million lists in JSON") {
            let bytes = Array(("[0" + String(repeating: ",[0]", count: 1 << 20) + "]").utf8)
            return { _ = try Value(json: bytes, budget: .request) }
        },
        Bomb("a million lists in EDN") {
            let bytes = Array(("[" + String(repeating: "[0]", count: 1 << 20) + "]").utf8)
            return { _ = try Value(edn: bytes, budget: .request) }
        },
        Bomb("a delta as data") {
            let places = (0..<200_000).map { Value.int($0 * 2) }
            let removes: Value = [["-": .list(places)]]
            return { _ = try Delta(encoded: removes, budget: .request) }
        },
    ]

    private static let texts = [
        Bomb("deep lists in JSON") { reading("[", 1 << 20) { try Value(json: $0) } },
        Bomb("deep maps in JSON") { reading("{\"a\":", 1 << 18) { try Value(json: $0) } },
        Bomb("a long number in JSON") { reading("1", 1 << 20) { try Value(json: $0) } },
        Bomb("a string of escapes") {
            reading("\\u0061", 1 << 18) { escapes in
                try Value(json: [0x22] + escapes + [0x22], budget: ReadBudget(memoryMax: 1 << 20))
            }
        },
        Bomb("deep lists in EDN") { reading("[", 1 << 20) { try Value(edn: $0) } },
        Bomb("discards in EDN") {
            reading("#_", 1 << 20) { try Value(edn: $0, budget: .request) }
        },
        Bomb("tags in EDN") { reading("#a ", 1 << 19) { try Value(edn: $0, budget: .request) } },
    ]

    private static let patches = [
        Bomb("copies of copies") {
            { _ = try JSONPatch(copies).applied(to: ["x": "laugh"]) }
        },
        Bomb("copies of copies, as a delta") {
            { _ = try JSONPatch(copies).delta(on: ["x": "laugh"]) }
        },
        Bomb("moves of a large part") {
            let large: Value = ["a": .list((0..<100_000).map { [.int($0)] }), "b": [:]]
            let there: Value = ["op": "move", "from": "/a", "path": "/b/a"]
            let back: Value = ["op": "move", "from": "/b/a", "path": "/a"]
            let moves = Value.list((0..<200).map { $0 % 2 == 0 ? there : back })
            return {
                _ = try JSONPatch(moves).applied(to: large)
                throw Harmless()
            }
        },
        Bomb("a pointer of a million steps") {
            let pointer: Value = .string(Key(String(repeating: "/", count: 1 << 20)))
            return { _ = try JSONPatch([["op": "remove", "path": pointer]], budget: .request) }
        },
        Bomb("a deep merge patch") {
            let deep = (0..<1_000).reduce(1 as Value) { value, _ in ["a": value] }
            return { _ = try (1 as Value).applying(mergePatch: deep) }
        },
    ]

    private static let copies = Value.list(
        (0..<62).map { level -> Value in
            ["op": "copy", "from": "", "path": .string(Key("/\(level % 2)"))]
        }
    )

    private static func unfolding(
        _ bytes: [UInt8],
        on base: Value,
        isHarmless: Bool = false
    ) -> Reading {
        let packed = [0xc4] + (Zstandard.compressed(bytes, level: 3) ?? [])
        return {
            let delta = try Delta(packed: packed, on: base)
            if isHarmless { throw Harmless() }
            _ = try delta.applied(to: base)
        }
    }

    private static func reading(
        _ part: String,
        _ count: Int,
        _ read: @escaping @Sendable ([UInt8]) throws -> Value
    ) -> Reading {
        let bytes = Array(String(repeating: part, count: count).utf8)
        return { _ = try read(bytes) }
    }

    private static func many(_ part: [UInt8], _ count: Int) -> [UInt8] {
        Array(repeatElement(part, count: count).joined())
    }

    /// Thrown by what is no bomb any more: it may be read, at little cost.
    struct Harmless: Error {}

    private static func head(_ byte: UInt8, _ count: Int) -> [UInt8] {
        [byte] + stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> $0) }
    }

    private static func leb128(_ number: Int) -> [UInt8] {
        var (rest, bytes): (Int, [UInt8]) = (number, [])
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
