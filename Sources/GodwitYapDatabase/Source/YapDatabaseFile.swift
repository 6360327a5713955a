internal import Foundation
internal import GRDB

/// A file of YapDatabase, open for reading at one moment.
///
/// One transaction that reads is open from the beginning to the end: a program that still writes to the
/// file changes nothing of what is read. SQLite makes a `-shm` beside a file in WAL mode, and an empty
/// `-wal` where there is none; the file and its log it leaves as they are.
final class YapDatabaseFile: Sendable {
    static let versions = 3...3

    let path: String
    private let queue: DatabaseQueue

    /// - Throws: ``YapDatabaseError``.
    init(
        _ path: String,
        prepare: (@Sendable (Database) throws -> Void)?
    ) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
            !isFolder.boolValue
        else { throw YapDatabaseError.noFile(path: path) }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        // One transaction lasts over many reads.
        configuration.allowsUnsafeTransactions = true
        if let prepare { configuration.prepareDatabase(prepare) }
        self.path = path
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError {
            throw YapDatabaseError(error, path: path)
        }
        try read { database in
            try database.execute(sql: "BEGIN")
            try Self.check(database, path)
        }
    }

    /// Reads what the file held when it was opened.
    ///
    /// - Throws: What `body` throws, SQLite's errors as ``YapDatabaseError``: they are taken for errors of
    ///   this file, unless ``elsewhere(_:)`` has thrown them.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            return try queue.unsafeReentrantRead(body)
        } catch let error as DatabaseError {
            throw YapDatabaseError(error, path: path)
        } catch let error as ErrorElsewhere {
            throw error.error
        }
    }

    /// Does what has nothing to do with this file, within a body that reads it.
    static func elsewhere<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw ErrorElsewhere(error: error)
        }
    }

    private struct ErrorElsewhere: Error { let error: any Error }

    func close() {
        try? queue.unsafeRead { try $0.execute(sql: "ROLLBACK") }
        try? queue.close()
    }

    /// Refuses databases of other kinds and versions.
    private static func check(_ database: Database, _ path: String) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard try database.tableExists("yap2") || database.tableExists("database") else {
            throw YapDatabaseError.notYapDatabase(path: path, missing: "yap2")
        }
        guard version <= versions.upperBound else {
            let known = versions.upperBound
            throw YapDatabaseError.newerVersion(path: path, found: version, known: known)
        }
        guard try database.tableExists("database2") else {
            guard version < versions.lowerBound, try database.tableExists("database") else {
                throw YapDatabaseError.notYapDatabase(path: path, missing: "database2")
            }
            let oldest = versions.lowerBound
            throw YapDatabaseError.olderVersion(path: path, found: version, oldest: oldest)
        }
    }
}

extension YapDatabaseError {
    init(_ error: DatabaseError, path: String) {
        let reason = error.message ?? error.resultCode.description
        self =
            switch error.resultCode {
            case .SQLITE_NOTADB: .notADatabase(path: path)
            case .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PERM, .SQLITE_READONLY:
                .unavailable(path: path, reason: reason)
            default: .damaged(path: path, reason: reason)
            }
    }
}

// MARK: - Cells

extension Row {
    /// The values of a row, whichever types a damaged file has put there.
    var cells: [DatabaseValue] { Array(databaseValues) }
}

extension DatabaseValue {
    /// The bytes of a blob, or of a text; nil for null and numbers.
    var bytes: [UInt8]? {
        switch storage {
        case .blob(let data): Array(data)
        case .string(let text): Array(text.utf8)
        case .null, .int64, .double: nil
        }
    }

    /// A text that was selected as a blob, so that neither a zero nor bytes that are no text end it early.
    ///
    /// nil for bytes that are no UTF-8.
    var wholeText: String? { bytes.flatMap { String(validating: $0, as: UTF8.self) } }

    /// As much of a text as can be read, to name it in a report.
    var readableText: String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    var integer: Int64? {
        guard case .int64(let integer) = storage else { return nil }
        return integer
    }
}
