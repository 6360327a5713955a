#if PostgreSQL
import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitTestKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Devices behind HAProxy and three servers on one PostgreSQL database, all of them real processes.
@Suite struct ClusterKillTests {
    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `every edit is accounted for when servers and their database are killed and restored`()
        async throws
    {
        // 300 kills of servers and 20 of the database where the soak has its usual length.
        let kills = Soak.factor == 1 ? 16 : 32 * Soak.factor
        let cluster = try await ServerCluster(
            deviceCount: Soak.factor == 1 ? 5 : 20,
            seed: Soak.seed
        )
        await cluster.play(kills: kills / 2)
        try await cluster.devices.settle("after kills")
        await cluster.play(kills: kills / 4, backingUp: true)
        try await cluster.restore()
        await cluster.play(kills: kills / 4)
        try await cluster.devices.settle("after the database was restored")
        let editCount = cluster.devices.ledger.entries.count
        print(
            "killed servers \(cluster.killed.server) times, the database \(cluster.killed.database) "
                + "times, devices \(cluster.devices.killCount) times; \(editCount) edits"
        )
        let counts = try await cluster.exchangeCounts()
        #expect(counts.count == 3 && counts.allSatisfy { $0 > 0 }, "\(counts), \(cluster.name)")
        #expect(cluster.killed.server >= kills * 3 / 4 && editCount > 5 * kills, cluster.name)
        #expect(cluster.killed.database >= kills / 16, cluster.name)
        // Between most kills, edits have reached the line.
        #expect(
            cluster.growthCount > kills / 2,
            "\(cluster.growthCount) of \(kills), \(cluster.name)"
        )
    }
}

/// The servers with their database, their balancer and their devices.
private final class ServerCluster {
    let devices: DeviceProcesses
    private let folder: TemporaryFolder
    private let database: PostgreSQLCluster
    private let servers: [ServerProcess]
    private let balancer: LoadBalancer
    private var random: Seeded
    private(set) var killed = (server: 0, database: 0)
    /// How many kills came when the head was another one than at the kill before.
    private(set) var growthCount = 0
    private var lastSerial = 0
    private let address: String

    init(deviceCount: Int, seed: UInt64) async throws {
        random = Seeded(seed: seed)
        let folder = try TemporaryFolder()
        let database = try await PostgreSQLCluster()
        let address = try await database.database()
        servers = try (1...3).map { number in
            try ServerProcess(
                ["--database", address],
                errors: folder.path("server\(number).errors")
            )
        }
        balancer = try await LoadBalancer(to: servers.map(\.port), in: folder)
        try await HTTPTransport(server: balancer.url).create(ReplicaName("fleet"))
        devices = try await DeviceProcesses(
            deviceCount,
            url: balancer.url,
            in: folder,
            seed: seed
        )
        (self.folder, self.database, self.address) = (folder, database, address)
    }

    var name: Comment { "seed \(devices.seed)" }

    /// Lets devices edit, and kills a server again and again meanwhile, and sometimes the database or a device.
    ///
    /// - Parameter backingUp: Whether the database is copied in the midst of it.
    func play(kills: Int, backingUp: Bool = false) async {
        do {
            try devices.startAll()
            for number in 0..<kills { try await kill(number, of: kills, backingUp) }
        } catch {
            Issue.record("\(error), seed \(devices.seed)")
        }
        await devices.killAll()
    }

    private func kill(_ number: Int, of count: Int, _ backsUp: Bool) async throws {
        await devices.edit(.random(in: 0...20, using: &random), using: &random)
        if backsUp, number == count / 4 { try await database.backUp() }
        let serial = try await serial()
        if serial != lastSerial { growthCount += 1 }
        lastSerial = serial
        for server in servers { #expect(server.isRunning, "\(server.errorText), \(name)") }
        let server = servers[Int.random(in: servers.indices, using: &random)]
        if number % 16 == 3 {
            try database.kill()
            killed.database += 1
            // A server ends while its database is down, too.
            if random.happens(0.5) { server.kill() }
            try await database.start()
            for other in servers where other !== server {
                #expect(other.isRunning, "\(other.errorText), \(name)")
            }
        }
        server.kill()
        killed.server += 1
        if number % 4 == 1 {
            let index = Int.random(in: devices.indices, using: &random)
            await devices.kill(index)
            try devices.start(index)
        }
        try server.restart()
    }

    /// Loses what servers have acknowledged since the backup; servers note it when they start.
    func restore() async throws {
        let serial = try await serial()
        for server in servers { server.kill() }
        try database.kill()
        try devices.excuseReturns()
        try await database.restore()
        let restored = try await self.serial()
        #expect(restored < serial, "\(restored) of \(serial) states, \(name)")
        for server in servers { try server.restart() }
    }

    /// The serial of the line's head.
    private func serial() async throws -> Int {
        Int(try await database.query("SELECT serial FROM godwit_line", in: address)) ?? 0
    }

    /// How many exchanges each server has answered since it was started.
    func exchangeCounts() async throws -> [Int] {
        var counts: [Int] = []
        for server in servers {
            let url = try #require(URL(string: server.url + "/metrics"))
            let text = String(
                decoding: try await URLSession.shared.data(from: url).0,
                as: UTF8.self
            )
            let lines = text.split(separator: "\n").filter {
                $0.hasPrefix("godwit_server_requests_total") && $0.contains(#"route="exchange""#)
                    && $0.contains(#"status="200""#)
            }
            let numbers = lines.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
            counts.append(Int(numbers.reduce(0, +)))
        }
        return counts
    }
}
#endif
