import Foundation
import GRDB
import Godwit
import GodwitTestKit

/// What a large replica costs: its first push, its first download, its opening, and one edit in it.
///
/// Messages go through their bytes, in one process. The peer copies the same rows from one SQLite
/// database to another.
struct ReplicaBenchmark {
    let folder: TemporaryFolder
    let report: Report

    private let objects = Store.Collection<Message>("objects")
    private static let name = "large"
    private static let editCount = 300

    private var sizes: [Int] {
        let isLong = ProcessInfo.processInfo.environment["GODWIT_BENCH_MILLION"] != nil
        return [1_000, 10_000, 100_000] + (isLong ? [1_000_000] : [])
    }

    func run() async throws {
        for size in sizes { try await run(size) }
    }

    private func run(_ size: Int) async throws {
        report.title("replica: \(size) objects, in one process")
        let copy = try copyRows(size)
        let server = try Store(.file(folder.path("replica-server-\(size).sqlite")))
        let network = try await SimulatedNetwork(store: server)
        let name = try ReplicaName(Self.name)
        try await network.create(name)
        let sender = try await device("sender-\(size)", network, filledWith: size)
        let push = try await seconds { try await sender.connector.synchronize(name) }
        compare("first push, \(size) objects", push, copy)
        let receiver = try await device("receiver-\(size)", network)
        let download = try await seconds { try await receiver.connector.synchronize(name) }
        compare("first download, \(size) objects", download, copy)
        try await checkDownload(receiver, size)
        try await edit(sender, receiver, size)
        for device in [sender, receiver] { try device.store.close() }
        try await open(network, size)
        try server.close()
    }

    private func compare(_ name: String, _ ours: Double, _ peer: Double) {
        let target = Comparison.Target.atMost(2)
        report.add(.init(name: name, ours: ours, peer: peer, unit: "s", target: target))
    }

    // MARK: Devices

    private typealias Device = (store: Store, replica: Replica, connector: ReplicaConnector)

    private func device(
        _ name: String,
        _ network: SimulatedNetwork,
        filledWith size: Int = 0
    ) async throws -> Device {
        let (store, objects) = (try Store(.file(folder.path("\(name).sqlite"))), objects)
        for start in stride(from: 0, to: size, by: 1_000) {
            try await store.write { transaction in
                for number in start..<start + 1_000 {
                    try transaction.set(Message(number), for: Message.key(number), in: objects)
                }
            }
        }
        let connector = try ReplicaConnector(store, transport: network)
        let replica = try await connector.open(ReplicaName(Self.name), collections: ["objects"])
        return (store, replica, connector)
    }

    private func checkDownload(_ receiver: Device, _ size: Int) async throws {
        let count = try await receiver.store.read { [objects] in try $0.count(in: objects) }
        precondition(count == size, "All objects have arrived")
    }

    // MARK: Figures

    /// The seconds that it takes to read all rows of a database and insert them into another one.
    private func copyRows(_ size: Int) throws -> Double {
        let source = try DatabaseQueue(path: folder.path("rows-\(size).sqlite"))
        let target = try DatabaseQueue(path: folder.path("copy-\(size).sqlite"))
        let table = "CREATE TABLE object (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
        for database in [source, target] { try database.write { try $0.execute(sql: table) } }
        let insert = "INSERT INTO object (key, value) VALUES (?, ?)"
        try source.write { database in
            let statement = try database.makeStatement(sql: insert)
            for number in 0..<size {
                let value = try JSONEncoder().encode(Message(number))
                try statement.execute(arguments: [Message.key(number), value])
            }
        }
        let clock = ContinuousClock()
        let start = clock.now
        let rows = try source.read { database in
            try Row.fetchAll(database, sql: "SELECT key, value FROM object")
        }
        try target.write { database in
            let statement = try database.makeStatement(sql: insert)
            for row in rows {
                let (key, value): (String, Data) = (row[0], row[1])
                try statement.execute(arguments: [key, value])
            }
        }
        return (clock.now - start) / .seconds(1)
    }

    /// From `write` on one device until the other one has the edit.
    private func edit(_ sender: Device, _ receiver: Device, _ size: Int) async throws {
        var taken: [Double] = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in [sender, receiver] { group.addTask { try await device.connector.run() } }
            var changes = receiver.store.changes().makeAsyncIterator()
            for number in 0..<Self.editCount {
                let key = Message.key(number * 7_919 % size)
                let clock = ContinuousClock()
                let start = clock.now
                let before = try await receiver.store.read { [objects] in
                    try $0.get(key, in: objects)
                }
                try await sender.store.write { [objects] transaction in
                    try transaction.update(key, in: objects) { $0.isRead.toggle() }
                }
                while try await receiver.store.read({ [objects] in try $0.get(key, in: objects) })
                    == before
                { _ = await changes.next() }
                taken.append((clock.now - start) / .milliseconds(1))
            }
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
        report.add(
            .init(
                name: "an edit, p50, \(size) objects",
                ours: percentile(0.5, of: taken),
                peer: 2.5,
                unit: "ms",
                target: .below
            )
        )
    }

    private func open(_ network: SimulatedNetwork, _ size: Int) async throws {
        var taken: [Double] = []
        for _ in 0..<5 {
            var opened: Device?
            taken.append(
                try await seconds { opened = try await device("sender-\(size)", network) } * 1_000
            )
            try opened?.store.close()
        }
        report.add(
            .init(
                name: "opening, \(size) objects",
                ours: percentile(0.5, of: taken),
                peer: 100,
                unit: "ms",
                target: .below
            )
        )
    }
}
