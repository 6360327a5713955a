import Foundation
import GRDB
import GodwitConnectors
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitReplication
@testable import GodwitStore

/// Three devices and a server as real processes, killed at random moments again and again, behind a
/// proxy that damages, delays and cuts.
@Suite struct SyncKillTests {
    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `every edit is accounted for when devices and server are killed and restored`()
        async throws
    {
        // A thousand of devices and two hundred of the server where the soak has its usual length.
        let kills = Soak.factor == 1 ? 36 : 120 * Soak.factor
        let fleet = try await Fleet(seed: Soak.seed)
        await fleet.play(kills: kills / 4)
        try fleet.backUpServer()
        await fleet.play(kills: kills / 4)
        try await fleet.restoreServer()
        await fleet.play(kills: kills / 4)
        try await fleet.settle("after the server was restored")
        try await fleet.backUpDevice(0)
        await fleet.play(kills: kills / 8)
        try await fleet.restoreDevice(0)
        await fleet.play(kills: kills / 8)
        try await fleet.settle("after a device was restored")
        let counts = fleet.proxyCounts
        print(
            "killed devices \(fleet.killed.device) times, the server \(fleet.killed.server) times; "
                + "\(fleet.editCount) edits; \(counts.delayed) chunks delayed, \(counts.damaged) damaged, "
                + "\(counts.cut) cut"
        )
        #expect(fleet.killed.server >= kills / 12 && fleet.editCount > 5 * kills, fleet.name)
        #expect(counts.damaged > 0 && counts.cut > 0 && counts.delayed > 0, fleet.name)
    }
}

/// The devices with their server, and what became of each edit.
private final class Fleet {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let proxy: UnreliableProxy
    private let seed: UInt64
    private var random: Seeded
    private let ledger = Ledger()
    private var runs: [ProgramRun?] = [nil, nil, nil]
    private var lastLaunch = 0
    private(set) var killed = (device: 0, server: 0)
    private var deviceBackup: (index: Int, position: Int)?

    init(seed: UInt64) async throws {
        self.seed = seed
        random = Seeded(seed: seed)
        folder = try TemporaryFolder()
        server = try ServerProcess(store: folder.path("server.sqlite"))
        proxy = try UnreliableProxy(to: server.port, seed: random.next())
        try await HTTPTransport(server: server.url).create(ReplicaName("fleet"))
        _ = try await ended(0, "found")
        for index in runs.indices { _ = try await ended(index, "settle") }
    }

    deinit {
        proxy.close()
        server.kill()
    }

    var name: Comment { "seed \(seed)" }
    var editCount: Int { ledger.entries.count }
    var proxyCounts: (delayed: Int, damaged: Int, cut: Int) { proxy.counts }

    // MARK: Playing

    /// Lets devices edit, and kills them and the server after some edits each.
    func play(kills: Int) async {
        do {
            for index in runs.indices { try start(index) }
            for number in 0..<kills {
                let count = Int.random(in: 0...20, using: &random)
                let turns = Int.random(in: 0...400_000, using: &random)
                await ledger.arrivals.wait(for: count, spinning: turns)
                if number.isMultiple(of: 4) {
                    server.kill()
                    killed.server += 1
                    try server.restart()
                } else {
                    let index = Int.random(in: runs.indices, using: &random)
                    await killDevice(index)
                    try start(index)
                }
            }
            for index in runs.indices { await killDevice(index) }
        } catch {
            Issue.record("\(error), seed \(seed)")
        }
    }

    private func start(_ index: Int) throws {
        lastLaunch += 1
        runs[index] = try ProgramRun(
            "GodwitSyncRunner",
            [path(of: index), proxy.url, "\(lastLaunch)", "edit"],
            errors: path(of: index) + ".errors",
            whenEnded: { [ledger] in ledger.arrivals.end() },
            hear: { [ledger] line in ledger.note(line, by: index) }
        )
    }

