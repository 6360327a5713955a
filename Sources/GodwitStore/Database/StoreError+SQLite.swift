internal import GRDB

extension StoreError {
    /// Returns nil for errors in the caller's own SQL.
    init?(_ error: DatabaseError, path: String) {
        let reason = error.message ?? error.resultCode.description
        switch error.extendedResultCode {
        case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC:
            self = .mustReopen(reason: reason)
            return
        default: break
        }
        switch error.resultCode {
        case .SQLITE_NOTADB: self = .notADatabase(path: path)
        case .SQLITE_CORRUPT: self = .corrupt(path: path, reason: reason)
        case .SQLITE_FULL: self = .diskFull
        case .SQLITE_IOERR: self = .inputOutput(reason: reason)
        case .SQLITE_READONLY: self = .readOnly(path: path)
        case .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PERM:
            self = .unavailable(path: path, reason: reason)
        default: return nil
        }
    }
}

extension Error {
    /// Why a sync has failed, if that is what happened.
    var lostSync: String? {
        guard let error = self as? StoreError, case .mustReopen(let reason) = error else {
            return nil
        }
        return reason
    }
}
