internal import Foundation
internal import Synchronization

/// A disk in memory that can lose its power, for the SQLite files of one folder.
///
/// ```swift
/// let folder = try TemporaryFolder()
/// let disk = SimulatedDisk(folder: folder)
/// disk.cutPower(at: 20)
/// let store = try? Store(.file(folder.path("store.sqlite")))   // sees errors from then on
/// disk.restart(seed: 7)                                        // what a new store finds
/// ```
///
/// Every connection of the process that opens a file directly in the folder is on the disk, WAL
/// and several connections at once included. What was written since the last sync of a file may
/// be lost, kept or torn when the power goes; so may a file's appearing and disappearing. After a
/// sync that failed, the writes before it stay uncertain although a later sync succeeds, as on
/// Linux.
///
/// Files that are not opened through SQLite, the store's lock file for one, are on the real disk.
public final class SimulatedDisk: Sendable {
    /// What an operation fails with.
    public enum Fault: Sendable {
        case inputOutput
        /// Only writes fail; syncs and removals go on.
        case full
    }

    let state = Mutex(DiskState())
    private let folderPath: String

    /// - Parameter folder: A folder that exists; it stays empty but for files that do not belong
    ///   to SQLite.
    public init(folder: TemporaryFolder) {
        folderPath = RoutingVFS.fullPath(folder.url.path)
        RoutingVFS.add(self, folder: folderPath)
    }

    deinit { RoutingVFS.remove(folder: folderPath) }
}

extension SimulatedDisk {
    /// How many writes, syncs, truncations and removals there were since the disk was made or
    /// restarted.
    public var operationCount: Int { state.withLock { $0.faults.operationCount } }

    /// Whether the power is gone.
    public var isOff: Bool { state.withLock { $0.isOff } }

    /// Lets the power fail in the operation of this number, from 1.
    ///
    /// That operation may have begun; it and everything after it fails.
    public func cutPower(at number: Int) { state.withLock { $0.faults.cut = number } }

    /// Lets the operation of this number, from 1, fail without effect.
    ///
    /// - Parameters:
    ///   - number: Which operation fails.
    ///   - fault: How it fails.
    ///   - persistently: Whether all later ones fail too, until ``mend()``.
    public func fail(at number: Int, with fault: Fault, persistently: Bool = false) {
        state.withLock {
            $0.faults.failure = .init(at: number, fault: fault, isPersistent: persistently)
        }
    }

    /// Has connections that are opened from now on, and files that are removed, belong to a
    /// process.
    public func work(for process: Int) { state.withLock { $0.process = process } }

    /// Ends a process: nothing that its connections do reaches the disk any more.
    ///
    /// What it has written stays, synced or not, as after `SIGKILL`.
    ///
    /// - Parameters:
    ///   - process: The process that ends.
    ///   - delay: After how many more writes, syncs, truncations and removals of the process; the last one
    ///     of them is done, and not answered.
    public func kill(_ process: Int, after delay: Int = 0) {
        state.withLock { state in
            if delay > 0 { state.kills[process] = delay } else { state.kill(process) }
        }
    }

    /// Whether a process was killed.
    public func isDead(_ process: Int) -> Bool { state.withLock { $0.dead.contains(process) } }

    /// Ends the failures that ``fail(at:with:persistently:)`` began.
    public func mend() { state.withLock { $0.faults.failure = nil } }

    /// Puts the power on again after a cut; without one, it is cut at this moment.
    ///
    /// What is left is decided by the seed; five seeds in a row try all damage patterns. Files
    /// that were open stay unusable for ever.
    public func restart(seed: UInt64) { state.withLock { $0.restart(seed: seed) } }

    /// All files of a simulated disk, as they were at one moment.
    public struct Backup: Sendable {
        let platter: Platter
    }

    public func backUp() -> Backup { state.withLock { Backup(platter: $0.platter) } }

    /// Puts the files of a backup in the place of those that are there.
    ///
    /// Files that were open stay unusable for ever.
    public func restore(_ backup: Backup) { state.withLock { $0.restore(backup.platter) } }

    /// Goes back to the moment before the last restart, with the power off, so that one cut can
    /// be looked at with many damages.
    public func rewind() { state.withLock { $0.rewind() } }
}
