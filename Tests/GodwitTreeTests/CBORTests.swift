import GodwitTree
import Testing

/// RFC 8949, appendix A, whole.
@Suite struct CBORTests {
    static let within: [(String, Value)] = [
        ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100),
        ("1903e8", 1000), ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000),
        ("20", -1), ("29", -10), ("3863", -100), ("3903e7", -1000), ("f90000", 0.0),
        ("f93c00", 1.0), ("fb3ff199999999999a", 1.1), ("f93e00", 1.5), ("f97bff", 65504.0),
        ("fa47c35000", 100000.0), ("fa7f7fffff", 3.4028234663852886e+38),
        ("fb7e37e43c8800759c", 1.0e+300), ("f90001", 5.960464477539063e-8),
        ("f90400", 0.00006103515625), ("f9c400", -4.0), ("fbc010666666666666", -4.1),
        ("f4", false), ("f5", true), ("f6", .null), ("40", .bytes([])),
        ("4401020304", .bytes([1, 2, 3, 4])), ("60", ""), ("6161", "a"), ("6449455446", "IETF"),
        ("62225c", "\"\\"), ("62c3bc", "\u{fc}"), ("63e6b0b4", "\u{6c34}"),
        ("64f0908591", "\u{10151}"), ("80", []), ("83010203", [1, 2, 3]),
        ("8301820203820405", [1, [2, 3], [4, 5]]),
        (
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
            .list((1...25).map { .int($0) })
        ),
        ("a0", [:]), ("a26161016162820203", ["a": 1, "b": [2, 3]]),
        ("826161a161626163", ["a", ["b": "c"]]),
        (
            "a56161614161626142616361436164614461656145",
            ["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"]
        ),
    ]

    @Test(arguments: within)
    func `an example that is within our kinds of values is read, and written alike`(
        hex: String,
        value: Value
    ) throws {
        let bytes = try #require([UInt8](hex: hex))

        #expect(try Value(canonicalBytes: bytes) == value)
        #expect(value.canonicalBytes == bytes)
    }

    @Test(arguments: [
        // Integers beyond 64 bits with a sign, and bignums.
        ("1bffffffffffffffff", "an integer is beyond 64 bits"),
        ("3bffffffffffffffff", "an integer is beyond 64 bits"),
        ("c249010000000000000000", "tags are not used"),
        ("c349010000000000000000", "tags are not used"),
        // Numbers that have no one form, or are none.
        ("f98000", "a float is not in its shortest form"), ("f97c00", "not a finite number"),
        ("f97e00", "not a finite number"), ("f9fc00", "not a finite number"),
        ("fa7f800000", "not a finite number"), ("fa7fc00000", "not a finite number"),
        ("faff800000", "not a finite number"), ("fb7ff0000000000000", "not a finite number"),
        ("fb7ff8000000000000", "not a finite number"),
        ("fbfff0000000000000", "not a finite number"),
        // Undefined and other simple values.
        ("f7", "this simple value is not used"), ("f0", "this simple value is not used"),
        ("f8ff", "this simple value is not used"),
        // Tags.
        ("c074323031332d30332d32315432303a30343a30305a", "tags are not used"),
        ("c11a514b67b0", "tags are not used"), ("c1fb41d452d9ec200000", "tags are not used"),
        ("d74401020304", "tags are not used"), ("d818456449455446", "tags are not used"),
        ("d82076687474703a2f2f7777772e6578616d706c652e636f6d", "tags are not used"),
        // Keys that are not strings.
        ("a201020304", "a key is not a string"),
        // Indefinite lengths.
        ("5f42010243030405ff", "lengths are always definite"),
        ("7f657374726561646d696e67ff", "lengths are always definite"),
        ("9fff", "lengths are always definite"),
        ("9f018202039f0405ffff", "lengths are always definite"),
        ("9f01820203820405ff", "lengths are always definite"),
        ("83018202039f0405ff", "lengths are always definite"),
        ("83019f0203ff820405", "lengths are always definite"),
        (
            "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
            "lengths are always definite"
        ),
        ("bf61610161629f0203ffff", "lengths are always definite"),
        ("826161bf61626163ff", "lengths are always definite"),
        ("bf6346756ef563416d7421ff", "lengths are always definite"),
    ])
    func `an example that is not is refused, with the reason`(hex: String, reason: String) throws {
        let bytes = try #require([UInt8](hex: hex))
        let error = #expect(throws: TreeError.self) { try Value(canonicalBytes: bytes) }

        #expect(error?.description.hasSuffix(reason) == true)
    }
}
