import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitTestKit
import Testing

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
        try await fleet.devices.settle("after the server was restored")
        try await fleet.backUpDevice(0)
        await fleet.play(kills: kills / 8)
        try await fleet.restoreDevice(0)
        await fleet.play(kills: kills / 8)
        try await fleet.devices.settle("after a device was restored")
        let counts = fleet.proxyCounts
        let editCount = fleet.devices.ledger.entries.count
        print(
            "killed devices \(fleet.devices.killCount) times, the server \(fleet.serverKillCount) times; "
                + "\(editCount) edits; \(counts.delayed) chunks delayed, \(counts.damaged) damaged, "
                + "\(counts.cut) cut"
        )
        #expect(fleet.serverKillCount >= kills / 12 && editCount > 5 * kills, fleet.name)
        #expect(counts.damaged > 0 && counts.cut > 0 && counts.delayed > 0, fleet.name)
    }
}

/// The devices with their server.
private final class Fleet {
    let devices: DeviceProcesses
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let proxy: UnreliableProxy
    private var random: Seeded
    private(set) var serverKillCount = 0
    private var deviceBackup: (index: Int, position: Int)?

    init(seed: UInt64) async throws {
        random = Seeded(seed: seed)
        folder = try TemporaryFolder()
        server = try ServerProcess(store: folder.path("server.sqlite"))
        proxy = try UnreliableProxy(to: server.port, seed: random.next())
        try await HTTPTransport(server: server.url).create(ReplicaName("fleet"))
        devices = try await DeviceProcesses(3, url: proxy.url, in: folder, seed: seed)
    }

    deinit {
        proxy.close()
        server.kill()
    }

    var name: Comment { "seed \(devices.seed)" }
    var proxyCounts: (delayed: Int, damaged: Int, cut: Int) { proxy.counts }

    /// Lets devices edit, and kills them and the server after some edits each.
    func play(kills: Int) async {
        do {
            try devices.startAll()
            for number in 0..<kills {
                await devices.edit(.random(in: 0...20, using: &random), using: &random)
                if number.isMultiple(of: 4) {
                    #expect(server.isRunning, "\(server.errorText), seed \(devices.seed)")
                    server.kill()
                    serverKillCount += 1
                    try server.restart()
                } else {
                    let index = Int.random(in: devices.indices, using: &random)
                    await devices.kill(index)
                    try devices.start(index)
                }
            }
        } catch {
            Issue.record("\(error), seed \(devices.seed)")
        }
        await devices.killAll()
    }

    // MARK: Backups

    func backUpServer() throws {
        server.kill()
        try copy("server.sqlite", to: "server.backup")
        try server.restart()
    }

    func restoreServer() async throws {
        server.kill()
        try devices.excuseReturns()
        try copy("server.backup", to: "server.sqlite")
        try server.restart()
    }

    func backUpDevice(_ index: Int) async throws {
        try copy("device\(index).sqlite", to: "device.backup")
        deviceBackup = (index, devices.ledger.entries.count)
    }

    /// A restored device has forgotten its edits since the backup; those that were sent are there.
    func restoreDevice(_ index: Int) async throws {
        try copy("device.backup", to: "device\(index).sqlite")
        if let deviceBackup {
            devices.ledger.excuse(of: index, since: deviceBackup.position)
        }
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
}
