import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// The messages as bytes.
@Suite struct MessageTests {
    @Test func `messages of version 3 are as the golden bytes have them`() throws {
        let delta = Delta.diff(["d": ["x": [1]]], ["d": ["x": [1, "a"]]])
        let packed = try ExchangeDelta(delta, on: ["d": ["x": [1]]], .plain)
        let request = ExchangeRequest(
            nonce: 300,
            have: [1, 2, 3, 4, 5, 6, 7, 8],
            batch: .init(sequence: 7, check: [9, 9, 9, 9], delta: packed)
        )
        let ask = ExchangeRequest(nonce: 1, have: StateID.root.abbreviation, batch: nil)
        let response = ExchangeResponse(
            acknowledged: 7,
            head: .root,
            origin: .have,
            delta: packed
        )

        #expect(
            request.encoded.canonicalBytes.hex
                == "880319012c014801020304050607080744090909094ac3c801c801d80102616144401ab6f9"
        )
        #expect(ask.encoded.canonicalBytes.hex == "8503010140447474293b")
        #expect(
            response.encoded.canonicalBytes.hex
                == "870301075820282a4d1260c8004f3e1eb584c842e10beff7c479000000000000000000000000"
                + "004ac3c801c801d80102616144c0295cff"
        )
        #expect(try ExchangeRequest(encoded: request.encoded) == request)
        #expect(try ExchangeRequest(encoded: ask.encoded) == ask)
        #expect(try ExchangeResponse(encoded: response.encoded) == response)
    }

    @Test func `a delta that the other side may not read is refused on both sides`() throws {
        let delta = Delta.diff([:], ["list": [1, 2, 3]])
        var packing = Delta.Packing.plain
        packing.budget = ReadBudget(memoryMax: 100)
        let refusal = ReplicationError(refusing: .overBudget(.memory, limit: 100))
        #expect(refusal.code == "overBudget")
        #expect(throws: refusal) { try ExchangeDelta(delta, on: [:], packing) }
        let packed = try ExchangeDelta(delta, on: [:], .plain).encoded
        #expect(throws: refusal) {
            try ExchangeDelta(encoded: packed).delta(on: [:], budget: packing.budget)
        }
    }

    @Test func `ids are golden`() throws {
        let id = StateID(
            content: (["a": 1] as Value).digest,
            replica: "shopping",
            parents: [.root]
        )
        #expect(id.description.hasPrefix((["a": 1] as Value).digest.description))
        #expect(
            StateID.root.description
                == "282a4d1260c8004f3e1eb584c842e10beff7c479000000000000000000000000"
        )
        #expect(id.abbreviation.hex == "800189f549d6c65a")
    }

    @Test func `a request as JSON is the same request`() throws {
        let json = #"[3, 5, 0, "0102030405060708", 1, "09090909", {"a": 1}, null]"#
        let request = try ExchangeRequest(encoded: Value(json: json))
        #expect(request.have == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(try request.batch?.delta.delta(on: [:], budget: .standard) == .diff([:], ["a": 1]))
    }

    @Test(arguments: [
        "{}", "[]", "[3, null]", "[3, -1, 0, '', null]",
        "[3, 1, 0, '01', null]",
        "[3, 1, 0, 5, null]", "[3, 1, 0, '', 1, null]", "[3, 1, 0, '', 0, '09090909', {}, null]",
        "[3, 1, 0, '', 1, '09', {}, null]", "[3, 1, 0, '', 1, '09090909', ['?'], null]",
        "[3, 1, 0, '', 1, '09090909', {}, 1, null]", "['3', 1, 0, '', null]",
        "[3, 1, 0, '', '00000000']",
    ])
    func `a malformed request is refused`(json: String) throws {
        let value = try Value(json: json.replacing("'", with: "\""))
        #expect(throws: ReplicationError.self) { try ExchangeRequest(encoded: value) }
    }

    @Test(arguments: [1, 2, 4, 1_000] as [Int64])
    func `a message of another version says which side to upgrade`(version: Int64) {
        let error =
            version < 3
            ? ReplicationError.senderIsOlder(version: version, known: 3)
            : ReplicationError.senderIsNewer(version: version, known: 3)
        // Of another version nothing is known but the list, its first field and its seal.
        let message = MessageFields.sealed([.int(version), ["x"], .null, "what came later"])
        #expect(throws: error) { try ExchangeRequest(encoded: message) }
        #expect(throws: error) { try ExchangeResponse(encoded: message) }
        #expect(error.code == (version < 3 ? "upgradeClient" : "upgradeServer"))
        #expect(error.description.contains("upgrade"))
    }

    @Test func `random bytes never crash the readers of messages`() {
        var random = Seeded(seed: 3)
        for _ in 0..<5_000 {
            let value = random.value(depth: 4)
            _ = try? ExchangeRequest(encoded: value)
            _ = try? ExchangeResponse(encoded: value)
            let list = Value.list([3, 1, 0, .bytes([]), 1, .bytes([1, 2, 3, 4]), value, .null])
            _ = try? ExchangeRequest(encoded: list)
        }
    }

    @Test(arguments: ["", ".", "..", "a/b", "a b", "é", String(repeating: "a", count: 129)])
    func `a name that no URL should carry is refused`(text: String) {
        #expect(throws: ReplicationError.invalidName(text)) { try ReplicaName(text) }
    }
}
