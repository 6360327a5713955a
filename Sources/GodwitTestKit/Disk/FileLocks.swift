/// Who holds which of SQLite's locks on a file; a handle has one level at a time.
///
/// The rules are those of "File Locking And Concurrency In SQLite Version 3".
struct FileLocks {
    enum Level: CInt, Comparable {
        case none, shared, reserved, pending, exclusive

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private var levels: [Int: Level] = [:]

    /// Whether a connection is about to write.
    var isReserved: Bool { levels.values.contains { $0 >= .reserved } }

    /// Raises the level, if the others let it; a refused exclusive lock is left pending, so that
    /// no new reader comes in.
    mutating func raise(_ handle: Int, to level: Level) -> Bool {
        guard level > levels[handle, default: .none] else { return true }
        let highest = levels.filter { $0.key != handle }.values.max() ?? .none
        switch level {
        case .none: return true
        case .shared: guard highest < .pending else { return false }
        case .reserved: guard highest < .reserved else { return false }
        case .pending, .exclusive:
            guard highest < .reserved else { return false }
            guard highest == .none else {
                levels[handle] = .pending
                return false
            }
        }
        levels[handle] = level
        return true
    }

    mutating func lower(_ handle: Int, to level: Level) {
        guard level < levels[handle, default: .none] else { return }
        levels[handle] = level == .none ? nil : level
    }
}
