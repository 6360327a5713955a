import Foundation
import GRDB
import GodwitConnectors
import GodwitQueue
import GodwitTestKit
import GodwitTree
import Logging

@testable import GodwitReplication
@testable import GodwitStore

/// A device with an app, in one process or in two that share a store.
///
/// Unchecked for the same reason as ``SyncWorld``.
final class Device: @unchecked Sendable {
    let index: Int
    let machine: Machine
    let isShared: Bool
    var launches: [DeviceLaunch] = []
    var isOnline = true
    /// The disk at an earlier moment, and how many edits there were then.
    var backup: (disk: SimulatedDisk.Backup, editCount: Int)?
    /// In whose name it made its last request.
    var client: ClientID?

    init(_ index: Int, _ machine: Machine, isShared: Bool) {
        (self.index, self.machine, self.isShared) = (index, machine, isShared)
    }

    var alive: [DeviceLaunch] { launches.filter(\.isAlive) }

    /// A process that keeps the replica in sync.
    var app: DeviceLaunch? { alive.first { !$0.isExtension } }
}

/// One launch of the app.
///
/// Unchecked for the same reason as ``SyncWorld``.
final class DeviceLaunch: @unchecked Sendable {
    let process: Int
    let device: Int
    let store: Store
    let connector: ReplicaConnector
    let queue: PushQueue
    let hook = StrictHook()
    /// Whether this process only edits, beside the app.
    let isExtension: Bool
    var replica: Replica?
    var isOpening = false
    var isAlive = true
    var tasks: [Task<Void, Never>] = []

    init(_ process: Int, of device: Device, in world: SyncWorld) throws {
        self.process = process
        self.device = device.index
        isExtension = device.app != nil && world.random.happens(0.4)
        store = try Store(
            .file(device.machine.path),
            options: world.storeOptions(process, isShared: device.isShared)
        )
        do {
            var options = ReplicaConnector.Options()
            options.clock = world.clock
            options.backoff = Backoff { Double.random(in: 0..<1, using: &world.random) }
            options.hasOwnQueue = false
            connector = try ReplicaConnector(
                store,
                transport: Link(world: world, device: device, process: process),
                options: options
            ) { world.heard($0, process, device) }
            queue = try PushQueue(
                store,
                options: world.queueOptions(process),
                pipelines: [connector.pipeline]
            )
            try store.addHook(hook, named: "strict")
        } catch {
            try? store.close()
            throw error
        }
    }
}

// MARK: - Launches

extension SyncWorld {
    func open(_ device: Device) {
        let process = newProcess()
        device.machine.disk.work(for: process)
        do {
            let launch = try DeviceLaunch(process, of: device, in: self)
            device.launches.append(launch)
            let name = launch.isExtension ? "an extension" : "the app"
            note("device \(device.index) is open, process \(process), \(name)")
            if !launch.isExtension { begin(launch, of: device) }
        } catch {
            note("device \(device.index) cannot open: \(error)")
            if !device.machine.mayFail(process) {
                violate("device \(device.index) cannot open: \(error)")
            }
        }
    }

    /// Starts what an app starts: its queue, and the connector with the replica.
    private func begin(_ launch: DeviceLaunch, of device: Device) {
        repeatedly(launch, of: device, "the queue") { try await launch.queue.run() }
        repeatedly(launch, of: device, "the connector") {
            try await self.openReplica(of: launch)
            try await launch.connector.run()
        }
    }

    private func openReplica(of launch: DeviceLaunch) async throws {
        guard launch.replica == nil, !launch.isOpening else { return }
        launch.isOpening = true
        defer { launch.isOpening = false }
        launch.replica = try await launch.connector.open(.simulated, collections: Self.collections)
    }

    /// The app closes the replica, or leaves it, and opens it again after a while.
    func reopenReplica(of launch: DeviceLaunch, of device: Device, leavingIt: Bool) {
        guard launch.replica != nil else { return }
        let delay = Duration.milliseconds(Int.random(in: 0...2_000, using: &random))
        note("device \(device.index) \(leavingIt ? "leaves" : "closes") the replica")
        repeatedly(launch, of: device, "an opening") { [self] in
            if leavingIt {
                // From now on the server alone may have what this device has made.
                if faults.serverRestores > 0 {
                    books.excuseEdits(of: device.index, since: 0, unlessIn: nil)
                }
                do {
                    try await launch.connector.leave(.simulated, removingObjects: true)
                } catch ReplicationError.unsentChanges {
                    throw CancellationError()
                } catch ReplicationError.unknownReplica {}
            } else {
                launch.connector.close(.simulated)
            }
            launch.replica = nil
            try? await clock.sleep(for: delay)
            try await self.openReplica(of: launch)
            throw CancellationError()
        }
    }

