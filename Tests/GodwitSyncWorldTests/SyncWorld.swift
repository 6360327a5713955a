import Foundation
import GodwitTestKit
import GodwitTree

@testable import GodwitReplication
@testable import GodwitStore

/// Devices and a server on simulated disks, with a bad network between them, from one seed.
///
/// All that ships runs: stores, queues, connectors and replicas on the devices, the server with its
/// tables. Only disks, clock, threads and network are simulated. Processes are killed between any two
/// jobs and in any call to the disk, disks fail and lose their power, devices are cloned and
/// restored, and so is the server. Every edit has a number of its own, so that one that is lost, made
/// twice or undone cannot hide.
///
/// Unchecked, because all of it runs on the thread that steps the scheduler, or on a thread of
/// GRDB's that this one waits for.
final class SyncWorld: @unchecked Sendable {
    static let collections: Set<Key> = ["lists", "cards", "notes", "shapes"]

    let seed: UInt64
    let faults: Faults
    var random: Seeded
    let clock = ManualClock()
    let scheduler: SimulatedScheduler
    var books = EditBooks()
    let host: Host
    var devices: [Device] = []
    /// Whether the network loses, doubles and delays messages.
    var isNetworkBad = false
    var isHealed = false
    /// Whether the server takes any number of bytes by now.
    var hasRoom = false
    /// How many requests have reached the server since everything was healed.
    var healedRequestCount = 0
    /// How many devices were cloned or restored.
    var copyCount = 0
    var serverRestoreCount = 0
    /// Counts the server's restorations: messages do not outlive one.
    var networkAge = 0
    /// Ends the tasks that bring copies of requests.
    var copies: [@Sendable () -> Void] = []
    private var lastProcess = 0
    private(set) var violation: String?
    /// The events of this world, for the search of a bug.
    private(set) var trace: [String] = []
    /// Whether events are printed as they happen.
    let isTraced: Bool
    /// Whether messages take seconds, so that devices ask for small answers.
    var isSlow: Bool { seed.isMultiple(of: 10) }

    init(seed: UInt64, isTraced: Bool = false) throws {
        self.seed = seed
        self.isTraced = isTraced
        random = Seeded(seed: seed)
        faults = Faults.kinds[Int(seed % UInt64(Faults.kinds.count))]
        scheduler = SimulatedScheduler(seed: random.next())
        host = Host(try Machine(), isShared: random.happens(0.25))
        for index in 0..<Int.random(in: 1...3, using: &random) {
            devices.append(Device(index, try Machine(), isShared: random.happens(0.25)))
        }
    }

    func violate(_ text: String) {
        note("VIOLATION: \(text)")
        violation = violation ?? text
    }

    func note(_ text: @autoclosure () -> String) {
        let line = "\(clock.now.sinceStart): \(text())"
        trace.append(line)
        if isTraced { print(line) }
    }

    func newProcess() -> Int {
        lastProcess += 1
        return lastProcess
    }
}

/// What may go wrong in a world, besides kills and a bad network.
struct Faults {
    let name: String
    var disks = true
    var clones = false
    var deviceRestores = false
    /// How often the server may be restored.
    var serverRestores = 0
    var rejections = false
    /// Whether the server has little room until everything is healed.
    var isFull = false

    static let kinds = [
        Faults(name: "kills"),
        Faults(name: "rejections", rejections: true),
        Faults(name: "a full replica", isFull: true),
        Faults(name: "clones", clones: true),
        Faults(name: "restored devices", deviceRestores: true),
        Faults(name: "a restored server", serverRestores: 1),
        Faults(name: "a quiet disk", disks: false),
        Faults(
            name: "all",
            clones: true,
            deviceRestores: true,
            serverRestores: 2,
            rejections: true
        ),
    ]
}

// MARK: - Running

extension SyncWorld {
    /// - Returns: The first promise that was broken; nil when all were kept.
    func run() -> String? {
        defer { end() }
        for _ in 0..<(host.isShared ? 2 : 1) { open(host) }
        for device in devices { open(device) }
        found()
        isNetworkBad = true
        for _ in 0..<Int.random(in: 10...40, using: &random) where violation == nil {
            takeStep()
            runJobs(Int.random(in: 0...40, using: &random))
        }
        if violation == nil { heal() }
        return violation
    }

    /// Two lists that all devices have, so that what they add up has a common base.
    private func found() {
        guard let launch = devices[0].alive.first else { return }
        for list in Self.lists {
            start(launch) { [self] launch in
                do {
                    try await launch.store.write {
                        try $0.set(["items": [], "count": 0], for: list, in: Self.listed)
                    }
                } catch {
                    violate("the lists cannot be made: \(error)")
                }
            }
        }
        runUntilQuiet(jobsMax: 20_000)
    }

    /// Runs some jobs; when there are none, time passes.
    func runJobs(_ count: Int) {
        for _ in 0..<count where violation == nil {
            if scheduler.step(prepare) { buryTheDead() } else { passTime() }
        }
    }

    /// Tells each disk who works with it now.
    private func prepare(_ process: Int) {
        for machine in machines { machine.disk.work(for: process) }
    }

    var machines: [Machine] { [host.machine] + devices.map(\.machine) }

    /// Lets the next sleeper wake up.
    func passTime() {
        guard let deadline = clock.nextDeadline else { return clock.advance(by: .seconds(1)) }
        clock.advance(by: max(clock.now.duration(to: deadline), .zero))
    }

    /// Runs all jobs of a process, whatever it waits for.
    func finishJobs(of process: Int) { while scheduler.step(of: process, prepare) {} }

    private func end() {
        for device in devices { for launch in device.alive { bury(launch, of: device) } }
        buryHost()
        for cancel in copies { cancel() }
        while scheduler.step(prepare) {}
        for machine in machines { machine.folder.remove() }
        // Their connectors hold the devices.
        for device in devices { device.launches = [] }
    }
}
