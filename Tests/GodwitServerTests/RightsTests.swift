import GodwitReplication
import GodwitTree
import Testing

@testable import GodwitServer

/// Patterns of replicas, and the rights that they grant.
@Suite struct RightsTests {
    @Test(arguments: [
        ("shopping", "shopping", true), ("shopping", "shopping2", false),
        ("shopping", "Shopping", false), ("acme.*", "acme.orders", true),
        ("acme.*", "acme.", true), ("acme.*", "acme", false), ("acme.*", "acme2.orders", false),
        ("acme*", "acme2.orders", true), ("*", "anything", true), (".*", ".hidden", true),
    ])
    func `a pattern matches its name, or names that begin with it`(
        _ pattern: String,
        _ name: String,
        _ isMatch: Bool
    ) throws {
        #expect(try ReplicaPattern(pattern).matches(ReplicaName(name)) == isMatch)
    }

    @Test(arguments: ["", "a*b", "*a", "**", "a b", "a/b", "ä*", "%", "a*\n", "..", "a?"])
    func `what is neither a name nor its beginning is no pattern`(_ text: String) {
        #expect(throws: AccessError.invalidPattern(text)) { try ReplicaPattern(text) }
    }

    @Test func `a pattern is as long as a name at most`() throws {
        _ = try ReplicaPattern(String(repeating: "a", count: 128))
        _ = try ReplicaPattern(String(repeating: "a", count: 127) + "*")
        #expect(throws: AccessError.self) { try ReplicaPattern(String(repeating: "a", count: 129)) }
    }

    @Test(arguments: Permission.allCases)
    func `a permission includes those before it, and none after it`(_ granted: Permission) throws {
        let rights = Rights([granted: ["a.*"]])
        for asked in Permission.allCases {
            let isIncluded =
                Permission.allCases.firstIndex(of: asked) ?? 9
                <= Permission.allCases.firstIndex(of: granted) ?? -1
            #expect(rights.allows(asked, ReplicaName("a.b")) == isIncluded)
            #expect(!rights.allows(asked, ReplicaName("b.a")))
        }
        #expect(Permission.allCases.map(\.rawValue) == ["read", "write", "create", "administer"])
    }

    @Test func `rights that were written are read`() throws {
        let value: Value = ["read": ["*"], "write": ["a", "b.*"]]
        #expect(try Rights(value).value == value)
        #expect(try Rights([:] as Value) == .none)
    }

    @Test func `too many patterns are no rights`() {
        let patterns = (0...Rights.patternCountMax).map { Value.string(Key("r\($0)")) }
        #expect(throws: AccessError.self) { try Rights(["read": .list(Value.List(patterns))]) }
    }

    @Test func `bytes have one spelling in Base64URL, and no other is read`() {
        for size in 0..<40 {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 83 &+ size) }
            #expect(Base64URL.decoded(Base64URL.encoded(bytes)) == bytes)
        }
        #expect(Base64URL.encoded([0xfb, 0xff]) == "-_8")
        for text in ["A", "-_9", "-_8=", "+/8", "-_ 8", "-_8\n", "AAAAA", "ä"] {
            #expect(Base64URL.decoded(text) == nil, "\(text)")
        }
    }
}