    /// Does something for as long as a launch lives, again after an error of the disk.
    private func repeatedly(
        _ launch: DeviceLaunch,
        of device: Device,
        _ name: String,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        start(launch) { [self] launch in
            while launch.isAlive {
                let faults = device.machine.faultCount
                do {
                    try await body()
                } catch is CancellationError {
                    return
                } catch {
                    if launch.isAlive, !device.machine.mayFail(launch.process, since: faults),
                        !launch.store.isPoisoned
                    {
                        violate("\(name) of device \(device.index) ended: \(error)")
                    }
                    guard (try? await clock.sleep(for: .seconds(1))) != nil else { return }
                }
            }
        }
    }

    /// Runs a task of a launch.
    func start(
        _ launch: DeviceLaunch,
        _ body: @escaping @Sendable (DeviceLaunch) async -> Void
    ) {
        let executor = scheduler.executor(of: launch.process)
        launch.tasks.append(Task(executorPreference: executor) { await body(launch) })
    }

    /// Ends a process: what it still does is seen nowhere.
    func bury(_ launch: DeviceLaunch, of device: Device) {
        note("device \(device.index) is dead, process \(launch.process)")
        launch.isAlive = false
        device.machine.disk.kill(launch.process)
        leave(launch, of: device)
    }

    /// Closes a launch in good order.
    func close(_ launch: DeviceLaunch, of device: Device) {
        note("device \(device.index) closes, process \(launch.process)")
        leave(launch, of: device)
        launch.isAlive = false
    }

    private func leave(_ launch: DeviceLaunch, of device: Device) {
        for task in launch.tasks { task.cancel() }
        finishJobs(of: launch.process)
        do { try launch.store.close() } catch {
            if launch.isAlive, !device.machine.mayFail(launch.process) {
                violate("device \(device.index) cannot close: \(error)")
            }
        }
        finishJobs(of: launch.process)
    }

    /// Takes processes away that were killed in the middle of a call to the disk.
    func buryTheDead() {
        for device in devices {
            let disk = device.machine.disk
            for launch in device.alive where disk.isDead(launch.process) || disk.isOff {
                bury(launch, of: device)
            }
        }
        let disk = host.machine.disk
        for launch in host.launches
        where disk.isDead(launch.process) || disk.isOff || launch.isUseless {
            bury(launch)
        }
    }

    /// What a connector tells of its exchanges: each failure needs a cause.
    func heard(_ event: ReplicaConnector.Event, _ process: Int, _ device: Device) {
        guard case .failed(_, let error) = event else {
            return note("device \(device.index), process \(process): \(event)")
        }
        let reason = "\(error)"
        note("device \(device.index) fails to exchange: \(reason)")
        let isAlive = device.alive.contains { $0.process == process }
        // The disk may work again when its failure is told.
        let disk = device.machine.faultCount > 0 ? ["disk"] : []
        let network = [
            "cannot be reached", "the connection to the server ended", "the message was damaged",
        ]
        let isExcused = (network + disk).contains {
            reason.contains($0)
        }
        if isAlive, !isExcused, !device.machine.mayFail(process), !device.isPoisoned {
            violate("device \(device.index) fails to exchange: \(reason)")
        }
    }
}

/// Refuses a third of the cards and notes while it is strict, as an app does that has rules of its own.
///
/// Unchecked for the same reason as ``SyncWorld``.
final class StrictHook: TransactionHook, @unchecked Sendable {
    struct Refusal: Error {}

    let collections: Set<Key>? = ["cards", "notes"]
    var isStrict = false

    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        guard isStrict else { return }
        for change in changes {
            let number = try change.newValue()?["id"]?.integer ?? 1
            if number > 0, number.isMultiple(of: 3) { throw Refusal() }
        }
    }
}

extension Device {
    var isPoisoned: Bool { alive.contains { $0.store.isPoisoned } }
}

// MARK: - Options

extension SyncWorld {
    func storeOptions(_ process: Int, isShared: Bool) -> Store.Options {
        let clock = clock
        var options = Store.Options()
        options.processes = isShared ? .several : .one
        options.collections = [CollectionRules(Self.shapes)]
        options.laneScheduler = scheduler.executor(of: process).lanes
        options.identifiers = Identifiers { [self] in
            Identifier(high: random.next(), low: random.next())
        }
        options.clock = StoreClock(
            elapsed: { clock.now.sinceStart },
            now: { Date(timeIntervalSince1970: 1_000_000 + clock.now.sinceStart / .seconds(1)) }
        )
        return options
    }

    func queueOptions(_ process: Int) -> PushQueue.Options {
        let clock = clock
        var options = PushQueue.Options()
        options.monitor = ConstantConditions()
        options.clock = clock
        options.taskExecutor = scheduler.executor(of: process)
        options.leaseClock = LeaseClock(boot: "boot") {
            Int64(clock.now.sinceStart / .milliseconds(1))
        }
        options.logger.logLevel = .critical
        return options
    }
}

extension Store {
    /// Whether a sync has failed, so that the store must be opened again.
    var isPoisoned: Bool {
        if case .mustReopen = writer.refusal { return true }
        return false
    }
}
