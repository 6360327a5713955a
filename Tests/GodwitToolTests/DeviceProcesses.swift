import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitReplication
@testable import GodwitStore

/// Devices as processes, which edit until they are killed, and what became of each edit.
final class DeviceProcesses {
    let ledger = EditLedger()
    let seed: UInt64
    /// Where the devices reach the server.
    private let url: String
    private let folder: TemporaryFolder
    private var runs: [ProgramRun?]
    private var lastLaunch = 0
    private(set) var killCount = 0

    /// - Parameter url: Where the devices reach a server that has the replica `fleet`.
    init(_ count: Int, url: String, in folder: TemporaryFolder, seed: UInt64) async throws {
        (self.url, self.folder, self.seed) = (url, folder, seed)
        runs = Array(repeating: nil, count: count)
        _ = try await ended(0, "found")
        for index in runs.indices { _ = try await ended(index, "settle") }
    }

    var indices: Range<Int> { runs.indices }

    func startAll() throws {
        for index in runs.indices { try start(index) }
    }

    func start(_ index: Int) throws {
        lastLaunch += 1
        runs[index] = try ProgramRun(
            "GodwitSyncRunner",
            [path(of: index), url, "\(lastLaunch)", "edit"],
            errors: path(of: index) + ".errors",
            whenEnded: { [ledger] in ledger.arrivals.end() },
            hear: { [ledger] line in ledger.note(line, by: index) }
        )
    }

    /// Waits for some edits, and a moment that no event marks.
    func edit(_ count: Int, using random: inout Seeded) async {
        let turns = Int.random(in: 0...400_000, using: &random)
        await ledger.arrivals.wait(for: count, spinning: turns)
    }

    func kill(_ index: Int) async {
        guard let run = runs[index] else { return }
        let status = await run.kill()
        killCount += 1
        #expect(
            status == .uncaughtSignal,
            "device \(index) ended by itself: \(errors(of: index)), seed \(seed)"
        )
        runs[index] = nil
    }

    func killAll() async {
        for index in runs.indices { await kill(index) }
    }

    /// Lets all devices come to rest, and accounts for every edit.
    func settle(_ moment: String) async throws {
        var reports: [[String]] = []
        for round in 0..<2 {
            reports = []
            for index in runs.indices {
                let report = try await ended(index, "settle")
                if round == 1 { reports.append(report) }
            }
        }
        for index in runs.indices.dropFirst() {
            #expect(
                reports[index] == reports[0],
                "device \(index) has what device 0 has \(moment), seed \(seed)"
            )
        }
        try ledger.check(reports[0], "\(moment), seed \(seed)")
    }

    /// Has the server lose what it has got since a backup of it; the devices must not run.
    ///
    /// What a device has not sent for all it knows, it sends again, though others have removed it since.
    func excuseReturns() throws {
        for index in runs.indices { ledger.excuseReturn(of: try unsent(by: index)) }
    }

    /// The numbers that a device has added to what it has adopted.
    private func unsent(by index: Int) throws -> Set<Int64> {
        let store = try Store(.file(path(of: index)))
        defer { try? store.close() }
        return try store.database.read { database in
            var (own, base): ([Value], [Value]) = ([], [])
            for (number, _) in try DeviceTable.names(in: database) {
                for (key, row) in try PendingTable.all(of: number, in: database) {
                    base += [row.base?.value].compactMap(\.self)
                    own += try [row.frozen.applied(to: row.base)?.value].compactMap(\.self)
                    let bytes = try Data.fetchOne(
                        database,
                        sql: "SELECT value FROM godwit_object WHERE collection = ? AND key = ?",
                        arguments: [key.collection.text, key.key.text]
                    )
                    own += try bytes.map { [try Value(canonicalBytes: Array($0))] } ?? []
                }
            }
            let sent = base.flatMap(EditLedger.numbers)
            return Set(own.flatMap(EditLedger.numbers)).subtracting(sent)
        }
    }

    /// Runs a device that ends by itself, and returns what it has.
    private func ended(_ index: Int, _ mode: String) async throws -> [String] {
        lastLaunch += 1
        let lines = Mutex<[String]>([])
        let run = try ProgramRun(
            "GodwitSyncRunner",
            [path(of: index), url, "\(lastLaunch)", mode],
            errors: path(of: index) + ".errors"
        ) { line in
            lines.withLock { $0.append(line) }
        }
        let isDone = await run.end() == "done"
        try #require(isDone, "device \(index) comes to rest: \(errors(of: index)), seed \(seed)")
        return lines.withLock(\.self).sorted()
    }

    private func path(of index: Int) -> String { folder.path("device\(index).sqlite") }

    private func errors(of index: Int) -> String {
        (try? String(contentsOfFile: path(of: index) + ".errors", encoding: .utf8)) ?? ""
    }
}
