import GodwitStore
import GodwitTree
import Testing

@testable import GodwitReplication

/// The two machines, message by message.
@Suite struct MachineTests {
    let name: ReplicaName
    var server: ServerMachine
    var phone: ClientMachine
    var tablet: ClientMachine

    init() throws {
        name = try ReplicaName("shopping")
        server = ServerMachine(name: name)
        phone = ClientMachine(name: name, client: .number(1))
        tablet = ClientMachine(name: name, client: .number(2))
    }

    @Test mutating func `an accepted batch is acknowledged without a delta`() throws {
        try phone.record(.diff([:], ["a": 1]))
        let request = try phone.makeRequest(nonce: 1)

        let response = try server.receive(request, from: phone.client)
        let change = try phone.receive(response, to: request)

        try #expect(response.delta.delta(on: [:], budget: .standard) == .keep)
        #expect(response.acknowledged == 1)
        #expect(change == .keep)
        #expect(!phone.isDirty)
        #expect(phone.base == server.history.head.id)
        #expect(server.history.stateCount == 1)
    }

    @Test mutating func `a batch that comes again is answered, not applied`() throws {
        try phone.record(.diff([:], ["list": [1]]))
        let request = try phone.makeRequest(nonce: 1)
        _ = try server.receive(request, from: phone.client)
        let again = try phone.makeRequest(nonce: 2)
        #expect(again.batch == request.batch, "a frozen batch keeps its words")

        let response = try server.receive(again, from: phone.client)
        _ = try phone.receive(response, to: again)

        #expect(server.history.headValue == ["list": [1]])
        #expect(phone.local == ["list": [1]])
        #expect(!phone.isDirty)
    }

    @Test mutating func `what devices add to a number adds up, in any order`() throws {
        try exchange(\.phone, ["votes": 5])
        try exchange(\.tablet, nil)
        let vote = Delta.map(["votes": .apply(.adding(1))])
        try phone.record(vote)
        try tablet.record(vote)
        try exchange(\.phone, nil)
        try tablet.record(vote)
        try exchange(\.tablet, nil)
        try phone.record(vote)
        try exchange(\.phone, nil)
        try exchange(\.tablet, nil)

        #expect(server.history.headValue == ["votes": 9])
        #expect(phone.local == ["votes": 9] && tablet.local == ["votes": 9])
        #expect(!phone.isDirty && !tablet.isDirty)
    }

    @Test mutating func `what others changed is merged under what is local`() throws {
        try exchange(\.phone, ["list": ["bread"]])
        try exchange(\.tablet, nil)
        try exchange(\.phone, ["list": ["bread", "wine"]])
        try tablet.record(.diff(tablet.local, ["list": ["milk", "bread"]]))
        let request = try tablet.makeRequest(nonce: 9)
        try tablet.record(.diff(tablet.local, ["list": ["milk", "bread", "eggs"]]))

        _ = try tablet.receive(server.receive(request, from: tablet.client), to: request)

        #expect(server.history.headValue == ["list": ["milk", "bread", "wine"]])
        #expect(tablet.local == ["list": ["milk", "bread", "wine", "eggs"]])
        #expect(tablet.isDirty, "the eggs are still to be sent")
        try exchange(\.tablet, nil)
        try exchange(\.phone, nil)
        #expect(phone.local == tablet.local)
        #expect(phone.base == tablet.base)
    }

    @Test mutating func `a server that forgot a client's base gets its changes all the same`()
        throws
    {
        try exchange(\.phone, ["list": ["bread", "milk"]])
        try exchange(\.tablet, nil)
        try exchange(\.phone, ["list": ["bread", "milk", "wine"]])
        try exchange(\.phone, nil)
        forget(tablet.client)
        try tablet.record(.diff(tablet.local, ["list": ["milk"]]))
        let request = try tablet.makeRequest(nonce: 50)

        let response = try server.receive(request, from: tablet.client)
        #expect(response.origin == .root)
        _ = try tablet.receive(response, to: request)
        #expect(tablet.local == ["list": ["milk", "wine"]], "the removal stays a removal")
        try exchange(\.tablet, nil)
        #expect(server.history.headValue == ["list": ["milk", "wine"]])
    }

    @Test mutating func `a server restored from before loses nothing that a client has`() throws {
        try exchange(\.phone, ["a": 1, "list": [1]])
        let backup = server
        try exchange(\.phone, ["a": 1, "b": 2, "list": [1, 2]])
        server = backup

        try exchange(\.phone, nil)
        try exchange(\.phone, nil)

        #expect(server.history.headValue == ["a": 1, "b": 2, "list": [1, 2]])
        #expect(phone.local == server.history.headValue)
        #expect(phone.base == server.history.head.id)
    }

