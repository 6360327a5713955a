public import Foundation
internal import GodwitTree

/// Why an import from YapDatabase stopped; each case is named after what has to be mended.
///
/// The source is what it was. Objects that were imported before stay in the store; of the queue, nothing
/// is imported, or all of it.
public enum YapDatabaseError: Error, Hashable, Sendable {
    /// There is no file at this path.
    case noFile(path: String)
    /// The file is no SQLite database, or it is encrypted.
    case notADatabase(path: String)
    /// The file cannot be opened.
    case unavailable(path: String, reason: String)
    /// SQLite finds the file damaged.
    case damaged(path: String, reason: String)
    /// The file is a database of another kind.
    case notYapDatabase(path: String, missing: String)
    /// A version of YapDatabase before 2.1 has written the file.
    case olderVersion(path: String, found: Int, oldest: Int)
    /// A version of YapDatabase has written the file that this program does not know.
    case newerVersion(path: String, found: Int, known: Int)

    // CloudCore

    /// The file has no CloudCore extension of this name.
    case noCloudCore(name: String, found: [String])
    /// The file has several CloudCore extensions: name one of them.
    case severalCloudCores([String])
    /// The first version of CloudCore has written the queue.
    case olderQueue(name: String, found: Int, oldest: Int)
    /// A version of CloudCore has written the queue that this program does not know.
    case newerQueue(name: String, found: Int, known: Int)
    /// A table of the extension is missing, or has other columns.
    case unusableQueue(name: String, reason: String)
    /// An operation cannot be translated, and all are required.
    case unreadableOperation(row: Int64, reason: String)
    /// The store's queue refuses an operation.
    case refusedOperation(UUID, reason: String)

    // Data

    /// Bytes are not what a decoder reads.
    case unreadableData(reason: String)
}

extension YapDatabaseError {
    static let tooDeep = YapDatabaseError.unreadableData(
        reason: "it nests deeper than \(Value.depthMax) levels"
    )

    /// What is wrong with the bytes, without the sentence around it.
    var reason: String {
        guard case .unreadableData(let reason) = self else { return description }
        return reason
    }
}

extension YapDatabaseError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noFile(let path): "there is no file at \(path)"
        case .notADatabase(let path):
            """
            \(path) is not an SQLite database; if it is encrypted with SQLCipher, give its key in \
            prepareConnection
            """
        case .unavailable(let path, let reason):
            """
            \(path) cannot be opened: \(reason); copy it, and its -wal, to a folder that this \
            program may write to
            """
        case .damaged(let path, let reason):
            "\(path) is damaged: \(reason); repair a copy with `sqlite3 copy .recover`"
        case .notYapDatabase(let path, let missing):
            "\(path) is not a file of YapDatabase: it has no table \(missing)"
        case .olderVersion(let path, let found, let oldest):
            """
            \(path) has version \(found) of YapDatabase's tables, this program reads \(oldest): \
            open it once with YapDatabase 2.1 or later
            """
        case .newerVersion(let path, let found, let known):
            """
            \(path) has version \(found) of YapDatabase's tables, this program knows up to \(known)
            """
        default: queueDescription
        }
    }

    private static let objectsOnly =
        "import only the objects, by `parts = [.objects]` or by --objects-only"

    private var queueDescription: String {
        switch self {
        case .noCloudCore(let name, let found):
            """
            there is no CloudCore extension \"\(name)\"; the file has \
            \(found.isEmpty ? "none" : found.joined(separator: ", "))
            """
        case .severalCloudCores(let names):
            "there are several CloudCore extensions, choose one: \(names.joined(separator: ", "))"
        case .olderQueue(let name, let found, let oldest):
            """
            the queue of \"\(name)\" has version \(found), this program reads \(oldest) and later: \
            open the file once with YapDatabase 3.1 or later, or \
            \(Self.objectsOnly)
            """
        case .newerQueue(let name, let found, let known):
            """
            the queue of \"\(name)\" has version \(found), this program knows up to \(known): \
            \(Self.objectsOnly)
            """
        case .unusableQueue(let name, let reason):
            "the queue of \"\(name)\" cannot be read: \(reason); \(Self.objectsOnly)"
        case .unreadableOperation(let row, let reason):
            "the operation in row \(row) of the queue cannot be translated: \(reason)"
        case .refusedOperation(let uuid, let reason):
            "the queue refuses the operation \(uuid): \(reason)"
        case .unreadableData(let reason): reason
        default: "unknown"
        }
    }
}

extension YapDatabaseError: LocalizedError {
    /// The description, which is in English.
    public var errorDescription: String? { description }
}
