/// All that a simulated disk knows, behind its lock.
struct DiskState {
    /// A file that a connection has open.
    struct OpenFile {
        let id: Platter.FileID
        let process: Int
        /// A new journal's first sync makes its name durable too, as SQLite does on Unix.
        var syncsNames: Bool
    }

    var platter = Platter()
    var faults = FaultPlan()
    var openFiles: [Int: OpenFile] = [:]
    var locks: [Platter.FileID: FileLocks] = [:]
    var sharedMemories: [Platter.FileID: SharedMemory] = [:]
    private(set) var isOff = false
    /// The process that works with the disk now.
    var process = 0
    private(set) var dead: Set<Int> = []
    /// After how many more operations a process is killed.
    var kills: [Int: Int] = [:]
    private var beforeRestart = Platter()
    private var nextHandle = 0

    /// Whether a process gets nothing from the disk any more.
    func isOff(for process: Int) -> Bool { isOff || dead.contains(process) }

    mutating func kill(_ process: Int) { dead.insert(process) }

    /// Counts an operation, and says what becomes of it.
    mutating func verdict(
        on operation: FaultPlan.Operation,
        by process: Int
    ) -> FaultPlan.Verdict {
        guard !isOff(for: process) else { return .powerIsOff }
        if let left = kills[process] {
            kills[process] = left > 1 ? left - 1 : nil
            guard left > 1 else {
                kill(process)
                return .powerFails
            }
        }
        let verdict = faults.verdict(on: operation)
        if verdict == .powerFails { isOff = true }
        return verdict
    }

    mutating func open(_ id: Platter.FileID, syncsNames: Bool) -> Int {
        nextHandle += 1
        openFiles[nextHandle] = OpenFile(id: id, process: process, syncsNames: syncsNames)
        return nextHandle
    }

    mutating func close(_ handle: Int) {
        guard let file = openFiles.removeValue(forKey: handle) else { return }
        locks[file.id]?.lower(handle, to: .none)
        leaveSharedMemory(of: file.id, handle)
    }

    /// Takes a connection's hold on a file's shared memory; the last one frees it.
    mutating func leaveSharedMemory(of id: Platter.FileID, _ handle: Int) {
        guard let memory = sharedMemories[id] else { return }
        sharedMemories[id]?.leave(handle)
        if memory.isHeldOnly(by: handle) { sharedMemories[id] = nil }
    }

    mutating func restart(seed: UInt64) {
        beforeRestart = platter
        platter = platter.afterLoss(Damage(seed: seed, pending: platter.pending))
        forgetConnections()
        isOff = false
    }

    mutating func restore(_ backup: Platter) {
        platter = backup
        forgetConnections()
        isOff = false
    }

    mutating func rewind() {
        platter = beforeRestart
        forgetConnections()
        isOff = true
    }

    private mutating func forgetConnections() {
        faults = FaultPlan()
        openFiles = [:]
        locks = [:]
        sharedMemories = [:]
        kills = [:]
    }
}

/// Which operations fail, by their number.
struct FaultPlan {
    enum Operation {
        case write, sync, truncation, removal
    }

    enum Verdict: Equatable {
        case proceeds
        case fails(SimulatedDisk.Fault)
        /// The operation has begun, and is the last.
        case powerFails
        case powerIsOff
    }

    struct Failure {
        let at: Int
        let fault: SimulatedDisk.Fault
        let isPersistent: Bool
    }

    private(set) var operationCount = 0
    var cut: Int?
    var failure: Failure?

    mutating func verdict(on operation: Operation) -> Verdict {
        operationCount += 1
        if let cut, operationCount >= cut { return .powerFails }
        guard let failure, operationCount >= failure.at,
            failure.fault == .inputOutput || operation == .write
        else { return .proceeds }
        if !failure.isPersistent { self.failure = nil }
        return .fails(failure.fault)
    }
}
