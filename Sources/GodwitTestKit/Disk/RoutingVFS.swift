internal import GRDBSQLite
internal import Synchronization

/// SQLite's default way to files, once a disk is simulated: files in a simulated folder are on
/// that folder's disk, all others where they always were.
///
/// So tests that run beside each other in one process do not notice each other's disks.
enum RoutingVFS {
    private struct Route {
        weak var disk: SimulatedDisk?
    }

    private static let routes = Mutex<[String: Route]>([:])

    // `nonisolated(unsafe)`, because both are set up once, never freed and then only read.
    private nonisolated(unsafe) static let original = sqlite3_vfs_find(nil)
    private nonisolated(unsafe) static let routing = makeRouting()

    static func add(_ disk: SimulatedDisk, folder: String) {
        precondition(routing != nil, "SQLite has a default VFS")
        routes.withLock { $0[folder] = Route(disk: disk) }
    }

    static func remove(folder: String) {
        routes.withLock { routes in
            if routes[folder]?.disk == nil { routes[folder] = nil }
        }
    }

    /// The path as SQLite spells it, without symbolic links.
    static func fullPath(_ path: String) -> String {
        guard let original, let resolve = original.pointee.xFullPathname else { return path }
        let size = original.pointee.mxPathname + 1
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(size)) { buffer in
            guard let start = buffer.baseAddress, resolve(original, path, size, start) & 0xff == 0
            else { return path }
            return String(cString: start)
        }
    }

    /// The disk that has a file of this path, and the file's name there.
    private static func disk(of path: UnsafePointer<CChar>?) -> (SimulatedDisk, String)? {
        guard let path = path.map({ String(cString: $0) }), let slash = path.lastIndex(of: "/")
        else { return nil }
        let name = String(path[path.index(after: slash)...])
        return routes.withLock { $0[String(path[..<slash])]?.disk }.map { ($0, name) }
    }

    private static func makeRouting() -> UnsafeMutablePointer<sqlite3_vfs>? {
        guard let original else { return nil }
        var vfs = original.pointee
        vfs.iVersion = 2
        vfs.szOsFile = max(vfs.szOsFile, CInt(MemoryLayout<SimulatedFile>.stride))
        vfs.pNext = nil
        vfs.zName = UnsafePointer(StaticString("godwit-routing").cString)
        vfs.xOpen = { _, name, file, flags, outFlags in
            guard let (disk, path) = RoutingVFS.disk(of: name) else {
                return RoutingVFS.original?.pointee
                    .xOpen(RoutingVFS.original, name, file, flags, outFlags) ?? SQLITE_ERROR
            }
            outFlags?.pointee = flags
            return SimulatedFile.open(path, on: disk, flags: flags, at: file)
        }
        vfs.xDelete = { _, name, syncsFolder in
            guard let (disk, path) = RoutingVFS.disk(of: name) else {
                return RoutingVFS.original?.pointee.xDelete(RoutingVFS.original, name, syncsFolder)
                    ?? SQLITE_ERROR
            }
            return disk.remove(path, syncsNames: syncsFolder != 0)
        }
        vfs.xAccess = { _, name, flags, result in
            guard let (disk, path) = RoutingVFS.disk(of: name) else {
                return RoutingVFS.original?.pointee.xAccess(
                    RoutingVFS.original,
                    name,
                    flags,
                    result
                ) ?? SQLITE_ERROR
            }
            guard let found = disk.hasFile(path, mayBeEmpty: flags != SQLITE_ACCESS_EXISTS) else {
                return SimulatedDisk.accessFailed
            }
            result?.pointee = found ? 1 : 0
            return SQLITE_OK
        }
        let pointer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        pointer.initialize(to: vfs)
        return sqlite3_vfs_register(pointer, 1) == SQLITE_OK ? pointer : nil
    }
}

extension StaticString {
    /// The text as C has it; it lives as long as the program.
    fileprivate var cString: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
