internal import GRDB
public import GodwitTree

/// Why a store refused; each case is named after what has to be mended.
///
/// Whatever throws one of these has changed nothing, but for ``mustReopen(reason:)``, which says
/// that the store does not know.
public enum StoreError: Error, Hashable, Sendable {
    // Opening

    /// Another process, or another part of this one, has the store open for writing.
    case alreadyOpen(path: String)
    /// There is no store at this path.
    case noStore(path: String)
    /// The file is something else than an SQLite database.
    case notADatabase(path: String)
    /// SQLite finds the file damaged.
    case corrupt(path: String, reason: String)
    /// The file, or its folder, cannot be written to.
    case readOnly(path: String)
    /// The file cannot be opened.
    case unavailable(path: String, reason: String)
    /// A newer version of the app has written the file.
    case newerSchema(name: String, found: Int, known: Int)
    /// A version of the app that is too old to be upgraded from has written the file.
    case olderSchema(name: String, found: Int, oldest: Int)
    /// A newer version of the app has run migrations that this one does not have.
    case newerMigrations([String])
    /// The database that was handed in is not one that a store can live in.
    case unusable(reason: String)

    // Objects

    /// An object's bytes are not those that were written.
    case damagedObject(ObjectKey)
    /// The object is not one of the app's type, or its upgrade has failed.
    case unreadableObject(ObjectKey, reason: String)
    /// A collection has not the objects that were written.
    case damagedCollection(Key)
    /// The store's own books are damaged.
    case damagedLedger(reason: String)
    /// An object nests deeper than a store takes.
    case tooDeep(ObjectKey, limit: Int)
    /// A newer version of the app has written the object.
    case newerObject(ObjectKey, found: Int, known: Int)
    /// There is no such object, whose metadata could be replaced.
    case noObject(ObjectKey)
    /// Another commit has changed the object than the one that the writer has read; nil stands for no
    /// object.
    case commitMismatch(ObjectKey, expected: CommitNumber?, found: CommitNumber?)
    /// A row of the store's own tables was written by hand.
    case changedBehindTheStore(ObjectKey)
    /// The collection's rules declare no such index.
    case noIndex(String, collection: Key)
    /// A newer version of the app has built the index: this program can neither keep it nor search it.
    case newerIndex(String, collection: Key, found: Int, known: Int)
    /// A query names a field that it cannot look into.
    case unusableField(String, reason: String)

    // Writing

    /// The store is closed.
    case closed
    /// So many writes wait already that `writeLater` takes in no more.
    case overloaded(limit: Int)
    /// The disk is full; the store goes on when there is room again.
    case diskFull
    /// The disk could not read or write.
    case inputOutput(reason: String)
    /// The disk did not confirm a commit. Whether it survives is not known before the store is
    /// opened again; until then it takes no writes.
    case mustReopen(reason: String)
    /// The store has a hook of this name: a replica, say, is open on it already.
    case hookExists(name: String)
    /// Hooks went on answering each other's changes.
    case endlessHooks(rounds: Int)
    /// A transaction's body has committed or rolled back behind the store's back.
    case transactionEnded
    /// The store cannot take part: there is no transaction, it is one of another database or
    /// connection, or one of the store's own, which has a `WriteTransaction` already.
    case foreignTransaction
    /// The app has rolled a savepoint back in its transaction, and the store's part with it: the
    /// whole transaction has to be rolled back before the store takes part again.
    case savepointRolledBack

    // Views

    /// So much was written since the view's commit that it cannot be shown any more: advance.
    case viewOvertaken(CommitNumber)
}

extension StoreError {
    /// - Parameter error: What a decoder or an upgrade has thrown; one of the store's own stays.
    init(unreadable key: ObjectKey, because error: any Error) {
        self =
            switch error {
            case let error as StoreError: error
            case let error as DecodingError: .unreadableObject(key, reason: error.reason)
            default: .unreadableObject(key, reason: String(describing: error))
            }
    }

