internal import GRDBSQLite

/// What SQLite takes for an open file: its `sqlite3_file`, and behind it the disk and the handle.
struct SimulatedFile {
    private var base: sqlite3_file
    private var disk: Unmanaged<SimulatedDisk>
    private var handle: Int

    /// Opens a file in the memory that SQLite has set aside for it.
    static func open(
        _ path: String,
        on disk: SimulatedDisk,
        flags: CInt,
        at place: UnsafeMutablePointer<sqlite3_file>?
    ) -> CInt {
        guard let place else { return SQLITE_MISUSE }
        place.pointee.pMethods = nil
        guard let handle = disk.open(path, flags: flags) else { return SQLITE_CANTOPEN }
        let file = SimulatedFile(
            base: sqlite3_file(pMethods: methods),
            disk: .passRetained(disk),
            handle: handle
        )
        UnsafeMutableRawPointer(place).initializeMemory(as: SimulatedFile.self, to: file)
        return SQLITE_OK
    }

    /// Calls the disk on behalf of a file.
    private static func with(
        _ place: UnsafeMutablePointer<sqlite3_file>?,
        _ body: (SimulatedDisk, Int) -> CInt
    ) -> CInt {
        guard let place else { return SQLITE_MISUSE }
        let file = UnsafeRawPointer(place).load(as: SimulatedFile.self)
        return body(file.disk.takeUnretainedValue(), file.handle)
    }

    // `nonisolated(unsafe)`, because it is set up once, never freed and then only read.
    private nonisolated(unsafe) static let methods = {
        var methods = sqlite3_io_methods()
        methods.iVersion = 2
        addFileMethods(to: &methods)
        addLockMethods(to: &methods)
        addSharedMemoryMethods(to: &methods)
        let pointer = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        pointer.initialize(to: methods)
        return UnsafePointer(pointer)
    }()

    private static func addFileMethods(to methods: inout sqlite3_io_methods) {
        methods.xClose = { place in
            guard let place else { return SQLITE_MISUSE }
            let file = UnsafeRawPointer(place).load(as: SimulatedFile.self)
            file.disk.takeRetainedValue().close(file.handle)
            return SQLITE_OK
        }
        methods.xRead = { place, buffer, count, offset in
            let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
            return SimulatedFile.with(place) { $0.read($1, at: Int(offset), into: buffer) }
        }
        methods.xWrite = { place, buffer, count, offset in
            let bytes = [UInt8](UnsafeRawBufferPointer(start: buffer, count: Int(count)))
            return SimulatedFile.with(place) { $0.write($1, bytes, at: Int(offset)) }
        }
        methods.xTruncate = { place, size in
            SimulatedFile.with(place) { $0.truncate($1, to: Int(size)) }
        }
        methods.xSync = { place, _ in SimulatedFile.with(place) { $0.sync($1) } }
        methods.xFileSize = { place, result in
            SimulatedFile.with(place) { disk, handle in
                guard let size = disk.size(handle) else { return SQLITE_IOERR }
                result?.pointee = sqlite3_int64(size)
                return SQLITE_OK
            }
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        // Both as SQLite has them on Unix, so that it writes as it does on a real disk.
        methods.xSectorSize = { _ in 4_096 }
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    }

    private static func addLockMethods(to methods: inout sqlite3_io_methods) {
        methods.xLock = { place, level in SimulatedFile.with(place) { $0.lock($1, to: level) } }
        methods.xUnlock = { place, level in
            SimulatedFile.with(place) { disk, handle in
                disk.unlock(handle, to: level)
                return SQLITE_OK
            }
        }
        methods.xCheckReservedLock = { place, result in
            SimulatedFile.with(place) { disk, handle in
                result?.pointee = disk.isReserved(handle) ? 1 : 0
                return SQLITE_OK
            }
        }
    }

    private static func addSharedMemoryMethods(to methods: inout sqlite3_io_methods) {
        methods.xShmMap = { place, region, size, extends, address in
            SimulatedFile.with(place) {
                $0.mapSharedMemory(
                    $1,
                    region: region,
                    size: size,
                    extending: extends != 0,
                    address
                )
            }
        }
        methods.xShmLock = { place, first, count, flags in
            let range = Int(first)..<Int(first + count)
            return SimulatedFile.with(place) { $0.lockSharedMemory($1, range, flags: flags) }
        }
        // Taking and giving back the disk's lock orders memory as a barrier does.
        methods.xShmBarrier = { place in
            _ = SimulatedFile.with(place) { disk, _ in disk.isOff ? SQLITE_IOERR : SQLITE_OK }
        }
        methods.xShmUnmap = { place, _ in
            SimulatedFile.with(place) { disk, handle in
                disk.unmapSharedMemory(handle)
                return SQLITE_OK
            }
        }
    }
}
