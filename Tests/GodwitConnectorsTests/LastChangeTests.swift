import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Which device has changed an object last.
@Suite struct LastChangeTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

    private func place(_ number: Int) -> ObjectKey {
        ObjectKey(collection: "cards", key: Key("c\(number)"))
    }

    @Test func `a device learns which device has changed an object last, and when`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        let start = Date()
        try await phone.set(1, 1)
        try await phone.set(2, 1)
        try await phone.synchronize()
        try await tablet.synchronize()
        try await tablet.set(2, 2)
        try await tablet.set(3, 2)
        try await tablet.synchronize()
        try await phone.synchronize()
        try await phone.set(4, 1)
        let changes = try await phone.connector.lastChanges(
            of: Set((1...5).map(place)),
            in: name
        )
        let (first, second) = (
            try await phone.replica.status().client, try await tablet.replica.status().client
        )
        #expect(
            changes.mapValues(\.client) == [place(1): first, place(2): second, place(3): second]
        )
        #expect(changes.mapValues(\.serial) == [place(1): 1, place(2): 2, place(3): 2])
        for change in changes.values {
            #expect(change.date > start - 1 && change.date < Date() + 1)
        }
        _ = try await phone.store.write { try $0.remove("c1", in: CardServer.cards) }
        try await phone.synchronize()
        #expect(try await phone.connector.lastChanges(of: [place(1)], in: name).isEmpty)
    }

    @Test func `any number of objects can be asked for`() async throws {
        let phone = try await device()
        try await phone.store.write { transaction in
            for number in 0..<2_500 {
                try transaction.set(["id": 1], for: "c\(number)", in: CardServer.cards)
            }
        }
        try await phone.synchronize()
        let count = network.exchangeCount
        let keys = Set((0..<2_500).map(place))
        let changes = try await phone.connector.lastChanges(of: keys, in: name)
        #expect(Set(changes.keys) == keys)
        #expect(network.exchangeCount - count == 3)
        #expect(try await phone.connector.lastChanges(of: [], in: name).isEmpty)
    }

    @Test func `a replica that is not open is an error`() async throws {
        let phone = try await device()
        phone.connector.close(name)
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            try await phone.connector.lastChanges(of: [place(1)], in: name)
        }
    }
}
