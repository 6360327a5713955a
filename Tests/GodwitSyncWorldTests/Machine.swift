import GodwitTestKit

/// A computer with a disk, which fails, loses its power and is restored.
///
/// Unchecked for the same reason as ``SyncWorld``.
final class Machine: @unchecked Sendable {
    let folder: TemporaryFolder
    let disk: SimulatedDisk
    /// Whether reads and writes may fail just now.
    var isBroken = false
    /// How often the disk has broken, or was mended.
    var faultCount = 0

    init() throws {
        folder = try TemporaryFolder()
        disk = SimulatedDisk(folder: folder)
    }

    var path: String { folder.path("store.sqlite") }

    /// Whether a process may get an error that is not of its own making.
    ///
    /// - Parameter faults: How often the disk had broken when the process began what has failed.
    func mayFail(_ process: Int, since faults: Int? = nil) -> Bool {
        isBroken || disk.isOff || disk.isDead(process) || faults ?? faultCount != faultCount
    }
}

extension SyncWorld {
    /// The disk is full, or fails, for a while.
    func breakDisk(of machine: Machine) {
        guard faults.disks else { return }
        if machine.isBroken { return mend(machine) }
        machine.isBroken = true
        machine.faultCount += 1
        let fault = random.happens(0.6) ? SimulatedDisk.Fault.full : .inputOutput
        note("the disk of \(name(of: machine)): \(fault)")
        let number = machine.disk.operationCount + Int.random(in: 1...8, using: &random)
        machine.disk.fail(at: number, with: fault, persistently: random.happens(0.5))
    }

    func mend(_ machine: Machine) {
        note("the disk of \(name(of: machine)) works again")
        machine.disk.mend()
        if machine.isBroken { machine.faultCount += 1 }
        machine.isBroken = false
        closePoisoned()
    }

    /// A store that has seen a failed sync takes no writes before it is opened again.
    func closePoisoned() {
        for device in devices {
            for launch in device.alive where launch.store.isPoisoned { close(launch, of: device) }
        }
        for launch in host.launches where launch.store.isPoisoned { bury(launch) }
    }

    /// The power goes, at once or within one of the next operations of the disk.
    func cutPower(of machine: Machine) {
        guard faults.disks else { return }
        note("the power of \(name(of: machine)) is cut")
        machine.disk.cutPower(
            at: machine.disk.operationCount + Int.random(in: 1...8, using: &random)
        )
        runJobs(Int.random(in: 0...30, using: &random))
        if machine === host.machine {
            buryHost()
        } else {
            for device in devices where device.machine === machine {
                for launch in device.alive { bury(launch, of: device) }
            }
        }
        machine.disk.restart(seed: random.next() % 1_000)
        machine.isBroken = false
    }

    func name(of machine: Machine) -> String {
        devices.first { $0.machine === machine }.map { "device \($0.index)" } ?? "the server"
    }
}