    /// Whether one object cannot be read, and the others of its collection can.
    package var isOfOneObject: Bool {
        switch self {
        case .unreadableObject, .newerObject: true
        default: false
        }
    }
}

extension StoreError {
    /// Whether the store takes no writes any more until it is opened again.
    package var endsWriting: Bool {
        switch self {
        case .closed, .mustReopen: true
        default: false
        }
    }

    /// Whether the store or its disk has failed, or the task was cancelled: no hook and no limit refused.
    static func isFailure(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError: true
        case let error as DatabaseError: error.resultCode != .SQLITE_CONSTRAINT
        case let error as StoreError:
            switch error {
            case .diskFull, .inputOutput, .mustReopen, .corrupt, .closed, .damagedLedger: true
            default: false
            }
        default: false
        }
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        openingDescription ?? objectDescription ?? writingDescription
    }

    private var openingDescription: String? {
        switch self {
        case .alreadyOpen(let path):
            "\(path) is already open for writing, here or in another process"
        case .noStore(let path): "there is no store at \(path)"
        case .notADatabase(let path): "\(path) is not an SQLite database"
        case .corrupt(let path, let reason): "\(path) is damaged: \(reason)"
        case .readOnly(let path): "\(path) cannot be written to"
        case .unavailable(let path, let reason): "\(path) cannot be opened: \(reason)"
        case .newerSchema(let name, let found, let known):
            "the store's \(name) has version \(found), this program knows up to \(known): update it"
        case .olderSchema(let name, let found, let oldest):
            """
            the store's \(name) has version \(found), this program reads \(oldest) and later: make \
            the store anew
            """
        case .newerMigrations(let names):
            "this app lacks migrations that the store has had, \(names.joined(separator: ", ")): update it"
        case .unusable(let reason): "the database cannot hold a store: \(reason)"
        default: nil
        }
    }

    private var objectDescription: String? {
        switch self {
        case .damagedObject(let key): "the stored object \(key) is damaged"
        case .unreadableObject(let key, let reason): "the object \(key) cannot be read: \(reason)"
        case .damagedCollection(let collection):
            "the collection \(collection) has lost objects, or has some that were not written"
        case .damagedLedger(let reason): "the store is damaged: \(reason)"
        case .tooDeep(let key, let limit): "the object \(key) nests deeper than \(limit) levels"
        case .newerObject(let key, let found, let known):
            "the object \(key) has version \(found), this program knows up to \(known)"
        case .noObject(let key): "there is no object \(key)"
        case .commitMismatch(let key, let expected, let found):
            """
            the object \(key) is of commit \(found.map(\.description) ?? "none"), and not of \
            \(expected.map(\.description) ?? "none"): read it again
            """
        case .changedBehindTheStore(let key): "the row of \(key) was not written by the store"
        case .noIndex(let name, let collection):
            "the collection \(collection) has no index \"\(name)\" like this"
        case .newerIndex(let name, let collection, let found, let known):
            """
            the index \"\(name)\" of \(collection) is of version \(found), this program knows up to \
            \(known): update it
            """
        case .unusableField(let field, let reason): "a query cannot use \(field): \(reason)"
        default: nil
        }
    }

    private var writingDescription: String {
        switch self {
        case .closed: "the store is closed"
        case .overloaded(let limit): "\(limit) writes wait already"
        case .diskFull: "the disk is full"
        case .inputOutput(let reason): "the disk failed: \(reason)"
        case .mustReopen(let reason):
            "the disk did not confirm a commit (\(reason)); the store must be opened again"
        case .hookExists(let name): "the store has a hook named \"\(name)\" already"
        case .endlessHooks(let rounds): "the hooks found no end in \(rounds) rounds"
        case .transactionEnded: "the transaction was ended within its body"
        case .foreignTransaction: "the store cannot take part in this transaction"
        case .savepointRolledBack:
            "a savepoint with changes of the store was rolled back; roll the transaction back"
        case .viewOvertaken(let commit):
            "commit \(commit) was overtaken by too many changes; advance the view"
        default: "unknown"
        }
    }
}
