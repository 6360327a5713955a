import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// The storages do what the model in memory does.
@Suite struct LineStorageTests {
    static let kinds = ["a bad network", "rejections", "clones", "restored devices"]

    @Test(arguments: kinds.indices, TestStorage.allCases)
    func `a storage reads and writes what the model does`(
        kind: Int,
        place: TestStorage
    ) async throws {
        let found = LineWorld.kinds.first { $0.name == Self.kinds[kind] }
        let faults = try #require(found).faults
        for seed in 0..<UInt64(place.worldCount * Soak.factor) {
            var world = LineWorld(seed: seed, devices: 3, faults: faults)
            world.run(steps: 120)
            let storage = try await place.nodes().node()
            try await storage.create(.simulated, epoch: Epoch(1))
            for (index, served) in world.journal.enumerated() {
                try await replay(served, in: storage, "seed \(seed), turn \(index)")
            }
            try await compareAll(world.server, storage, seed)
        }
    }

    private func replay(
        _ served: ServedTurn,
        in storage: any LineStorage,
        _ place: String
    ) async throws {
        guard let reads = served.turn.reads, let slice = served.turn.slice else { return }
        let found = try await storage.load(reads, of: .simulated)
        if served.isCurrent { #expect(found == slice, "\(place)") }
        guard let writes = served.turn.writes else { return }
        let isDone = try await storage.commit(writes, decidedOn: slice, of: .simulated)
        #expect(isDone == served.isDone, "\(place)")
    }

    /// Ranges of each state that is kept, and garbage.
    private func compareAll(
        _ model: LineModel,
        _ storage: any LineStorage,
        _ seed: UInt64
    ) async throws {
        #expect(try await storage.collectGarbage(of: .simulated, rowMax: 1), "seed \(seed)")
        for (serial, id) in model.states {
            let state = LineState(serial: serial, id: id)
            let objects = SortedObjects(try #require(try model.objects(in: state)))
            let parts = KeySpan.all.cut(before: objects.cuts(of: .all, into: 4))
            let ranges = parts.map { SpanSum($0, objects.sum(of: $0)) }
            for range in ranges + [SpanSum(.all, .empty)] {
                let answers = try await storage.answer(
                    RangeRequest(ranges: [range]),
                    with: state,
                    of: .simulated
                )
                #expect(answers == [RangeMachine.answer(range, objects)], "seed \(seed), \(serial)")
            }
        }
        let (keys, changes) = (Array(model.objects.keys), model.lastChanges)
        let found = try await storage.lastChanges(of: keys, in: .simulated)
        #expect(Set(found.keys) == Set(changes.keys), "seed \(seed)")
        for (key, change) in found {
            #expect(change.client == changes[key]?.client, "seed \(seed), \(key)")
            #expect(change.serial == changes[key]?.serial, "seed \(seed), \(key)")
        }
        let lost = LineState(serial: 999, id: .root)
        let none = RangeRequest(ranges: [])
        #expect(try await storage.answer(none, with: lost, of: .simulated) == nil)
    }

    @Test(arguments: TestStorage.allCases)
    func `a start notes where it found each line, in the place of one that found the same`(
        place: TestStorage
    ) async throws {
        let nodes = try await place.nodes()
        try await nodes.node().create(.simulated, epoch: Epoch(1))
        let reads = LineReads(client: .number(1), former: nil, base: 0, keys: [])
        var starts: Set<ServerStart> = []
        for count in 1...3 {
            let slice = try await nodes.node().load(reads, of: .simulated)
            let start = try #require(slice.head.start)
            #expect(slice.openings == [LineOpening(state: .root, start: start)])
            starts.insert(start)
            #expect(starts.count == count)
        }
    }

    /// The entries of a large state go in steps, and its row last.
    @Test(arguments: TestStorage.allCases)
    func `a state that is folded away in part is not kept`(place: TestStorage) async throws {
        let server = ReplicaServer(try await place.nodes().node())
        try await server.create(.simulated)
        var (sequence, nonce, states) = (Int64(0), Int64(0), [ClientID: Value]())
        func exchange(_ client: ClientID, _ keys: Range<Int>? = nil) async throws -> Value {
            nonce += 1
            var request: Value.Map = ["nonce": .int(nonce), "state": states[client] ?? .null]
            if let keys {
                sequence += 1
                let changes = keys.map { key -> Value in
                    [
                        "collection": "cards", "key": .string(Key("c\(key)")),
                        "value": .int(sequence),
                    ]
                }
                request["batch"] = [
                    "sequence": .int(sequence), "name": 1, "changes": .list(Value.List(changes)),
                ]
            }
            let json = Array(Value.map(request).jsonText().utf8)
            let answer = try await server.answer(json: json, from: client, of: .simulated)
            states[client] = answer["state"]
            return answer
        }
        let (writer, reader) = (ClientID.number(1), ClientID.number(2))
        _ = try await exchange(writer, 0..<1)
        _ = try await exchange(reader)
        let first = states[reader]
        for keys in [0..<300, 299..<300, 299..<300] {
            _ = try await exchange(writer, keys)
            _ = try await exchange(reader)
        }
        states[reader] = first
        #expect(try await exchange(reader)["status"] == "unknownState")
    }

    @Test(arguments: TestStorage.allCases)
    func `a line that is not there is an error`(place: TestStorage) async throws {
        let storage = try await place.nodes().node()
        let reads = LineReads(client: .number(1), former: nil, base: 0, keys: [])
        await #expect(throws: ReplicationError.unknownReplica("simulated")) {
            try await storage.load(reads, of: .simulated)
        }
    }

    @Test func `a change is read as it was stored`() throws {
        let deltas: [ObjectDelta] = [
            .removed, .set(VersionedValue(["a": 1], version: 1)),
            .set(VersionedValue(.null, version: 23)), .set(VersionedValue([1, 2], version: 24)),
            .set(VersionedValue("x", version: 256)), .set(VersionedValue("x", version: 65_536)),
            ObjectDelta(.apply(.map(["a": .remove])), version: 3),
        ]
        for delta in deltas { #expect(try ObjectDelta(storedBytes: delta.storedBytes) == delta) }
        for delta in deltas {
            for count in 0..<delta.storedBytes.count {
                #expect(throws: ReplicationError.self) {
                    try ObjectDelta(storedBytes: Array(delta.storedBytes.prefix(count)))
                }
            }
        }
    }
}
