import GodwitQueue
import GodwitStore
import GodwitTestKit
import Testing

/// What starts and ends of operations cost the disk, and what they survive.
@Suite struct DurabilityTests {
    private let folder: TemporaryFolder
    private let disk: SimulatedDisk

    init() throws {
        folder = try TemporaryFolder()
        disk = SimulatedDisk(folder: folder)
    }

    private func pipeline(_ name: String, _ durability: Durability, in cloud: HandCloud) -> Pipeline
    {
        var pipeline = cloud.pipeline(name, order: .flat)
        pipeline.durability = durability
        return pipeline
    }

    /// How many writes and syncs the disk takes until an operation is done.
    ///
    /// - Parameter name: The pipeline that the operation is of; both are in one queue.
    private func cost(ofOperationIn name: String, beside other: String? = nil) async throws -> Int {
        let bench = try Workbench(.file(folder.path("\(name)-\(other ?? "").sqlite")))
        let queue = try bench.queue([
            pipeline("relaxed", .relaxed, in: bench.cloud),
            pipeline("durable", .durable, in: bench.cloud),
        ])
        var cost = 0
        try await queue.running {
            // The first one writes besides which process runs the queue.
            for round in 0..<2 {
                let before = disk.operationCount
                let ids = try await bench.store.write { transaction in
                    try [name, other].compactMap(\.self).map { pipeline in
                        let upload = Upload(name: "\(pipeline) \(round)")
                        return try transaction.enqueue(upload, Placement(pipeline: pipeline))
                    }
                }
                for _ in ids { await bench.cloud.starts() }
                for name in [name, other].compactMap(\.self) {
                    bench.cloud.answer("\(name) \(round)")
                }
                for id in ids { _ = try await queue.fate(of: id) }
                cost = disk.operationCount - before
            }
        }
        try await bench.expectEmpty()
        return cost
    }

    @Test func `a relaxed pipeline spares the syncs of a start and of an end`() async throws {
        let durable = try await cost(ofOperationIn: "durable")
        let relaxed = try await cost(ofOperationIn: "relaxed")
        #expect(durable - relaxed == 2)
    }

    @Test func `after a power failure a relaxed operation is done, or waits to run again`()
        async throws
    {
        let path = folder.path("store.sqlite")
        var runsAgain = 0
        for seed in 0..<UInt64(16 * Soak.factor) {
            let bench = try Workbench(.file(path))
            let queue = try bench.queue([pipeline("relaxed", .relaxed, in: bench.cloud)])
            var id: OperationID?
            try await queue.running {
                id = try await bench.enqueue("a", placement: Placement(pipeline: "relaxed"))[0]
                await bench.cloud.starts()
                bench.cloud.answer("a")
                _ = try await queue.fate(of: id!)
                disk.cutPower(at: disk.operationCount + 1)
                await #expect(throws: (any Error).self) {
                    try await bench.store.write { try $0.enqueue(Upload(name: "lost")) }
                }
            }
            try? bench.store.close()
            disk.restart(seed: seed)
            let again = try Workbench(.file(path))
            let operations = try await again.store.read { try $0.operations() }
            #expect(operations.allSatisfy { $0.id == id }, "seed \(seed)")
            runsAgain += operations.count
            let rerun = try again.queue([pipeline("relaxed", .relaxed, in: again.cloud)])
            try await rerun.running {
                guard !operations.isEmpty else { return }
                await again.cloud.starts()
                again.cloud.answer("a")
                let fate = try await rerun.fate(of: id!)
                #expect(fate == .completed)
            }
            try await again.expectEmpty("seed \(seed)")
        }
        #expect(runsAgain > 0, "no power failure has taken the end of an operation")
    }
}
