internal import GRDB

/// Where the objects are kept.
public enum StoreLocation: Hashable, Sendable {
    /// In an SQLite file, made when there is none.
    case file(String)
    /// In memory, gone with the store.
    case memory
}

extension StoreLocation {
    /// The path of the file; in memory, SQLite's own name for that.
    public var path: String {
        switch self {
        case .file(let path): path
        case .memory: ":memory:"
        }
    }

    init(of writer: any DatabaseWriter) {
        self = writer.path.isEmpty || writer.path == ":memory:" ? .memory : .file(writer.path)
    }
}
