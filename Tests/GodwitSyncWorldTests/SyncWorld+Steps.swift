import GodwitTestKit
import GodwitTree

@testable import GodwitReplication
@testable import GodwitStore

// What happens to the devices and to the server.

extension SyncWorld {
    private static let deviceCountMax = 4

    func takeStep() {
        guard let device = devices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<47, using: &random) {
        case 0: withLaunch(of: device) { bury($0, of: device) }
        case 1, 2: killInDisk(device)
        case 3: withLaunch(of: device) { close($0, of: device) }
        case 4: cutPower(of: device.machine)
        case 5: breakDisk(of: device.machine)
        case 6: if device.isShared, device.alive.count < 2 { open(device) }
        case 7: if let launch = anyHostLaunch() { bury(launch) }
        case 8: killHostInDisk()
        case 9: cutPower(of: host.machine)
        case 10: breakDisk(of: host.machine)
        case 11, 12: device.isOnline.toggle()
        case 13: if faults.clones { clone(device) } else { startHostAnew() }
        case 14, 15: if faults.deviceRestores { backUpOrRestore(device) } else { startHostAnew() }
        case 16, 17: if faults.serverRestores > 0 { backUpOrRestoreServer() }
        case 18...21: passTime()
        case 22: forgetClients()
        case 23: withLaunch(of: device) { setStrict(!$0.hook.isStrict, $0) }
        case 24:
            let isLeft = !device.isShared && random.happens(0.5)
            withLaunch(of: device) { reopenReplica(of: $0, of: device, leavingIt: isLeft) }
        case 25: if host.isShared, host.launches.count < 2 { open(host) }
        default: withLaunch(of: device) { edit($0) }
        }
        openWhatIsClosed()
    }

    func openWhatIsClosed() {
        for device in devices where device.app == nil { open(device) }
        if host.launches.isEmpty { open(host) }
    }

    /// Ends a process of the server, so that its lines have several starts before a restoration.
    private func startHostAnew() {
        if faults.serverRestores == 1, let launch = anyHostLaunch() { bury(launch) }
    }

    /// One of the processes that serve.
    func anyHostLaunch() -> HostLaunch? {
        host.launches.count < 2 ? host.launches.first : host.launches.randomElement(using: &random)
    }

    private func withLaunch(of device: Device, _ body: (DeviceLaunch) -> Void) {
        if let launch = device.alive.randomElement(using: &random) { body(launch) }
    }

    private func killInDisk(_ device: Device) {
        guard let launch = device.alive.randomElement(using: &random) else { return }
        let delay = Int.random(in: 1...16, using: &random)
        note("device \(device.index) dies in \(delay) operations, process \(launch.process)")
        device.machine.disk.kill(launch.process, after: delay)
    }

    private func killHostInDisk() {
        guard let launch = anyHostLaunch() else { return }
        let delay = Int.random(in: 1...16, using: &random)
        note("the server dies in \(delay) operations")
        host.machine.disk.kill(launch.process, after: delay)
    }

    /// The server keeps no states any more for all clients but one.
    private func forgetClients() {
        guard let launch = anyHostLaunch(), let server = launch.server else { return }
        note("the server forgets clients")
        run(in: launch) { try await server.forgetClients(of: .simulated, keeping: 1) }
    }

    /// A launch begins to refuse some cards, or takes them again.
    func setStrict(_ isStrict: Bool, _ launch: DeviceLaunch) {
        launch.hook.isStrict = isStrict
        guard !isStrict, let replica = launch.replica else { return }
        let machine = devices[launch.device].machine
        let faults = machine.faultCount
        start(launch) { [self] launch in
            do {
                try await replica.retryRefused()
            } catch {
                let isExpected =
                    error is CancellationError || machine.mayFail(launch.process, since: faults)
                if launch.isAlive, !isExpected, !launch.store.isPoisoned {
                    violate("refused cards cannot be tried again: \(error)")
                }
            }
        }
    }

    // MARK: Copies

    /// Makes another device that has the same files.
    private func clone(_ device: Device) {
        guard devices.count < Self.deviceCountMax, isReadable(device),
            let machine = try? Machine()
        else { return }
        note("device \(device.index) is cloned as \(devices.count)")
        books.noteCopy(of: device)
        copyCount += 1
        machine.disk.restore(device.machine.disk.backUp())
        devices.append(Device(devices.count, machine, isShared: device.isShared))
    }

    /// Copies a device's files as they are, or puts a copy in their place.
    private func backUpOrRestore(_ device: Device) {
        guard let backup = device.backup, random.happens(0.5) else {
            guard isReadable(device) else { return }
            note("device \(device.index) is backed up")
            books.noteCopy(of: device)
            device.backup = (device.machine.disk.backUp(), books.edits.count)
            return
        }
        guard let present = serverValues() else { return }
        note("device \(device.index) is restored")
        books.excuseEdits(
            of: device.index,
            since: backup.editCount,
            unlessIn: faults.serverRestores > 0 ? nil : EditBooks.numbers(in: present.values)
        )
        copyCount += 1
        for launch in device.alive { bury(launch, of: device) }
        device.machine.disk.restore(backup.disk)
        device.machine.isBroken = false
    }

    /// Whether the files say what the device has: not in the middle of a failure.
    private func isReadable(_ device: Device) -> Bool {
        !device.machine.isBroken && !device.alive.isEmpty
            && device.alive.allSatisfy { (try? $0.rows()) != nil || $0.isExtension }
    }
}
