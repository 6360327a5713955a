import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitTool

@Suite struct DocumentTests {
    @Test(arguments: [
        "{}", "[ ]", " 1.0\n", "\u{feff}{\"a\" :1 ,\r\n\t\"b\":[ 1,2 ]}\r\n", "\"\\u00e9\\/\"",
        "[1e5, 1E+2, -0, 0.10, 123456789012345678901234567890, 3.14159265358979323846, 1e999]",
        "{ \"a\": { } , \"\\u0061b\": null }", "[\n\n  1,\n\n  2\n\n]",
    ])
    func `a document that does not change keeps its bytes`(text: String) throws {
        let document = try Document(Array(text.utf8))
        #expect(String(decoding: document.text(of: document.value), as: UTF8.self) == text)
    }

    @Test(arguments: 0..<500 as Range<UInt64>)
    func `the value is what the strict reader reads, and the bytes come back`(
        seed: UInt64
    ) throws {
        var random = Seeded(seed: seed)
        let value = random.value(depth: 5)
        let scribe = Scribe.random(&random)
        let text = scribe.text(value, seed: seed)
        let document = try Document(Array(text.utf8))
        #expect(document.value == value, "seed \(seed)")
        #expect(document.text(of: value) == Array(text.utf8), "seed \(seed)")
    }

    @Test(arguments: 0..<500 as Range<UInt64>)
    func `an edited document reads back, and looks as if it was written so`(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let value = Value.map(random.map(depth: 5))
        let edited = random.edited(value)
        let scribe = Scribe.random(&random)
        let document = try Document(Array(scribe.text(value, seed: seed).utf8))
        let text = document.text(of: edited)
        #expect(try Document(text).value == edited, "seed \(seed)")
    }

    @Test func `a number is read exactly, or is held as it is spelt`() throws {
        func value(_ text: String) throws -> Value { try Document(Array(text.utf8)).value }
        #expect(try value("9223372036854775807") == .int(.max))
        #expect(try value("1.50") == 1.5)
        #expect(try value("1.50") == value("15e-1"))
        #expect(try value("-0.0") == 0.0)
        #expect(try value("0e5") == 0.0)
        #expect(try value("9223372036854775808").byteString != nil)
        #expect(try value("9223372036854775808") != value("9223372036854775809"))
        #expect(try value("0.1000000000000000055") != value("0.1"))
        #expect(try value("1e400") == value("10.0E399"))
        #expect(try value("1e400") != value("1e401"))
        #expect(try value("1e99999999999999999999") != value("1e99999999999999999998"))
    }

    @Test(arguments: [
        ("", 0, "the input ends too early"), ("{\"a\" 1}", 5, "a colon was expected"),
        ("{\"a\": 1,}", 8, "a key was expected"), ("[1 2]", 3, "a comma or the end of the array"),
        ("[01]", 2, "a comma"), ("[-]", 2, "a digit"), ("[1.]", 3, "a digit"),
        ("[\"\\x\"]", 2, "no such escape"), ("[\"a", 1, "the string has no end"),
        ("[nul]", 1, "an unknown word"), ("[}", 1, "no value begins"), ("1 2", 2, "there is more"),
        ("{\"a\": 1, \"\\u0061\": 2}", 9, "occurs twice"),
    ])
    func `what is not JSON is refused with its place`(
        text: String,
        offset: Int,
        reason: String
    ) throws {
        let error = #expect(throws: TreeError.self) { try Document(Array(text.utf8)) }
        guard case .malformed(.json, let place, let words)? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(place == offset && words.contains(reason), "\(place): \(words)")
        #expect(throws: TreeError.self) { try Value(json: text) }
    }

    @Test(arguments: [
        #"["a\ud83d", {"b": "\uDE00c"}]"#, #"["\ud800\ud800\udc00\\\u0041", "\\ud800"]"#,
    ])
    func `a string with half of a surrogate pair is carried as it is written`(text: String) throws {
        let document = try Document(Array(text.utf8))
        #expect(String(decoding: document.text(of: document.value), as: UTF8.self) == text)
        let edited = Value.list((document.value.list ?? []) + [1])
        let longer = document.text(of: edited)
        #expect(String(decoding: longer, as: UTF8.self) == text.dropLast() + ", 1]")
        let moved = Layout.oneLine.text(of: document.value)
        #expect(try Document(Array(moved.utf8)).value == document.value)
    }

    @Test func `halves that are equal have equal values, however they are spelt`() throws {
        func value(_ text: String) throws -> Value { try Document(Array(text.utf8)).value }
        #expect(try value(#""A\ud83d""#) == value(#""\u0041\uD83D""#))
        #expect(try value(#""\ud83d""#) != value(#""\ud83e""#))
        #expect(try value(#""\ud83d\ude00""#) == value("\"\u{1f600}\""))
        for text in [#"{"\ud83d": 1}"#, #""\ud83d\x""#, #""\ud83d\u00"#] {
            #expect(throws: TreeError.self) { try value(text) }
        }
    }

    @Test func `a document that takes more than its budget is refused`() {
        let text = Array(("[[]" + String(repeating: ",[]", count: 9_999) + "]").utf8)
        let budget = ReadBudget(memoryMax: 1_000_000)
        #expect(throws: TreeError.overBudget(.memory, limit: 1_000_000)) {
            try Document(text, budget: budget)
        }
        #expect(throws: Never.self) { try Document(text, budget: ReadBudget(memoryMax: 4_000_000)) }
    }

    @Test func `a text that nests too deep is refused`() {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: TreeError.tooDeep(limit: 64)) { try Document(Array(text.utf8)) }
    }
}
