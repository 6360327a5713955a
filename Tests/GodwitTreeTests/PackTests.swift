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
        ({ $0.items.list.remove(at: 0) }, "c2c8656974656d73d10100", "c3c802d10100"),
        ({ $0.items.list.move(from: 2, to: 0) }, "c2c8656974656d73d4010400", "c3c802d4010400"),
        (
            { $0.items[0].count -= 3 }, "c2c8656974656d73d20100c865636f756e74c205",
            "c3c802d20100c802c205"
        ),
        (
            { $0.items.list.insert(["name": "Milk", "crossed": false, "count": 1], at: 3) },
            "c2c8656974656d73d80106a3646e616d65644d696c6b65636f756e74016763726f73736564f4",
            "c3c802d80106c4644d696c6b01f4"
        ),
        (
            { $0.items.list.append(["name": "Milk", "count": 1]) },
            "c2c8656974656d73d80106a2646e616d65644d696c6b65636f756e7401",
            "c3c802d80106c50300644d696c6b01"
        ),
        (
            { $0.note.text.replaceSubrange(2..<6, with: "word") },
            "c2c8646e6f7465c301020404776f7264", "c3c801c301020404776f7264"
        ),
        ({ $0.note = nil }, "c2c8646e6f7465c1", "c3c801c1"),
        ({ $0["new key"] = [1, 2] }, "c2c8676e6577206b6579820102", "c3c800676e6577206b6579820102"),
    ]

    @Test(arguments: edits.indices)
    func `the bytes of deltas are golden`(index: Int) throws {
        let (edit, canonical, packed) = Self.edits[index]
        var value = Self.base
        let delta = try value.edit(edit)
        #expect(delta.canonicalBytes.hex == canonical)
        #expect(try delta.packed(on: Self.base, .plain).hex == packed)
        #expect(try Delta(canonicalBytes: delta.canonicalBytes) == delta)
        #expect(try Delta(packed: delta.packed(on: Self.base), on: Self.base) == delta)
    }

    @Test func `compression pays where the base has what is new`() throws {
        try #require(Zstandard.isAvailable)
        let words = (0..<2_000).map { "word \($0 * 7_919 % 1_000_003)" }
        let base: Value = ["text": .string(Key(words.joined(separator: " ")))]
        let delta = Delta.diff(
            base,
            ["text": base["text"] ?? "", "copy": .list(words.map { .string(Key($0)) })]
        )
        let bytes = try delta.packed(on: base)
        #expect(try bytes.count * 4 < delta.packed(on: base, .plain).count)
        #expect(try Delta(packed: bytes, on: base) == delta)
        #expect(throws: TreeError.self) { try Delta(packed: bytes, on: ["text": "another"]) }
        #expect(throws: TreeError.overBudget(.memory, limit: 1_000)) {
            try Delta(packed: bytes, on: base, budget: ReadBudget(memoryMax: 1_000))
        }
    }

    @Test func `every byte may be damaged, none can crash the readers of deltas`() throws {
        var random = Seeded(seed: 5)
        for (edit, _, _) in Self.edits {
            var value = Self.base
            let delta = try value.edit(edit)
            for bytes in [delta.canonicalBytes, try delta.packed(on: Self.base, .plain)] {
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
                [random.pick([0xc2, 0xc3, 0xc4, 0xc5])]
                + (0..<count).map { _ -> UInt8 in
                    random.happens(0.3)
                        ? random.pick([0xc8, 0xd2, 0xd4, 0xd8, 0xff, 0xc4, 0xc5])
                        : .random(in: 0...255, using: &random)
                }
            _ = try? Delta(packed: bytes, on: Self.base).applied(to: Self.base)
            _ = try? Delta(canonicalBytes: bytes).composed(with: .keep)
        }
    }

    @Test func `a few bytes cannot unfold to very much`() throws {
        try #require(Zstandard.isAvailable)
        // Places that add up to more than a number holds, each allowed by itself.
        let edit: [UInt8] = [0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0xf6]
        let edits =
            [0xc3, 0xd2, 0x80, 0x80, 0x80, 0x04] + repeatElement(edit, count: 1 << 23).joined()
        #expect(throws: TreeError.self) { try Delta(packed: edits, on: Self.base) }
        // Eight million lists in each other's place, from less than a kilobyte.
        let lists = [0xc3, 0x9a, 0x00, 0x80, 0x00, 0x00] + [UInt8](repeating: 0x80, count: 1 << 23)
        let frame = try #require(Zstandard.compressed(lists))
        #expect(frame.count < 2_000)
        #expect(throws: TreeError.self) { try Delta(packed: [0xc4] + frame, on: Self.base) }
        // The same long text again and again, by a byte each.
        let long: Value = ["l": [["t": .string(Key(String(repeating: "x", count: 100_000)))]]]
        let again: [UInt8] = [
            0xc3, 0xc8, 0x01, 0xd8, 0x01, 0x01, 0x03, 0xc4, 0xc0, 0xc4, 0xc0, 0xc4, 0xc0,
        ]
        #expect(throws: TreeError.self) { try Delta(packed: again, on: long) }
    }

    @Test func `a frame of one block goes without the header of the block`() throws {
        try #require(Zstandard.isAvailable)
        var random = Seeded(seed: 5)
        // In one block, in one with a window, and in several: a block has at most 128 KiB.
        for (size, isShort) in [(100, true), (1_000, true), (90_000, true), (300_000, false)] {
            let bytes = (0..<size).map { _ in UInt8.random(in: 97...101, using: &random) }
            let frame = try #require(Zstandard.compressed(bytes))
            #expect((frame[0] & 0x08 != 0) == isShort)
            #expect(try Zstandard.decompressed(frame) == bytes)
            for end in 0..<min(frame.count, 200) {
                #expect(throws: TreeError.self) {
                    try Zstandard.decompressed(Array(frame[..<end]))
                }
            }
            // With its header, the block is read as well.
            let header = 1 + [1, 2, 4, 8][Int(frame[0] >> 6)]
            let block = (frame.count - header) << 3 | 0b101
            guard isShort else { continue }
            let long =
                [frame[0] & ~0x08] + frame[1..<header]
                + [UInt8(block & 0xff), UInt8(block >> 8 & 0xff), UInt8(block >> 16)]
                + frame[header...]
            #expect(try Zstandard.decompressed(long) == bytes)
        }
        for bytes: [UInt8] in [
            [0x08], [0x28], [0xff], [0xe8, 1], [0x28, 0], [0x2f, 0, 0, 0, 0, 9],
        ] {
            #expect(throws: TreeError.self) { try Zstandard.decompressed(bytes) }
        }
        let long = [0xa8, 0, 0, 4, 0] + [UInt8](repeating: 7, count: 300_000)
        #expect(throws: TreeError.self) { try Zstandard.decompressed(long) }
    }

    @Test func `a delta that does nothing in other words is keep`() throws {
        let deltas: [Delta] = [
            .increment(0), .list(try ListDelta()), .map(["a": .apply(.increment(0))]),
            .list(try ListDelta(edits: [.init(position: 1, delta: .increment(0))])),
        ]
        for delta in deltas { #expect(try Delta(canonicalBytes: delta.canonicalBytes) == .keep) }
    }

    @Test func `a model with many keys is not listed for an item with few`() throws {
        let keys = (0..<20_000).map { (Key("key \($0)"), Value.int(0)) }
        let base: Value = [.map(Value.Map(keys))]
        let delta = Delta.diff(
            base,
            .list([base.list?[0] ?? 0] + (0..<50).map { ["key 1": .int($0)] })
        )
        #expect(try delta.packed(on: base, .plain).count <= delta.canonicalBytes.count)
    }

    @Test(arguments: [
        "c2", "c2c0c0", "c2c7", "c2c9", "c2d0", "c2d1", "c2d10181ffffffffffff7f", "c2d2018080c0",
        "c2d40101ffffffffffffffffff0100", "c2d40100ffffffffffff3f00", "c2c800f5", "c2c86161c0",
        "c2c301000000", "c2c3010000016180",
        "c2c2808000", "c4", "c400", "c5", "c500", "c3c805f5", "c3c4", "c6",
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
