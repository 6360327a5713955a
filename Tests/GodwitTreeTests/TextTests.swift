import GodwitTestKit
import GodwitTree
import Testing

/// Canonical bytes, JSON and EDN.
@Suite struct TextTests {
    /// RFC 8949, appendix A, as far as it is deterministic and within our kinds of values; and
    /// vectors of our own, computed by hand.
    static let golden: [(Value, String)] = [
        (0, "00"), (1, "01"), (10, "0a"), (23, "17"), (24, "1818"), (25, "1819"), (100, "1864"),
        (1000, "1903e8"), (1_000_000, "1a000f4240"), (1_000_000_000_000, "1b000000e8d4a51000"),
        (.int(.max), "1b7fffffffffffffff"), (.int(.min), "3b7fffffffffffffff"), (-1, "20"),
        (-10, "29"), (-100, "3863"), (-1000, "3903e7"), (0.0, "f90000"), (1.0, "f93c00"),
        (1.1, "fb3ff199999999999a"), (1.5, "f93e00"), (65504.0, "f97bff"),
        (100000.0, "fa47c35000"), (3.4028234663852886e+38, "fa7f7fffff"),
        (1.0e+300, "fb7e37e43c8800759c"), (5.960464477539063e-8, "f90001"),
        (0.00006103515625, "f90400"), (-4.0, "f9c400"), (-4.1, "fbc010666666666666"),
        (false, "f4"), (true, "f5"), (.null, "f6"), (.bytes([]), "40"),
        (.bytes([1, 2, 3, 4]), "4401020304"), ("", "60"), ("a", "6161"), ("IETF", "6449455446"),
        ("\"\\", "62225c"), ("\u{fc}", "62c3bc"), ("\u{6c34}", "63e6b0b4"),
        ("\u{10151}", "64f0908591"), ([], "80"), ([1, 2, 3], "83010203"),
        ([1, [2, 3], [4, 5]], "8301820203820405"), ([:], "a0"),
        (["a": 1, "b": [2, 3]], "a26161016162820203"), (["a", ["b": "c"]], "826161a161626163"),
        (["bb": 1, "c": 2], "a261630262626201"),
        (["\u{e9}": 1, "e\u{301}": 2], "a262c3a9016365cc8102"),
    ]

    @Test(arguments: golden)
    func `canonical bytes are those of the golden vectors`(value: Value, hex: String) throws {
        #expect(value.canonicalBytes.hex == hex)
        #expect(try Value(canonicalBytes: value.canonicalBytes) == value)
    }

    /// One value in a form that is not the canonical one, or none at all.
    @Test(arguments: [
        "", "1800", "190001", "1a00000001", "1b0000000000000001", "1bffffffffffffffff",
        "3bffffffffffffffff", "fa3fc00000", "fb3ff8000000000000", "f97e00", "f97c00", "fa7f800000",
        "f98000", "f7", "f0", "f818", "c000", "9f01ff", "7f6161ff", "bf6161 01ff", "61ff", "62c328",
        "a2616101616101", "a2616201616101", "a101 01", "82 01", "5bffffffffffffffff", "9affffffff",
        "0000", "1c", "fb7ff0000000000000", "63edb080",
    ])
    func `other encodings are refused`(hex: String) throws {
        let bytes = try #require([UInt8](hex: hex.filter { $0 != " " }))

        #expect(throws: TreeError.self) { try Value(canonicalBytes: bytes) }
    }

