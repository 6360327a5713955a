internal import GRDBSQLite
internal import Synchronization

/// Counts the steps that SQLite takes in the databases of a folder: about one for each row that a
/// statement looks at.
///
/// ```swift
/// let steps = StepCounter(folder: folder.url.path)
/// let store = try Store(.file(folder.path("store.sqlite")))
/// let before = steps.count
/// try await store.read { try $0.get("milk", in: items) }
/// let cost = steps.count - before
/// ```
///
/// Databases that were open before are not counted. The count does not depend on the speed of the machine.
package final class StepCounter: Sendable {
    private let folder: String
    private let steps = Atomic(0)

    private static let counters = Mutex<[StepCounter]>([])

    /// SQLite calls this for each connection that the process opens from now on.
    private static let isInstalled: Bool = {
        let entry: @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> CInt = {
            connection,
            _,
            _ in
            if let connection { StepCounter.watch(connection) }
            return SQLITE_OK
        }
        typealias Entry = @convention(c) () -> Void
        return sqlite3_auto_extension(unsafeBitCast(entry, to: Entry.self)) == SQLITE_OK
    }()

    /// - Parameter folder: The path of the folder; what is in folders below it counts, too.
    package init(folder: String) {
        self.folder = RoutingVFS.fullPath(folder) + "/"
        precondition(Self.isInstalled, "SQLite takes an extension")
        Self.counters.withLock { $0.append(self) }
    }

    /// The steps so far.
    package var count: Int { steps.load(ordering: .relaxed) }

    private static func watch(_ connection: OpaquePointer) {
        guard let name = sqlite3_db_filename(connection, "main") else { return }
        let path = String(cString: name)
        let found = counters.withLock { $0.first { path.hasPrefix($0.folder) } }
        guard let found else { return }
        // The list of counters keeps it for as long as the process lives.
        let counter = Unmanaged.passUnretained(found).toOpaque()
        sqlite3_progress_handler(connection, 1, count, counter)
    }

    private static let count: @convention(c) (UnsafeMutableRawPointer?) -> CInt = { counter in
        guard let counter else { return 0 }
        let found = Unmanaged<StepCounter>.fromOpaque(counter).takeUnretainedValue()
        found.steps.wrappingAdd(1, ordering: .relaxed)
        return 0
    }
}
