import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Small messages that stand for very much, and how a server reads them.
@Suite struct MessageBudgetTests {
    private static let client = ClientID.number(7)
    private let name: ReplicaName

    init() throws { name = ReplicaName("shared") }

    /// A request of the kind whose body `write` writes, as any client may send it.
    private static func message(_ kind: UInt8, _ write: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        write(&writer)
        return WireFrame(kind: kind, body: writer.bytes, readCost: 0).bytes(for: .own)
    }

    /// The head of an exchange with a first batch.
    private static func writeBatchHead(to writer: inout WireWriter) {
        writer.number(1)
        writer.number(0)
        writer.fixed(StateToken.none.bytes)
        writer.number(1)
        writer.fixed(UInt32(1))
        writer.fixed(UInt32(1))
        writer.count(1)
        writer.text("c")
    }

    /// A delta that sets four megabytes of text, in some hundred bytes.
    private static func unfolding() throws -> [UInt8] {
        let text = String(repeating: "a", count: 4_000_000)
        let bytes = try Delta.set(.string(Key(text))).packed(on: .null)
        try #require(bytes.count < 1_000)
        return bytes
    }

    private static let bombs: [(String, @Sendable () throws -> [UInt8])] = [
        (
            "many changes that unfold",
            { () throws in
                let change = try unfolding()
                return message(2) { writer in
                    writeBatchHead(to: &writer)
                    writer.count(200)
                    for number in 0..<200 {
                        writer.text(Key("\(number)"))
                        writer.number(1 | 1 << 3)
                        writer.block(change)
                    }
                }
            }
        ),
        (
            "very many keys",
            { () throws in
                message(2) { writer in
                    writeBatchHead(to: &writer)
                    writer.count(1_000_000)
                    for number in 0..<1_000_000 {
                        writer.text(Key("\(number)"))
                        writer.number(0)
                    }
                }
            }
        ),
        (
            "objects of small items",
            { () throws in
                let items = Value.list(Value.List(repeatElement(.int(1), count: 200_000)))
                return message(6) { writer in
                    writer.number(1)
                    writer.epoch(Epoch(1))
                    writer.number(0)
                    writer.count(0)
                    writer.number(0)
                    writer.byte(1)
                    writer.count(20)
                    for number in 0..<20 {
                        writer.key(ObjectKey(collection: "c", key: Key("\(number)")))
                        writer.optional(items) { $0.object(VersionedValue($1)) }
                    }
                }
            }
        ),
    ]

    @Test(arguments: bombs.indices)
    func `a small message that stands for very much is refused`(number: Int) async throws {
        let (title, make) = Self.bombs[number]
        let message = try make()
        let server = try await ReplicaServer(Store(.memory))
        try await server.create(name)
        do {
            _ = try await server.answer(message, from: Self.client, of: name)
            Issue.record("\(title), \(message.count) bytes, is answered")
        } catch ReplicationError.overBudget {
            // As it should be.
        }
        let head = try await server.head(of: name)
        #expect(head == .root)
    }

    @Test func `a large list of equal items reaches the server all the same`() async throws {
        let server = try await ReplicaServer(Store(.memory))
        try await server.create(name)
        let store = try Store(.memory)
        let zeros = Store.Collection<[Int]>("zeros")
        let replica = try await Replica.open(name, in: store, collections: ["zeros"])
        for count in [1_000_000, 1_000] {
            try await store.write {
                try $0.set([Int](repeating: 0, count: count), for: "a", in: zeros)
            }
            for _ in 0..<4 {
                let request = try await store.write { try replica.nextRequest(in: $0) }
                let answer = try await server.answer(
                    request.bytes,
                    from: request.client,
                    of: name
                )
                let goesOn = try await store.write {
                    try replica.receive(answer, to: request, in: $0)
                }
                if !goesOn { break }
            }
            let value = try await server.value(of: name)
            #expect(value["zeros"]?["a"]?.list?.count == count)
        }
        replica.close()
        try store.close()
    }
}
