/// Why a store refused; each case is named after what has to be mended.
///
/// Whatever throws one of these has changed nothing.
public enum StoreError: Error, Hashable, Sendable {
    /// Another process, or another part of this one, has the store open for writing.
    case alreadyOpen(path: String)
    /// There is no store at this path.
    case noStore(path: String)
    /// The file is something else than an SQLite database.
    case notADatabase(path: String)
    /// SQLite finds the file damaged.
    case corrupt(path: String, reason: String)
    /// The file cannot be opened.
    case unavailable(path: String, reason: String)
    /// A newer version of the app has written the file.
    case newerSchema(name: String, found: Int, known: Int)
    /// The store has a hook of this name: a replica, say, is open on it already.
    case hookExists(name: String)
    /// An object's bytes are not those that were written.
    case damagedObject(ObjectKey)
    /// An object nests deeper than a store takes.
    case tooDeep(ObjectKey, limit: Int)
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .alreadyOpen(let path):
            "\(path) is already open for writing, here or in another process"
        case .noStore(let path): "there is no store at \(path)"
        case .notADatabase(let path): "\(path) is not an SQLite database"
        case .corrupt(let path, let reason): "\(path) is damaged: \(reason)"
        case .unavailable(let path, let reason): "\(path) cannot be opened: \(reason)"
        case .newerSchema(let name, let found, let known):
            "the store's \(name) has version \(found), this program knows up to \(known)"
        case .hookExists(let name): "the store has a hook named \"\(name)\" already"
        case .damagedObject(let key): "the stored object \(key) is damaged"
        case .tooDeep(let key, let limit): "the object \(key) nests deeper than \(limit) levels"
        }
    }
}
