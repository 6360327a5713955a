import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitFaultRunner

/// The power goes at every write, sync, truncation and removal, and takes with it what it may.
@Suite struct PowerLossTests {
    private static let seeds = UInt64(5 * Soak.factor)
    /// How many cuts of a scenario are tried; `make soak` tries them all.
    private static let sampleSize = Soak.factor > 1 ? Int.max : 12

    /// Twelve transactions of two objects each; the log is emptied and the store reopened between.
    private static let dozen = Scenario(
        "dozen",
        .write(.fill(2)),
        .write(.fill(2, from: 2)),
        .write(.fill(2, from: 1)),
        .checkpoint,
        .write(.fill(2, from: 3)),
        .write(.set("n1", to: 0), .remove("n0")),
        .reopen,
        .write(.fill(2, from: 6)),
        .write(.fill(2, from: 8)),
        .checkpoint,
        .write(.fill(2, from: 1)),
        .write(.removeAll(), .fill(2)),
        .checkpoint,
        .reopen,
        .write(.fill(2, from: 10)),
        .write(.fill(2, from: 12)),
        .write(.increase("n12"))
    )

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `no committed transaction is lost or halved, wherever the power goes`() async throws {
        let tally = try await cutEverywhere(Self.dozen)
        #expect(tally.cuts > 60, "the scenario has this many moments")
        print("cut the power at \(tally.cuts) moments, \(tally.trials) damages: nothing lost")
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)), arguments: Scenario.all)
    func `no scenario loses anything to a power cut`(scenario: Scenario) async throws {
        let seed = Soak.seed
        var random = Seeded(seed: seed)
        let count = try await SimulatedRun(scenario).operationCount
        for cut in (1...count).shuffled(using: &random).prefix(Self.sampleSize) {
            let run = try await SimulatedRun(scenario, cutAt: cut)
            for _ in 0..<Soak.factor {
                let damage = random.next() % 10_000
                let broken = await run.broken(seed: damage)
                #expect(broken == [], "cut at \(cut), damage \(damage), seed \(seed)")
            }
        }
    }

    private func cutEverywhere(_ scenario: Scenario) async throws -> (cuts: Int, trials: Int) {
        let count = try await SimulatedRun(scenario).operationCount
        for cut in 1...count {
            let run = try await SimulatedRun(scenario, cutAt: cut)
            for seed in 0..<Self.seeds {
                let broken = await run.broken(seed: seed)
                #expect(broken == [], "cut at \(cut), seed \(seed)")
            }
        }
        return (count, count * Int(Self.seeds))
    }
}

/// A scenario on a simulated disk, until it ends or the power does.
private struct SimulatedRun {
    let operationCount: Int
    private let scenario: Scenario
    private let reports: [Report]
    private let folder: TemporaryFolder
    private let disk: SimulatedDisk

    init(_ scenario: Scenario, cutAt cut: Int = .max) async throws {
        self.scenario = scenario
        folder = try TemporaryFolder()
        disk = SimulatedDisk(folder: folder)
        disk.cutPower(at: cut)
        let reports = Mutex<[Report]>([])
        await Session(path: folder.path("store.sqlite")) { report in
            reports.withLock { $0.append(report) }
        }.run(scenario)
        operationCount = disk.operationCount
        self.reports = reports.withLock { $0 }
    }

    /// The promises that are broken when the power is back, with the damage that this seed does.
    func broken(seed: UInt64) async -> [String] {
        disk.restart(seed: seed)
        defer { disk.rewind() }
        let path = folder.path("store.sqlite")
        return await Aftermath(of: scenario, at: path, reports: reports).broken
    }
}

/// SQLite alone on the simulated disk: it must lose what it is known to lose, or the disk is too
/// kind to prove anything.
@Suite struct PowerLossControlTests {
    struct Loss {
        var acknowledged = 0
        var lost = 0
        var halved = 0
    }

    @Test func `a log that is not synced loses commits, but halves none`() async throws {
        let loss = try await cutEverywhere(synchronous: "NORMAL")
        #expect(loss.lost > loss.acknowledged / 100, "of \(loss.acknowledged)")
        #expect(loss.halved == 0)
        print("without syncs \(loss.lost) of \(loss.acknowledged) commits were lost")
    }

    @Test func `a log that is synced loses nothing`() async throws {
        let loss = try await cutEverywhere(synchronous: "FULL")
        #expect(loss.acknowledged > 1_000)
        #expect(loss.lost == 0)
        #expect(loss.halved == 0)
    }

    private func cutEverywhere(synchronous: String) async throws -> Loss {
        var loss = Loss()
        var cut = 1
        var wasCut = true
        while wasCut {
            let folder = try TemporaryFolder()
            let disk = SimulatedDisk(folder: folder)
            disk.cutPower(at: cut)
            let path = folder.path("raw.sqlite")
            let acknowledged = Self.write(to: path, synchronous: synchronous)
            wasCut = disk.isOff
            for seed in 0..<5 as Range<UInt64> {
                disk.restart(seed: seed)
                let found = try Self.read(path)
                loss.acknowledged += acknowledged.count
                loss.lost += acknowledged.subtracting(found.numbers).count
                loss.halved += found.numbers.symmetricDifference(found.twins).count
                disk.rewind()
            }
            cut += 1
        }
        return loss
    }

    /// Twelve transactions of two rows; answers with those that were committed.
    private static func write(to path: String, synchronous: String) -> Set<Int> {
        var acknowledged: Set<Int> = []
        guard let pool = try? DatabasePool(path: path) else { return [] }
        try? pool.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA synchronous = \(synchronous)")
            try $0.execute(
                sql: """
                    BEGIN; CREATE TABLE number (n INTEGER PRIMARY KEY);
                    CREATE TABLE twin (n INTEGER PRIMARY KEY); COMMIT
                    """
            )
        }
        for number in 1...12 {
            let isCommitted: Void? = try? pool.write {
                try $0.execute(sql: "INSERT INTO number VALUES (?)", arguments: [number])
                try $0.execute(sql: "INSERT INTO twin VALUES (?)", arguments: [number])
            }
            if isCommitted != nil { acknowledged.insert(number) }
            if number % 5 == 0 {
                _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            }
        }
        try? pool.close()
        return acknowledged
    }

    private static func read(_ path: String) throws -> (numbers: Set<Int>, twins: Set<Int>) {
        let pool = try DatabasePool(path: path)
        defer { try? pool.close() }
        return try pool.read { database in
            let integrity = try String.fetchAll(database, sql: "PRAGMA integrity_check")
            #expect(integrity == ["ok"])
            guard try database.tableExists("number") else { return ([], []) }
            return (
                try Int.fetchSet(database, sql: "SELECT n FROM number"),
                try Int.fetchSet(database, sql: "SELECT n FROM twin")
            )
        }
    }
}
