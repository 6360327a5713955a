import GRDB
import GodwitTestKit
import GodwitTree

@testable import GodwitReplication
@testable import GodwitStore

/// The server's machine, and the processes that serve one file on it: one, or two beside each other.
///
/// Unchecked for the same reason as ``SyncWorld``.
final class Host: @unchecked Sendable {
    let machine: Machine
    let isShared: Bool
    var launches: [HostLaunch] = []
    var backup: SimulatedDisk.Backup?

    init(_ machine: Machine, isShared: Bool) { (self.machine, self.isShared) = (machine, isShared) }

    func isAlive(_ launch: HostLaunch) -> Bool { launches.contains { $0 === launch } }
}

/// One start of the server.
///
/// Unchecked for the same reason as ``SyncWorld``.
final class HostLaunch: @unchecked Sendable {
    let process: Int
    let store: Store
    var server: ReplicaServer?
    /// Whether the process could not begin, so that it has to be started again.
    var isUseless = false
    /// Ends the tasks that serve.
    var cancellations: [@Sendable () -> Void] = []

    init(_ process: Int, _ store: Store) { (self.process, self.store) = (process, store) }
}

extension SyncWorld {
    func open(_ host: Host) {
        let process = newProcess()
        host.machine.disk.work(for: process)
        do {
            let options = storeOptions(process, isShared: host.isShared)
            let launch = HostLaunch(process, try Store(.file(host.machine.path), options: options))
            host.launches.append(launch)
            note("the server is open, process \(process)")
            serve(launch)
        } catch {
            note("the server cannot open: \(error)")
            if !host.machine.mayFail(process) { violate("the server cannot open: \(error)") }
        }
    }

    private func serve(_ launch: HostLaunch) {
        var options = ReplicaServer.Options()
        options.newEpoch = { [self] in Epoch(random.next() | 1) }
        if faults.rejections { options.objectSizeMax = Self.objectSizeMax }
        if faults.isFull, !hasRoom { options.replicaSizeMax = 300 }
        if seed.isMultiple(of: 4) { options.changedMax = 3 }
        options.slowChangedMax = 1
        // Comparisons of several answers, between which a process may end.
        if seed.isMultiple(of: 3) { options.comparisonSizeMax = 64 }
        run(in: launch) { [self, options] in
            let faults = host.machine.faultCount
            do {
                let server = try await ReplicaServer(launch.store, options: options)
                try await server.create(.simulated)
                launch.server = server
            } catch {
                guard host.isAlive(launch) else { return }
                note("the server cannot begin: \(error)")
                if !host.machine.mayFail(launch.process, since: faults) {
                    violate("the server cannot begin: \(error)")
                }
                launch.isUseless = true
            }
        }
    }

    @discardableResult
    func run<Result: Sendable>(
        in launch: HostLaunch,
        _ body: @escaping @Sendable () async throws -> Result
    ) -> Task<Result, any Error> {
        let task = Task(executorPreference: scheduler.executor(of: launch.process)) {
            try await body()
        }
        launch.cancellations.append { task.cancel() }
        return task
    }

    /// Ends the server's processes, as `SIGKILL` does.
    func buryHost() { for launch in host.launches { bury(launch) } }

    func bury(_ launch: HostLaunch) {
        note("the server is dead, process \(launch.process)")
        host.launches.removeAll { $0 === launch }
        host.machine.disk.kill(launch.process)
        for cancel in launch.cancellations { cancel() }
        finishJobs(of: launch.process)
        try? launch.store.close()
        finishJobs(of: launch.process)
    }

    /// Copies the server's files as they are, or puts a copy in their place.
    func backUpOrRestoreServer() {
        guard let backup = host.backup, random.happens(0.4) else {
            note("the server is backed up")
            host.backup = host.machine.disk.backUp()
            return
        }
        guard serverRestoreCount < faults.serverRestores else { return }
        note("the server is restored")
        for device in devices { books.noteCopy(of: device) }
        books.excuseRestoredAuthors()
        serverRestoreCount += 1
        networkAge += 1
        buryHost()
        host.machine.disk.restore(backup)
        host.machine.isBroken = false
        open(host)
    }

    /// The values of all objects that the server has; nil when it cannot be read.
    func serverValues() -> [ObjectKey: Value]? {
        guard let launch = host.launches.first else { return nil }
        return try? launch.store.database.read { database in
            let line = try LineTable.number(of: .simulated, in: database)
            return try LineObjectTable.all(of: line, in: database).compactMapValues(\.value?.value)
        }
    }
}
