import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

private let cards = Store.Collection<Value>("cards")

/// Objects that a device gives back in pieces to a server on SQLite, which is stopped in between.
@Suite struct StagedRestorationTests {
    /// A server on a file, until it is stopped.
    private struct Service {
        let store: Store
        let storage: SQLiteLineStorage
        let server: ReplicaServer

        init(_ path: String) async throws {
            store = try Store(.file(path))
            storage = try await SQLiteLineStorage(store)
            server = ReplicaServer(storage)
        }

        func stagedCount() async throws -> Int {
            try await store.read { transaction in
                try ["godwit_line_staging", "godwit_line_staged"].reduce(0) { count, table in
                    let sql = "SELECT count(*) FROM \(table)"
                    return try count + (Int.fetchOne(transaction.database, sql: sql) ?? 0)
                }
            }
        }
    }

    private let folder: TemporaryFolder
    private var path: String { folder.path("server.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: 0..<UInt64(6))
    func `all of it arrives once the server was stopped, answers lost and the client forgotten`(
        seed: UInt64
    ) async throws {
        var random = Seeded(seed: seed)
        let replica = try await Replica.open(
            .simulated,
            server: "server",
            in: Store(.memory),
            collections: ["cards"]
        )
        var service = try await Service(path)
        try await service.server.create(.simulated)
        try await replica.set(1, in: ["old"])
        try await synchronize(replica, service)
        try await service.store.backup(to: folder.path("backup.sqlite"))
        try service.store.close()

        service = try await Service(path)
        try await replica.set(2, in: (0..<200).map { "c\($0)" })
        try await replica.store.write { _ = try $0.remove("old", in: cards) }
        try await synchronize(replica, service)
        let objects = try await service.storage.objects(of: .simulated)
        try service.store.close()
        // A log that is left would be replayed over the backup.
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        try FileManager.default.moveItem(atPath: folder.path("backup.sqlite"), toPath: path)

        service = try await Service(path)
        var (isBehind, stagedMax, forgottenCount) = (true, 0, 0)
        for _ in 0..<2_000 where isBehind {
            isBehind = try await step(replica, service, isLost: random.happens(0.1))
            stagedMax = max(stagedMax, try await service.stagedCount())
            if random.happens(0.1) {
                try service.store.close()
                service = try await Service(path)
            }
            guard stagedMax > 50, forgottenCount < 2, random.happens(0.2) else { continue }
            let client = try await replica.status().client
            _ = try await service.storage.forget(client, of: .simulated)
            #expect(try await service.stagedCount() == 0)
            forgottenCount += 1
        }
        #expect(stagedMax > 50 && forgottenCount > 0, "seed \(seed)")
        #expect(try await service.storage.objects(of: .simulated) == objects, "seed \(seed)")
        #expect(try await service.stagedCount() == 0, "seed \(seed)")
        try service.store.close()
    }

    private func synchronize(_ replica: Replica, _ service: Service) async throws {
        while try await step(replica, service, sizeMax: .max) {}
    }

    /// One request.
    ///
    /// - Returns: Whether something is left to ask.
    private func step(
        _ replica: Replica,
        _ service: Service,
        sizeMax: Int = 60,
        isLost: Bool = false
    ) async throws -> Bool {
        let sent = try await replica.store.write {
            try replica.nextRequest(sizeMax: sizeMax, in: $0)
        }
        let bytes = try await service.server.answer(
            sent.message.frame.bytes(for: .own),
            from: sent.client,
            of: replica.name
        )
        guard !isLost else { return true }
        let answer = try WireAnswer(WireFrame(bytes: bytes, budget: .standard))
        return try await replica.store.write { try replica.receive(answer, to: sent, in: $0) }
    }
}

extension Replica {
    fileprivate func set(_ value: Value, in keys: [String]) async throws {
        try await store.write { transaction in
            for key in keys { try transaction.set(value, for: key, in: cards) }
        }
    }
}