    @Test mutating func `a delta for another base changes nothing on the server`() throws {
        try exchange(\.phone, ["list": [1, 2, 3]])
        let before = server.history.head.id
        let batch = ExchangeRequest.Batch(
            sequence: 2,
            check: [UInt8](repeating: 0, count: 4),
            delta: ExchangeDelta(.diff(["list": ["a", "b", "c", "d"]], ["list": ["d", "c"]]))
        )
        let request = ExchangeRequest(nonce: 2, have: phone.base.abbreviation, batch: batch)

        #expect(throws: ReplicationError.self) { try server.receive(request, from: phone.client) }
        #expect(server.history.head.id == before)
        #expect(server.peers[phone.client]?.sequence == 1)
        #expect(server.peers[phone.client]?.nonce == 1)
    }

    @Test mutating func `a delta that leads elsewhere than announced changes nothing`() throws {
        try phone.record(.diff([:], ["a": 1]))
        let honest = try phone.makeRequest(nonce: 1)
        let batch = try #require(honest.batch)
        let lie = ExchangeRequest(
            nonce: 1,
            have: honest.have,
            batch: .init(
                sequence: 1,
                check: batch.check,
                delta: ExchangeDelta(.diff([:], ["a": 2]))
            )
        )
        #expect(throws: ReplicationError.wrongContent) {
            try server.receive(lie, from: phone.client)
        }
        #expect(server.history.stateCount == 0)

        let response = try server.receive(honest, from: phone.client)
        let damaged = ExchangeResponse(
            acknowledged: 1,
            head: response.head,
            origin: .target,
            delta: ExchangeDelta(.diff([:], ["b": 1]))
        )
        #expect(throws: ReplicationError.wrongContent) {
            try phone.receive(damaged, to: honest)
        }
        #expect(phone.isDirty && phone.local == ["a": 1])
        phone.askForAll()
        try exchange(\.phone, nil)
        #expect(!phone.isDirty && phone.local == ["a": 1])
    }

    @Test mutating func `a batch that comes late, after its client took it back, is not applied`()
        throws
    {
        try phone.record(.diff([:], ["a": 1]))
        let late = try phone.makeRequest(nonce: 1)
        phone.askForAll()
        let ask = try phone.makeRequest(nonce: 2)
        _ = try phone.receive(server.receive(ask, from: phone.client), to: ask)
        try phone.record(.diff(phone.local, ["a": 1, "b": 2]))

        _ = try server.receive(late, from: phone.client)
        try exchange(\.phone, nil)

        #expect(server.history.headValue == ["a": 1, "b": 2])
        #expect(phone.local == ["a": 1, "b": 2])
        #expect(!phone.isDirty)
    }

    @Test mutating func `folding keeps ids, values and the number of states small`() throws {
        for number in 0..<100 {
            try exchange(\.phone, ["n": .int(Int64(number))])
            if number.isMultiple(of: 10) { try exchange(\.tablet, nil) }
            #expect(server.history.stateCount <= 5)
            let parts = server.history.states.flatMap(\.parts).count
            #expect(parts <= 40, "parts are composed")
        }
        #expect(server.history.headValue == ["n": 99])
    }

    private mutating func exchange(
        _ client: WritableKeyPath<MachineTests, ClientMachine>,
        _ value: Value?
    ) throws {
        if let value { try self[keyPath: client].record(.diff(self[keyPath: client].local, value)) }
        let nonce = (server.peers[self[keyPath: client].client]?.nonce ?? 0) + 1
        let request = try self[keyPath: client].makeRequest(nonce: nonce)
        let wire = try ExchangeRequest(encoded: request.encoded)
        let response = try server.receive(wire, from: self[keyPath: client].client)
        _ = try self[keyPath: client].receive(response, to: request)
    }

    /// The server drops a client's refs, as if it had been away for years.
    private mutating func forget(_ client: ClientID) {
        var peers = server.peers
        let sequence = peers[client]?.sequence ?? 0
        peers[client] = ServerMachine.Peer()
        peers[client]?.sequence = sequence
        var history = server.history
        let kept = Set(peers.values.flatMap { [$0.acked, $0.sent].compactMap { $0 } })
        try? history.fold(keeping: kept)
        server = ServerMachine(name: name, history: history, peers: peers)
    }
}
