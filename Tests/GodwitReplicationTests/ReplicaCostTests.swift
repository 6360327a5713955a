import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

private let cards = StoreCollection<Value>("cards")

/// What an edit costs does not grow with the replica, in exact counts.
@Suite struct ReplicaCostTests {
    /// SQLite's steps on each side, and the bytes of the messages.
    private struct Cost {
        var sender = 0
        var server = 0
        var receiver = 0
        var bytes = 0

        /// A serial takes more bytes the larger it is.
        func isSame(as other: Cost) -> Bool {
            sender == other.sender && server == other.server && receiver == other.receiver
                && abs(bytes - other.bytes) <= 16
        }

        /// What most edits cost: now and then one comes together with a checkpoint, or with what a store
        /// does once in a hundred commits.
        static func median(_ costs: [Cost]) -> Cost {
            func median(_ count: KeyPath<Cost, Int>) -> Int {
                costs.map { $0[keyPath: count] }.sorted()[costs.count / 2]
            }
            return Cost(
                sender: median(\.sender),
                server: median(\.server),
                receiver: median(\.receiver),
                bytes: median(\.bytes)
            )
        }
    }

    private struct Device {
        let folder: TemporaryFolder
        let steps: StepCounter
        let replica: Replica

        init() async throws {
            folder = try TemporaryFolder()
            steps = StepCounter(folder: folder.url.path)
            let store = try Store(.file(folder.path("store.sqlite")))
            replica = try await .open(.simulated, in: store, collections: ["cards"])
        }
    }

    private struct World {
        let folder: TemporaryFolder
        let storage: SQLiteLineStorage
        let server: ReplicaServer
        let steps: StepCounter

        init() async throws {
            folder = try TemporaryFolder()
            steps = StepCounter(folder: folder.url.path)
            storage = try await SQLiteLineStorage(Store(.file(folder.path("server.sqlite"))))
            server = ReplicaServer(storage)
            try await server.create(.simulated)
        }

        /// Exchanges until nothing is left to send.
        func synchronize(_ replica: Replica) async throws -> Cost {
            var cost = Cost()
            var isBehind = true
            while isBehind {
                let request = try await replica.store.write { try replica.nextRequest(in: $0) }
                let before = steps.count
                let (message, client) = (request.bytes, request.client)
                let answer = try await server.answer(message, from: client, of: replica.name)
                cost.server += steps.count - before
                cost.bytes += message.count + answer.count
                isBehind = try await replica.store.write {
                    try replica.receive(answer, to: request, in: $0)
                }
            }
            return cost
        }
    }

    /// The cost of an edit in a replica of some objects, after some edits, with some other devices.
    ///
    /// - Parameter isCollected: Whether nothing is left of the states that no device has any more.
    private func cost(
        ofEditIn objectCount: Int,
        after editCount: Int = 4,
        beside clientCount: Int = 0,
        isCollected: Bool = true
    ) async throws -> Cost {
        let world = try await World()
        let (sender, receiver) = (try await Device(), try await Device())
        for _ in 0..<clientCount {
            let silent = try await Device()
            _ = try await world.synchronize(silent.replica)
            try silent.replica.store.close()
        }
        try await sender.replica.store.write { transaction in
            for number in 0..<objectCount {
                try transaction.set(["n": .int(Self.start)], for: Self.key(number), in: cards)
            }
        }
        _ = try await world.synchronize(sender.replica)
        _ = try await world.synchronize(receiver.replica)
        var costs: [Cost] = []
        let last = editCount + 4
        for number in 0...last {
            // The first edit tells the server that its sender has the state of the push.
            while isCollected, number == 1,
                try await !world.storage.collectGarbage(of: .simulated, rowMax: 4_096)
            {}
            let before = (sender: sender.steps.count, receiver: receiver.steps.count)
            try await sender.replica.store.write { transaction in
                try transaction.edit(Self.key(7), in: cards) { $0.n += 1 }
            }
            var cost = try await world.synchronize(sender.replica)
            let arrival = try await world.synchronize(receiver.replica)
            cost.sender = sender.steps.count - before.sender
            cost.receiver = receiver.steps.count - before.receiver
            cost.server += arrival.server
            cost.bytes += arrival.bytes
            if number >= editCount { costs.append(cost) }
        }
        let found = try await receiver.replica.store.read { try $0.get(Self.key(7), in: cards) }
        #expect(found == ["n": .int(Self.start + Int64(last) + 1)])
        return Cost.median(costs)
    }

    /// As many bytes as any number here.
    private static let start: Int64 = 1_000_000

    private static func key(_ number: Int) -> String { "card-\(100_000 + number)" }

    @Test func `an edit costs as much in a hundred objects as in ten thousand`() async throws {
        let (few, many) = (try await cost(ofEditIn: 100), try await cost(ofEditIn: 10_000))
        #expect(few.sender > 0 && few.server > 0 && few.receiver > 0)
        #expect(many.isSame(as: few), "\(few), \(many)")
    }

    /// A first push leaves an entry for each object, which the commits that follow remove.
    @Test func `an edit after a large push looks at a bounded number of its entries`() async throws
    {
        let few = try await cost(ofEditIn: 100)
        let many = try await cost(ofEditIn: 10_000, isCollected: false)
        let stepsMax = 100 * (SQLiteLineStorage.foldedMax + 2)
        #expect(many.server > few.server && many.server <= few.server + stepsMax, "\(few), \(many)")
    }

    @Test func `an edit costs as much after four edits as after four hundred`() async throws {
        let (few, many) = (
            try await cost(ofEditIn: 100), try await cost(ofEditIn: 100, after: 400)
        )
        #expect(many.isSame(as: few), "\(few), \(many)")
    }

    @Test func `an edit costs as much beside thirty silent devices as beside one`() async throws {
        let (few, many) = (
            try await cost(ofEditIn: 100, beside: 1), try await cost(ofEditIn: 100, beside: 30)
        )
        #expect(many.isSame(as: few), "\(few), \(many)")
    }

    @Test func `an exchange does not count as the app's own use of the connection`() async throws {
        let (world, device) = (try await World(), try await Device())
        let store = device.replica.store
        for number in 0..<3 {
            try await store.write { try $0.set(.int(Int64(number)), for: "a", in: cards) }
            _ = try await world.synchronize(device.replica)
        }
        // Such a use costs a table, a count of each change, and statements that are prepared anew.
        let tables = try await store.write { transaction in
            try String.fetchAll(transaction.connection, sql: "SELECT name FROM sqlite_temp_master")
        }
        #expect(tables == [])
        try store.close()
    }
}
