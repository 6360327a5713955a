import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

private let cards = StoreCollection<Value>("cards")

/// In which order a device sends its changes.
@Suite struct SendingOrderTests {
    private let object = ObjectKey(collection: "cards", key: "a")

    @Test func `the record of a conflict goes before what it is about`() throws {
        let record = try #require(ConflictRecord.key(about: object))
        var slice = DeviceSlice(
            replica: DeviceReplica(),
            identity: DeviceIdentity(client: .number(1)),
            pending: [:],
            objects: [:]
        )
        for key in [object, record] {
            slice.pending[key] = PendingObject(base: nil, tail: .set(VersionedValue(["a": 1])))
        }
        var machine = DeviceMachine()
        machine.batchCountMax = 1
        _ = try machine.freeze(&slice, name: BatchName(1))
        #expect(slice.frozen.map(\.key) == [record])
        machine.batchCountMax = 2
        machine.postponed = [record]
        slice.replica.isFrozen = false
        _ = try machine.freeze(&slice, name: BatchName(2))
        #expect(Set(slice.frozen.map(\.key)) == [record, object])
    }

    @Test func `a device with many changes reads the records of conflicts first`() async throws {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line)
        let theirs = try await Pair(Store(.memory), line)
        for pair in [ours, theirs] { try await pair.synchronize() }
        try await ours.replica.store.write { try $0.set(["title": "Milk"], for: "a", in: cards) }
        try await ours.synchronize()
        let replica = theirs.replica
        let request = try await replica.store.write { try replica.nextRequest(in: $0) }
        let answer = try line.serve(request)
        // What the app does while the answer is on its way meets it on the device.
        _ = try await replica.store.write { transaction in
            try transaction.set(["title": "Wine"], for: "a", in: cards)
            for number in 0..<3 {
                try transaction.set(["n": .int(Int64(number))], for: "\(number)", in: cards)
            }
            return try replica.receive(answer, to: request, in: transaction)
        }
        let first = try await replica.store.read { transaction in
            try PendingTable.others(of: replica.number, countMax: 1, in: transaction.database)
        }
        let record = try #require(ConflictRecord.key(about: object))
        #expect(first.keys.contains(record))
    }
}
