import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Messages as bytes: what every message of the worlds goes through.
@Suite struct WireTests {
    private static let board = ObjectKey(collection: "boards", key: "main")
    private static let client = ClientID.number(7)

    /// A small edit of an object, the 300th batch of a client.
    private static func edit() throws -> (frame: WireFrame, changeSize: Int) {
        var value: Value = ["columns": ["todo", "doing", "done"], "count": 4]
        let base = VersionedValue(value)
        let delta = ObjectDelta(.apply(try value.edit { $0.count += 1 }), version: 1)
        let batch = Batch(
            sequence: 300,
            name: BatchName(0x0102_0304),
            check: 0x0506_0708,
            changes: [board: delta]
        )
        let state = LineState(serial: 1_000, id: .root)
        let request = LineRequest(
            client: client,
            nonce: 700,
            slot: Slot(serial: 1_000, have: state.token(in: Epoch(5)), former: nil, batch: batch)
        )
        let packed = try PackedRequest(request) { _ in base }
        let changes = try PackedChanges([board: delta]) { _ throws(ReplicationError) in base }
        var writer = WireWriter()
        changes.write(to: &writer)
        return (WireRequest.exchange(packed).frame, writer.bytes.count)
    }

    @Test func `an edit is framed in at most 25 bytes`() throws {
        let (frame, changeSize) = try Self.edit()
        let bytes = frame.bytes(for: .own)
        #expect(bytes.count - changeSize <= 25)
        #expect(bytes.hex == Self.golden)
    }

    /// The message of ``edit()`` as version 3 has it.
    private static let golden =
        "0382bc05e807206d19caa5ac0201020304050607080106626f6172647301046d61696e0a05c3c801c20274398888"

    @Test func `a message of another version says which side to upgrade`() throws {
        let bytes = try Self.edit().frame.bytes(for: .own)
        for (version, error) in [
            (UInt8(2), ReplicationError.senderIsOlder(version: 2, known: 3)),
            (4, .senderIsNewer(version: 4, known: 3)),
        ] {
            let content = [version] + bytes[1..<(bytes.count - 4)]
            let digest = ContentDigest(of: [content], purpose: "godwit message 3")
            #expect(throws: error) {
                try WireFrame(bytes: content + digest.bytes.prefix(4), budget: .standard)
            }
        }
    }

    @Test func `damage of any byte is found`() throws {
        let bytes = try Self.edit().frame.bytes(for: .own)
        for place in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[place] ^= 1 << bit
                #expect(throws: ReplicationError.damagedMessage) {
                    try WireFrame(bytes: damaged, budget: .standard)
                }
            }
            #expect(throws: ReplicationError.damagedMessage) {
                try WireFrame(bytes: Array(bytes[..<place]), budget: .standard)
            }
        }
    }

    @Test func `a hostile body is refused, whatever it says`() throws {
        var random = Seeded(seed: 11)
        let sound = try Self.edit().frame.body
        var read = 0
        for number in 0..<20_000 * Soak.factor {
            var body = sound
            if number % 2 == 0 {
                body = (0..<Int.random(in: 0..<80, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            } else {
                for _ in 0..<Int.random(in: 1..<4, using: &random) {
                    let place = Int.random(in: body.indices, using: &random)
                    body[place] = UInt8.random(in: 0...255, using: &random)
                }
            }
            let frame = WireFrame(kind: UInt8.random(in: 0..<8, using: &random), body: body)
            do {
                let request = try WireRequest(frame, from: Self.client)
                #expect(request.frame.body == body, "a message has one form")
                read += 1
            } catch {}
            _ = try? WireAnswer(frame)
        }
        #expect(read > 0)
    }

    @Test func `many new objects are compressed together`() throws {
        var changes: [ObjectKey: ObjectDelta] = [:]
        for number in 0..<500 {
            let value: Value = [
                "title": .string(Key("Card number \(number)")), "done": false, "owner": "Ann",
            ]
            let key = ObjectKey(collection: "cards", key: Key("card-\(number)"))
            changes[key] = .set(VersionedValue(value))
        }
        let batch = Batch(sequence: 1, name: BatchName(1), check: 1, changes: changes)
        let slot = Slot(serial: 0, have: .none, former: nil, batch: batch)
        let request = LineRequest(client: Self.client, nonce: 1, slot: slot)
        let frame = WireRequest.exchange(try PackedRequest(request) { _ in nil }).frame
        let bytes = frame.bytes(for: .own)
        #expect(bytes.count < frame.body.count / 4)
        #expect(frame.bytes(for: []).count == frame.body.count + 6)
        let found = try WireRequest(WireFrame(bytes: bytes, budget: .standard), from: Self.client)
        guard case .exchange(let packed) = found else {
            Issue.record("it is another request")
            return
        }
        #expect(try packed.unpacked(for: Self.client) { _ in nil } == request)
        #expect(throws: ReplicationError.self) {
            try WireFrame(bytes: bytes, budget: ReadBudget(memoryMax: 1_000))
        }
    }

    @Test func `a question for last changes, and its answer, are read as they were sent`() throws {
        let keys = [Self.board, ObjectKey(collection: "cards", key: "é")]
        let asked = WireRequest.lastChanges(of: keys)
        #expect(try WireRequest(asked.frame, from: Self.client) == asked)
        let change = LastChange(
            client: Self.client,
            serial: 7,
            millisecondsSince1970: 1_796_100_000_123
        )
        let answer = WireAnswer.lastChanges([change, nil])
        #expect(try WireAnswer(answer.frame) == answer)
        let request = LastChangesRequest(of: keys)
        #expect(try request.changes(in: answer.frame.bytes(for: .own)) == [Self.board: change])
        for other in [WireAnswer.lastChanges([nil]), .comparison(nil)] {
            #expect(throws: ReplicationError.self) {
                try request.changes(in: other.frame.bytes(for: .own))
            }
        }
        let many = Array(repeating: Self.board, count: LastChangesRequest.countMax + 1)
        #expect(throws: ReplicationError.self) {
            try WireRequest(WireRequest.lastChanges(of: many).frame, from: Self.client)
        }
    }
}
