#if PostgreSQL
import GodwitStore
import GodwitTree
import Testing

@testable import GodwitPostgreSQL
@testable import GodwitReplication

let lists = StoreCollection<Value>("lists")
let cards = StoreCollection<Value>("cards")

extension ReplicaName {
    /// The replica of these tests.
    static let tested: ReplicaName = "tested"
}

/// A device that asks any of some servers.
struct TestDevice: Sendable {
    let replica: Replica

    init() async throws {
        replica = try await .open(
            .tested,
            server: "server",
            in: Store(.memory),
            collections: ["lists", "cards"]
        )
    }

    /// Exchanges messages with a server until the device has what the server has.
    func synchronize(with server: ReplicaServer) async throws {
        let replica = replica
        for _ in 0..<64 {
            let sent = try await replica.store.write { try replica.nextRequest(in: $0) }
            let bytes = try await server.answer(
                sent.message.frame.bytes(for: .own),
                from: sent.client,
                of: replica.name
            )
            let answer = try WireAnswer(WireFrame(bytes: bytes, budget: .standard))
            let isBehind = try await replica.store.write {
                try replica.receive(answer, to: sent, in: $0)
            }
            if !isBehind { return }
        }
        Issue.record("the device does not come to an end")
    }

    /// Adds one to the counter that all devices share, and a card of its own.
    func add(_ number: Int) async throws {
        try await replica.store.write { transaction in
            try transaction.edit("a", in: lists) { $0.count += 1 }
            try transaction.set(["id": .int(Int64(number))], for: "c\(number)", in: cards)
        }
    }

    func count() async throws -> Value? {
        try await replica.store.read { try $0.get("a", in: lists) }
    }

    func cardCount() async throws -> Int {
        try await replica.store.read { try $0.count(in: cards) }
    }

    func problems() async throws -> [String] {
        try await ReplicaAudit("tested", .device, in: replica.store).problems.map { "\($0)" }
    }
}

/// Devices that start with a counter of zero, on a line that a server has made.
func newDevices(_ count: Int, on server: ReplicaServer) async throws -> [TestDevice] {
    try await server.create(.tested)
    var devices: [TestDevice] = []
    for _ in 0..<count { devices.append(try await TestDevice()) }
    try await devices[0].replica.store.write { try $0.set(["count": 0], for: "a", in: lists) }
    for device in devices { try await device.synchronize(with: server) }
    return devices
}

/// Checks that every edit is there, and none twice.
func expect(_ editCount: Int, on devices: [TestDevice], through server: ReplicaServer) async throws
{
    // What one sends last, the others get in a second round.
    for _ in 0..<2 { for device in devices { try await device.synchronize(with: server) } }
    for device in devices {
        #expect(try await device.count() == ["count": .int(Int64(editCount))])
        #expect(try await device.cardCount() == editCount)
        #expect(try await device.problems() == [])
    }
}
#endif