    @Test func `a depth bomb is refused, not followed`() {
        let limit = TreeError.tooDeep(limit: Value.depthMax)
        let lists = [UInt8](repeating: 0x81, count: 1_000_000)
        #expect(throws: limit) { try Value(canonicalBytes: lists) }
        #expect(throws: limit) { try Value(json: String(repeating: "[", count: 1_000_000)) }
        #expect(throws: limit) {
            try Value(json: String(repeating: "{\"a\":", count: 1_000_000))
        }
        let liars = "99ffff"
        let bomb = [UInt8](hex: String(repeating: liars, count: 200_000)) ?? []
        #expect(throws: limit) { try Value(canonicalBytes: bomb) }
    }

    @Test func `every byte may be damaged, none can crash the reader`() throws {
        var random = Seeded(seed: 1)
        for _ in 0..<2_000 {
            let value = random.value()
            var bytes = value.canonicalBytes
            let place = Int.random(in: bytes.indices, using: &random)
            bytes[place] = .random(in: 0...255, using: &random)
            if let other = try? Value(canonicalBytes: bytes) {
                #expect(other.canonicalBytes == bytes, "what is accepted is canonical")
            }
            _ = try? Delta(canonicalBytes: bytes)
            bytes.removeLast(bytes.count - place)
            #expect(throws: TreeError.self) { try Value(canonicalBytes: bytes) }
        }
    }

    @Test func `JSON and canonical bytes read back as they were`() throws {
        var random = Seeded(seed: 2)
        for _ in 0..<5_000 {
            let value = random.value()
            #expect(try Value(json: value.jsonText()) == value)
            #expect(try Value(json: value.jsonText(indentation: 2)) == value)
            #expect(try Value(canonicalBytes: value.canonicalBytes) == value)
        }
    }

    @Test func `JSON keeps 64-bit integers and byte-exact keys`() throws {
        #expect(try Value(json: "9007199254740993") == 9_007_199_254_740_993)
        #expect(try Value(json: "-9223372036854775808") == .int(.min))
        #expect(try Value(json: "1.0") == 1.0)
        #expect(try Value(json: "1.0") != 1)
        #expect(try Value(json: "-0.0") == 0.0)
        let map = try Value(json: "{\"\u{e9}\": 1, \"e\u{301}\": 2}")
        #expect(map["\u{e9}"] == 1 && map["e\u{301}"] == 2)
        #expect(try Value(json: #""\ud83d\ude00\u00e9""#) == "\u{1f600}\u{e9}")
    }

    @Test(arguments: [
        (#"{"a": 1, "a": 2}"#, 0, "the key \"a\" occurs twice in this object"),
        ("[1,]", 3, "no value begins like this"),
        ("[01]", 2, "a comma or the end of the array was expected"),
        ("9223372036854775808", 0, "the integer does not fit in 64 bits"),
        ("[1e999]", 1, "the number is beyond a double's range"),
        ("1 2", 2, "there is more after the value"),
        (#""\ud800""#, 1, "half of a surrogate pair stands alone"),
        ("", 0, "the input ends too early"),
        (#"{"a" 1}"#, 5, "a colon was expected"), ("nul", 0, "an unknown word"),
        ("\"a", 0, "the string has no end"),
        ("\"\n\"", 1, "a control character must be escaped"), ("1.", 2, "a digit was expected"),
    ])
    func `malformed JSON is refused with the place of the fault`(
        json: String,
        offset: Int,
        reason: String
    ) {
        #expect(throws: TreeError.malformed(format: .json, offset: offset, reason: reason)) {
            try Value(json: json)
        }
    }

    @Test func `EDN shows keywords where they are possible`() {
        let value: Value = [
            "name": "Wine \"red\"\n", "two words": [1, 1.5, .null, true], "b": .bytes([255]),
        ]
        #expect(
            value.ednText()
                == "{:b #bytes \"ff\" :name \"Wine \\\"red\\\"\\n\" \"two words\" [1 1.5 nil true]}"
        )
    }

    /// Computed by another implementation, in another language, from `Documentation/formats.md`.
    @Test func `the digests of values are golden`() {
        let golden: [(Value, String)] = [
            ([:], "282a4d1260c8004f3e1eb584c842e10beff7c479"),
            ([], "b5304afd59d89f7ebc9b5d18ec49ec261a8efc8a"),
            ("a", "cc72608dfe5bc8517ba9367242ae9533c823226c"),
            (["a": 1], "5bd104fb1d018b242cd7f40e3322936ab14823ad"),
            (.list((0..<200).map { .int($0) }), "43e0c7a4eacc162c411f1c5935897453806fbe30"),
            (
                .list((0..<3_000).map { .bool($0 % 2 == 0) }),
                "646e55aa33b006cf1ed6f5063ed23c13fd23f054"
            ),
            (
                .map(
                    Value.Map(
                        (0..<150).map { number -> (Key, Value) in
                            let text = String(repeating: "x", count: number)
                            return (
                                Key("key \(number)"), [.int(Int64(number)), .string(Key(text))]
                            )
                        }
                    )
                ), "0d98dec9956d02035084bd225684128940ffd381"
            ),
            (
                .list(
                    (0..<1_000).map { number -> Value in
                        let name = Key("item \(number)")
                        return [
                            "id": .int(Int64(number)), "done": .bool(number % 3 == 0),
                            "name": .string(name),
                        ]
                    }
                ), "6a095e2c4f98351234eb4bb64b9a74aa763b16ae"
            ),
            (
                .list((0..<5_000).map { .bool($0 * $0 / 7 % 3 == 0) }),
                "39ae14e7998e462076cd54ff88442d82945b37e1"
            ),
            (Self.sensors, "07db26497393dd7a3fe755f5fcfc0f04d12047d2"),
            (
                .list(
                    (0..<1_000).map { number -> Value in
                        ["type": "Feature", "geometry": [.int(number), .int(number % 7)]]
                    }
                ), "fa88028814fa7a682b287a182f6f9ca4533645d6"
            ),
            (.list((0..<100_000).map { .int($0) }), "d5845f1087289c871652d5847ac8a6a27167565b"),
            (
                .list((0..<600).map { .int($0 < 40 || $0 > 300 ? $0 : $0 % 3) }),
                "3d6d79258bbcbb28dd417fcf9f90904b95de9d99"
            ),
        ]
        for (value, digest) in golden { #expect(value.digest.description == digest) }
    }

    private static var sensors: Value {
        .list(
            (0..<1_000).map { number -> Value in
                let value = Finite(Double(number) / 8) ?? 0.0
                return ["name": "a sensor", "value": .double(value)]
            }
        )
    }
}
