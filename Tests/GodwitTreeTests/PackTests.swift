import GodwitTestKit
import Testing

@testable import GodwitTree

/// Deltas as bytes, stored and sent.
@Suite struct PackTests {
    static let base: Value = [
        "items": [
            ["name": "Bread", "crossed": false, "count": 1],
            ["name": "Wine", "crossed": false, "count": 2],
            ["name": "Eggs", "crossed": true, "count": 6],
        ],
        "note": "a note that is long enough to be changed by the word",
    ]

    static let edits: [(@Sendable (inout Draft) -> Void, canonical: String, packed: String)] = [
        ({ _ in }, "c2c0", "c3c0"),
        (
            { $0.items[1].crossed = true }, "c2c8656974656d73d20101c86763726f73736564f5",
            "c3c802d20101c803f5"
        ),
        ({ $0.items.remove(at: 0) }, "c2c8656974656d73d10100", "c3c802d10100"),
        ({ $0.items.move(from: 2, to: 0) }, "c2c8656974656d73d4010400", "c3c802d4010400"),
        (
            { $0.items[0]["count"].add(-3) }, "c2c8656974656d73d20100c865636f756e74c205",
            "c3c802d20100c802c205"
        ),
        (
            { $0.items.insert(["name": "Milk", "crossed": false, "count": 1], at: 3) },
            "c2c8656974656d73d80106a3646e616d65644d696c6b65636f756e74016763726f73736564f4",
            "c3c802d80106c4644d696c6b01f4"
        ),
        (
            { $0.items.append(["name": "Milk", "count": 1]) },
            "c2c8656974656d73d80106a2646e616d65644d696c6b65636f756e7401",
            "c3c802d80106c50300644d696c6b01"
        ),
        (
            { $0.note.text.replaceSubrange(2..<6, with: "word") },
            "c2c8646e6f7465c301020404776f7264", "c3c801c301020404776f7264"
        ),
        ({ $0.remove("note") }, "c2c8646e6f7465c1", "c3c801c1"),
        ({ $0["new key"] = [1, 2] }, "c2c8676e6577206b6579820102", "c3c800676e6577206b6579820102"),
    ]

    @Test(arguments: edits.indices)
    func `the bytes of deltas are golden`(index: Int) throws {
        let (edit, canonical, packed) = Self.edits[index]
        var value = Self.base
        let delta = try value.edit(edit)
        #expect(delta.canonicalBytes.hex == canonical)
        #expect(delta.packed(on: Self.base, .plain).hex == packed)
        #expect(try Delta(canonicalBytes: delta.canonicalBytes) == delta)
        #expect(try Delta(packed: delta.packed(on: Self.base), on: Self.base) == delta)
    }

    @Test func `deltas that were stored before there was a binary form are read`() throws {
        let delta = Delta.diff(["a": [1, 2]], ["a": [1, 3, 2]])
        #expect(try Delta(canonicalBytes: delta.encoded.canonicalBytes) == delta)
    }

    @Test func `compression pays where the base has what is new`() throws {
        try #require(Compression.isAvailable)
        let words = (0..<2_000).map { "word \($0 * 7_919 % 1_000_003)" }
        let base: Value = ["text": .string(Key(words.joined(separator: " ")))]
        let delta = Delta.diff(
            base,
            ["text": base["text"] ?? "", "copy": .list(words.map { .string(Key($0)) })]
        )
        let bytes = delta.packed(on: base)
        #expect(bytes.count * 4 < delta.packed(on: base, .plain).count)
        #expect(try Delta(packed: bytes, on: base) == delta)
        #expect(throws: TreeError.self) { try Delta(packed: bytes, on: ["text": "another"]) }
        #expect(throws: TreeError.self) { try Delta(packed: bytes, on: base, sizeMax: 1_000) }
    }

    @Test func `a few bytes do not unfold to very many`() throws {
        let long = Key(String(repeating: "x", count: 1_000))
        let none: Value = ["a": .null]
        for first in [.string(long), [long: 1]] as [Value] {
            let item = first.canonicalBytes
            let repeated: [UInt8] = first.map == nil ? [0xc0] : [0xc4, 0xc0]
            let items = (0..<200).flatMap { _ in repeated }
            let bytes = [0xc3, 0xc8, 0x01, 0x98, 201] + item + items
            let delta = try Delta(packed: bytes, on: none, sizeMax: 1 << 18)
            #expect(try delta.applied(to: none)["a"]?.list?.count == 201)
            #expect(throws: TreeError.self) { try Delta(packed: bytes, on: none, sizeMax: 1 << 17) }
        }
    }

    @Test func `every byte may be damaged, none can crash the readers of deltas`() throws {
        var random = Seeded(seed: 5)
        for (edit, _, _) in Self.edits {
            var value = Self.base
            let delta = try value.edit(edit)
            for bytes in [delta.canonicalBytes, delta.packed(on: Self.base, .plain)] {
                for index in bytes.indices {
                    for byte in UInt8.min ... .max {
                        var damaged = bytes
                        damaged[index] = byte
                        _ = try? Delta(packed: damaged, on: Self.base).applied(to: Self.base)
                        _ = try? Delta(canonicalBytes: damaged).applied(to: Self.base)
                    }
                    _ = try? Delta(packed: Array(bytes[..<index]), on: Self.base)
                }
            }
        }
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &random)
            let bytes: [UInt8] =
                [random.pick([0xc2, 0xc3, 0xc4])]
                + (0..<count).map { _ -> UInt8 in
                    random.happens(0.3)
                        ? random.pick([0xc8, 0xd2, 0xd4, 0xd8, 0xff, 0xc4, 0xc5])
                        : .random(in: 0...255, using: &random)
                }
            _ = try? Delta(packed: bytes, on: Self.base).applied(to: Self.base)
            _ = try? Delta(canonicalBytes: bytes).composed(with: .keep)
        }
    }

    @Test(arguments: [
        "c2", "c2c0c0", "c2c7", "c2c9", "c2d0", "c2d1", "c2d10181ffffffffffff7f", "c2d2018080c0",
        "c2d40101ffffffffffffffffff0100", "c2d40100ffffffffffff3f00", "c2c800f5", "c2c86161c0",
        "c2c301000000", "c2c3010000016180",
        "c2c2808000", "c4", "c401", "c40100", "c3c805f5", "c3c4", "c5",
    ])
    func `bytes that are no delta in its one form are refused`(hex: String) throws {
        let bytes = try #require([UInt8](hex: hex))
        #expect(throws: TreeError.self) { try Delta(packed: bytes, on: Self.base) }
    }
}

extension [UInt8] {
    fileprivate init?(hex: String) {
        let digits = hex.utf8.map { UInt8(String(decoding: [$0], as: UTF8.self), radix: 16) }
        let values = digits.compactMap { $0 }
        guard values.count == digits.count else { return nil }
        self = stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