    private func killDevice(_ index: Int) async {
        guard let run = runs[index] else { return }
        let status = await run.kill()
        killed.device += 1
        #expect(
            status == .uncaughtSignal,
            "device \(index) ended by itself: \(errors(of: index)), seed \(seed)"
        )
        runs[index] = nil
    }

    // MARK: Backups

    func backUpServer() throws {
        server.kill()
        try copy("server.sqlite", to: "server.backup")
        try server.restart()
    }

    /// What a device has not sent for all it knows, it sends again, though others have removed it since.
    func restoreServer() async throws {
        server.kill()
        for index in runs.indices { ledger.excuseReturn(of: try unsent(by: index)) }
        try copy("server.backup", to: "server.sqlite")
        try server.restart()
    }

    func backUpDevice(_ index: Int) async throws {
        try copy("device\(index).sqlite", to: "device.backup")
        deviceBackup = (index, ledger.entries.count)
    }

    /// A restored device has forgotten its edits since the backup; those that were sent are there.
    func restoreDevice(_ index: Int) async throws {
        try copy("device.backup", to: "device\(index).sqlite")
        if let deviceBackup { ledger.excuse(of: index, since: deviceBackup.position) }
    }

    /// Copies a store with the files beside it; no process has it open.
    private func copy(_ source: String, to target: String) throws {
        for suffix in ["", "-wal", "-shm"] {
            let (from, to) = (folder.path(source + suffix), folder.path(target + suffix))
            if FileManager.default.fileExists(atPath: to) {
                try FileManager.default.removeItem(atPath: to)
            }
            if FileManager.default.fileExists(atPath: from) {
                try FileManager.default.copyItem(atPath: from, toPath: to)
            }
        }
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
            let sent = base.flatMap(Ledger.numbers)
            return Set(own.flatMap(Ledger.numbers)).subtracting(sent)
        }
    }

    // MARK: The end

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

    /// Runs a device that ends by itself, and returns what it has.
    private func ended(_ index: Int, _ mode: String) async throws -> [String] {
        lastLaunch += 1
        let lines = Mutex<[String]>([])
        let run = try ProgramRun(
            "GodwitSyncRunner",
            [path(of: index), proxy.url, "\(lastLaunch)", mode],
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

/// What the devices have said of their edits.
private final class Ledger: Sendable {
    struct Entry {
        let device: Int
        let isCreation: Bool
        let number: Int64
        var isDone: Bool
    }

    private struct State {
        var entries: [Entry] = []
        /// Edits that may be gone, or there in spite of everything.
        var excused: Set<Int64> = []
        /// Numbers that may be there although they were removed.
        var returned: Set<Int64> = []
    }

    private let state = Mutex(State())
    let arrivals = Arrivals()

    var entries: [Entry] { state.withLock(\.entries) }

    func note(_ line: String, by device: Int) {
        let words = line.split(separator: " ")
        guard words.count == 3, let number = Int64(words[2]) else { return }
        let (isDone, isCreation) = (words[0] == "done", words[1] == "created")
        state.withLock { state in
            let open = state.entries.lastIndex {
                $0.number == number && $0.isCreation == isCreation && $0.device == device
            }
            if isDone, let open { return state.entries[open].isDone = true }
            state.entries.append(
                Entry(device: device, isCreation: isCreation, number: number, isDone: isDone)
            )
        }
        if isDone { arrivals.add() }
    }

    func excuse(of device: Int, since position: Int) {
        state.withLock { state in
            let own = state.entries[position...].filter { $0.device == device }
            state.excused.formUnion(own.map(\.number))
        }
    }

    func excuseReturn(of numbers: Set<Int64>) { state.withLock { $0.returned.formUnion(numbers) } }

    /// Looks for edits that are lost, doubled or undone.
    func check(_ report: [String], _ moment: String) throws {
        var present: [Int64] = []
        var recorded: Set<Int64> = []
        for line in report {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard let json = parts.last, parts.count > 1 else { continue }
            let numbers = Self.numbers(in: try Value(json: String(json)))
            if parts[0] == "object" { present += numbers } else { recorded.formUnion(numbers) }
        }
        let state = state.withLock(\.self)
        let (entries, excused) = (state.entries, state.excused)
        func numbers(_ isCreation: Bool, openToo: Bool) -> Set<Int64> {
            let found = entries.filter { $0.isCreation == isCreation && ($0.isDone || openToo) }
            return Set(found.map(\.number))
        }
        #expect(Set(present).count == present.count, "nothing is there twice \(moment)")
        let lost = numbers(true, openToo: false).subtracting(present).subtracting(recorded)
            .subtracting(numbers(false, openToo: true)).subtracting(excused)
        #expect(lost.isEmpty, "nothing is lost \(moment)")
        let back = numbers(false, openToo: false).intersection(present).subtracting(recorded)
            .subtracting(excused).subtracting(state.returned)
        #expect(back.isEmpty, "nothing comes back \(moment)")
        let madeUp = Set(present).subtracting(numbers(true, openToo: true))
        #expect(madeUp.isEmpty, "nothing is made up \(moment)")
    }

    static func numbers(in value: Value) -> [Int64] {
        let parts = (value["items"]?.list ?? value.list).map(Array.init) ?? [value]
        return parts.compactMap { $0["id"]?.integer ?? $0.integer }
    }
}
