public import GRDB
public import GodwitQueue
internal import GodwitStore
internal import GodwitTree

/// Brings a file of YapDatabase into a store: objects, and what CloudCore keeps beside them.
///
/// ```swift
/// var source = YapDatabaseImport("/tmp/database.sqlite")
/// source.decoders["contacts"] = .codable(Contact.self)
/// source.translate = { operation, placement in
///     guard operation.className == "UploadOperation" else { return nil }
///     return UploadContact(id: operation.fields["contactID"]?.text ?? "")
/// }
/// let report = try await source.run(into: store)
/// ```
///
/// The file is opened for reading only, and read as it is at one moment; what its `-wal` holds is part of
/// that. An import can be run again, after a crash too: what is in the store already stays, and no
/// operation comes twice. What cannot be imported is left out, and the report names it. Views and other
/// extensions of YapDatabase are not imported: their tables are made of the objects, as a store's indexes
/// are.
public struct YapDatabaseImport: Sendable {
    /// What a file holds that can be imported.
    public enum Part: String, Hashable, Sendable, CaseIterable {
        case objects
        /// CloudCore's tags.
        case tags
        /// Which objects CloudCore has attached to which places in the cloud.
        case attachments
        /// CloudCore's queue.
        case operations
    }

    /// Makes an operation of the app's from one of CloudCore's; nil if the app does not need it any more.
    ///
    /// `placement` has what CloudCore knew: pipeline, priority, user info and dependencies. It may be
    /// changed, but for the id, which is the operation's UUID, and `mayMerge`, which is false: CloudCore
    /// may have started the operation. The body runs in the transaction that imports the queue, and must
    /// not wait.
    public typealias Translate =
        @Sendable (_ operation: YapCloudOperation, _ placement: inout Placement) throws
        -> (any PushOperation)?

    /// Where the file is.
    public let path: String
    public var parts = Set(Part.allCases)
    /// The collections whose objects, and their attachments, are imported; nil for all of them.
    public var collections: Set<String>?
    /// The store's names for collections that have another one there.
    ///
    /// YapDatabase's `nil` is the collection "". Two collections may become one: of two objects with the
    /// same key, the first one read stays.
    public var collectionNames: [String: String] = [:]
    /// What reads the objects of a collection that ``decoders`` does not name.
    public var decoder = YapObjectDecoder.keyedArchive
    /// What reads the objects, by collection.
    public var decoders: [String: YapObjectDecoder] = [:]
    /// What reads the metadata of a collection that ``metadataDecoders`` does not name.
    public var metadataDecoder = YapObjectDecoder.keyedArchive
    /// What reads the metadata, by collection.
    public var metadataDecoders: [String: YapObjectDecoder] = [:]
    /// Whether objects and tags replace those that the store has already.
    ///
    /// They do not by default: what the app has changed since an earlier import stays changed.
    public var replacesExisting = false
    /// The name under which CloudCore was registered; nil for the only one that the file has.
    public var cloudCore: String?
    /// Makes the app's operations of CloudCore's; nil to import none: the report counts those that wait.
    public var translate: Translate?
    /// Reads the bytes of an operation; for an app that gave CloudCore a serializer of its own.
    public var readOperation: @Sendable ([UInt8]) throws -> YapCloudOperation.Outline = {
        try YapCloudOperation.Outline(keyedArchive: $0)
    }
    /// Whether the queue is imported only if each of its operations can be.
    ///
    /// Otherwise those that cannot are left out, and the operations that depend on them run without them.
    public var requiresAllOperations = false
    /// Prepares the connection to the file; an encrypted file gets its key here.
    public var prepareConnection: (@Sendable (Database) throws -> Void)?

    public init(_ path: String) { self.path = path }

    func name(of collection: String) -> Key { Key(collectionNames[collection] ?? collection) }

    func isWanted(_ collection: String) -> Bool { collections?.contains(collection) ?? true }
}
