import GRDB
import GodwitTestKit
import GodwitTree

@testable import GodwitQueue
@testable import GodwitStore

// What a device does to the app: it stops its processes for a while, and is restored from a backup.

extension World {
    /// Stops a process that shares its store, or lets one go on.
    func freezeOrThaw() {
        guard isShared else { return }
        if let launch = alive.filter({ frozen.contains($0.process) }).randomElement(using: &random)
        {
            return thaw(launch)
        }
        guard let launch = alive.randomElement(using: &random) else { return }
        note("launch \(launch.process) is frozen")
        frozen.insert(launch.process)
        scheduler.freeze(launch.process)
        // Another process may do meanwhile what this one has begun.
        cloud.active = cloud.active.filter { $0.value != launch.process }
    }

    func thaw(_ launch: Launch) {
        guard frozen.remove(launch.process) != nil else { return }
        note("launch \(launch.process) goes on")
        launch.thawedAt = idleCount
        launch.thaw = (clock.now, running(in: launch))
        scheduler.thaw(launch.process)
    }

    private func running(in launch: Launch) -> Set<OperationNumber> {
        let sql = "SELECT number FROM godwit_operation WHERE state = 'running'"
        let numbers = try? launch.store.database.read { try Int64.fetchAll($0, sql: sql) }
        return Set((numbers ?? []).map { OperationNumber(rawValue: $0) })
    }

    /// Copies all files as they are, or puts a copy in their place while no launch is alive.
    func backUpOrRestore() {
        guard let backup else {
            note("the disk is backed up")
            let acknowledged = books.writes.filter { $0.value.answer == .committed }
            let synced = acknowledged.filter(\.value.isSynced)
            self.backup = (disk.backUp(), Set(acknowledged.keys), Set(synced.keys))
            return
        }
        note("the backup is restored")
        for launch in alive { bury(launch) }
        endLongRead()
        disk.restore(backup.disk)
        // A later sync was of other files than these.
        for mark in backup.marks.subtracting(backup.synced) { books.writes[mark]?.isSynced = false }
        isDiskBroken = false
        (books.holds, books.suspended) = ([:], [:])
        books.resumeCount += 1
        open(.afterRestore)
        for mark in backup.marks where books.writes[mark]?.answer == .lost {
            books.violate(
                .committedIsCommitted,
                "write \(mark) was acknowledged before the backup, and is gone"
            )
        }
        self.backup = nil
    }
}
