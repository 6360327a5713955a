internal import GRDBSQLite
internal import Synchronization

/// SQLite's result codes that are macros too clever for Swift.
private enum Code {
    static let read = SQLITE_IOERR | 1 << 8
    static let shortRead = SQLITE_IOERR | 2 << 8
    static let write = SQLITE_IOERR | 3 << 8
    static let sync = SQLITE_IOERR | 4 << 8
    static let truncation = SQLITE_IOERR | 6 << 8
    static let size = SQLITE_IOERR | 7 << 8
    static let removal = SQLITE_IOERR | 10 << 8
    static let access = SQLITE_IOERR | 13 << 8
    static let lock = SQLITE_IOERR | 15 << 8
    static let sharedMemory = SQLITE_IOERR | 21 << 8
    static let removalOfNothing = SQLITE_IOERR | 23 << 8
}

/// What SQLite asks of a folder.
extension SimulatedDisk {
    /// A handle on a file, made if the flags say so; nil when it cannot be opened.
    func open(_ name: String, flags: CInt) -> Int? {
        let creates = flags & SQLITE_OPEN_CREATE != 0
        let journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL
        return state.withLock { state in
            guard !state.isOff(for: state.process) else { return nil }
            guard let id = state.platter.id(of: name) ?? (creates ? state.platter.make(name) : nil)
            else { return nil }
            return state.open(id, syncsNames: creates && flags & journals != 0)
        }
    }

    func remove(_ name: String, syncsNames: Bool) -> CInt {
        state.withLock { state in
            guard state.isOff(for: state.process) || state.platter.id(of: name) != nil else {
                return Code.removalOfNothing
            }
            let verdict = state.verdict(on: .removal, by: state.process)
            if verdict == .proceeds || verdict == .powerFails { state.platter.remove(name) }
            if verdict == .proceeds, syncsNames { state.platter.syncNames() }
            return verdict.code(Code.removal)
        }
    }

    /// Like SQLite on Unix, which takes an empty file for none.
    func hasFile(_ name: String, mayBeEmpty: Bool) -> Bool? {
        state.withLock { state in
            guard !state.isOff(for: state.process) else { return nil }
            guard let id = state.platter.id(of: name) else { return false }
            return mayBeEmpty || !state.platter[id].bytes.isEmpty
        }
    }

    static var accessFailed: CInt { Code.access }
}

/// What SQLite asks of an open file.
extension SimulatedDisk {
    func close(_ handle: Int) { state.withLock { $0.close(handle) } }

    func read(_ handle: Int, at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> CInt {
        let bytes = state.withLock { state -> ArraySlice<UInt8>? in
            guard let file = state.openFiles[handle], !state.isOff(for: file.process) else {
                return nil
            }
            let bytes = state.platter[file.id].bytes
            return bytes[min(offset, bytes.count)..<min(offset + buffer.count, bytes.count)]
        }
        guard let bytes else { return Code.read }
        buffer.copyBytes(from: bytes)
        guard bytes.count < buffer.count else { return SQLITE_OK }
        buffer[bytes.count...].initializeMemory(as: UInt8.self, repeating: 0)
        return Code.shortRead
    }

    func write(_ handle: Int, _ bytes: [UInt8], at offset: Int) -> CInt {
        change(handle, .write, failure: Code.write) { file, number in
            file.write(bytes, at: offset, number: number)
        }
    }

    func truncate(_ handle: Int, to size: Int) -> CInt {
        change(handle, .truncation, failure: Code.truncation) { file, number in
            file.truncate(to: size, number: number)
        }
    }

    func sync(_ handle: Int) -> CInt {
        state.withLock { state in
            guard let file = state.openFiles[handle] else { return Code.sync }
            let verdict = state.verdict(on: .sync, by: file.process)
            switch verdict {
            case .proceeds:
                state.platter[file.id].sync()
                if file.syncsNames { state.platter.syncNames() }
                state.openFiles[handle]?.syncsNames = false
            case .fails: state.platter[file.id].failSync()
            case .powerFails, .powerIsOff: break
            }
            return verdict.code(Code.sync)
        }
    }

    func size(_ handle: Int) -> Int? {
        state.withLock { state in
            state.openFiles[handle].map { state.platter[$0.id].bytes.count }
        }
    }

    private func change(
        _ handle: Int,
        _ operation: FaultPlan.Operation,
        failure: CInt,
        _ body: (inout DiskFile, Int) -> Void
    ) -> CInt {
        state.withLock { state in
            guard let file = state.openFiles[handle] else { return failure }
            let verdict = state.verdict(on: operation, by: file.process)
            if verdict == .proceeds || verdict == .powerFails {
                body(&state.platter[file.id], state.faults.operationCount)
            }
            return verdict.code(failure)
        }
    }
}

/// How SQLite's connections keep out of each other's way.
extension SimulatedDisk {
    func lock(_ handle: Int, to level: CInt) -> CInt {
        state.withLock { state in
            guard let file = state.openFiles[handle], let level = FileLocks.Level(rawValue: level)
            else { return Code.lock }
            return state.locks[file.id, default: FileLocks()].raise(handle, to: level)
                ? SQLITE_OK : SQLITE_BUSY
        }
    }

    func unlock(_ handle: Int, to level: CInt) {
        state.withLock { state in
            guard let file = state.openFiles[handle], let level = FileLocks.Level(rawValue: level)
            else { return }
            state.locks[file.id]?.lower(handle, to: level)
        }
    }

    func isReserved(_ handle: Int) -> Bool {
        state.withLock { state in
            state.openFiles[handle].flatMap { state.locks[$0.id] }?.isReserved ?? false
        }
    }

    /// Sets `address` to a region of the file's shared memory, or to nil when there is none.
    func mapSharedMemory(
        _ handle: Int,
        region number: CInt,
        size: CInt,
        extending: Bool,
        _ address: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> CInt {
        let (isOpen, region) = state.withLock { state -> (Bool, SharedMemory.Region?) in
            guard let file = state.openFiles[handle] else { return (false, nil) }
            let region = state.sharedMemories[file.id, default: SharedMemory()]
                .region(Int(number), size: Int(size), extending: extending, for: handle)
            return (true, region)
        }
        address?.pointee = region?.address
        return isOpen ? SQLITE_OK : Code.sharedMemory
    }

    func lockSharedMemory(_ handle: Int, _ range: Range<Int>, flags: CInt) -> CInt {
        state.withLock { state in
            guard let file = state.openFiles[handle] else { return Code.sharedMemory }
            if flags & SQLITE_SHM_UNLOCK != 0 {
                state.sharedMemories[file.id]?.unlock(range, for: handle)
                return SQLITE_OK
            }
            let isTaken = state.sharedMemories[file.id, default: SharedMemory()].lock(
                range,
                exclusively: flags & SQLITE_SHM_EXCLUSIVE != 0,
                for: handle
            )
            return isTaken ? SQLITE_OK : SQLITE_BUSY
        }
    }

    func unmapSharedMemory(_ handle: Int) {
        state.withLock { state in
            guard let file = state.openFiles[handle] else { return }
            state.leaveSharedMemory(of: file.id, handle)
        }
    }
}

extension FaultPlan.Verdict {
    fileprivate func code(_ failure: CInt) -> CInt {
        switch self {
        case .proceeds: SQLITE_OK
        case .fails(.full): SQLITE_FULL
        case .fails(.inputOutput), .powerFails, .powerIsOff: failure
        }
    }
}
