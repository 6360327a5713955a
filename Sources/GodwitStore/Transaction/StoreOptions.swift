package import GodwitTree
public import Metrics

/// How a store is opened; the defaults are right for an app with one process.
public struct StoreOptions: Sendable {
    public enum Access: Hashable, Sendable {
        case readWrite
        /// Looks at a store on disk, also while another process writes to it.
        case readOnly
    }

    public enum Processes: Hashable, Sendable {
        /// A second opener gets ``StoreError/alreadyOpen(path:)`` at once.
        case one
        /// Several openers share the store, an app and its extension for instance; all of
        /// them must say so. Each sees the others' change sets; see
        /// ``Store/followOtherProcesses(every:clock:)``.
        case several
    }

    /// What happens when a file turns out to be damaged, or no database at all.
    public enum Recovery: Hashable, Sendable {
        /// Opening throws, the file is left alone.
        case refuse
        /// The file is set aside under another name, and the store begins empty.
        case quarantine
        /// The file is set aside, and what can be read of it is taken over.
        case salvage
    }

    public var access: Access = .readWrite
    public var processes: Processes = .one
    public var recovery: Recovery = .refuse
    /// The migrations of the app's own tables.
    public var migrations: [StoreMigration] = []
    public var collections: [CollectionRules] = []
    public var limits = WriteLimits()
    /// How much memory the object cache may take; 0 for no cache.
    public var cacheSizeInBytes = 16 << 20
    /// How much memory may go into what frozen views still show and newer commits do not.
    public var viewSizeInBytes = 64 << 20
    public var identifiers: Identifiers = .random
    public var clock: StoreClock = .system
    /// Runs the work on the connections; nil for GRDB's own threads.
    package var laneScheduler: LaneScheduler?
    /// Where the store's metrics go; their labels begin with `godwit.store`.
    public var metrics: any MetricsFactory = MetricsSystem.factory

    public init() {}

    /// The rules for merges that the collections' types declare, by the collections' names.
    package var mergePolicies: [Key: MergePolicy] {
        Dictionary(collections.compactMap { rules in rules.mergePolicy.map { (rules.name, $0) } }) {
            $1
        }
    }

    /// Whether the type that the app has named for a collection can decode an object; true where it
    /// has named none, or where a newer app has written the object.
    package func isReadable(_ value: Value, version: Int, at key: ObjectKey) -> Bool {
        guard let rules = collections.first(where: { $0.name == key.collection }),
            version <= rules.version
        else { return true }
        do {
            let upgraded = try rules.upgraded(value, at: key, from: version)
            _ = try rules.retyped(upgraded, at: key)
            return true
        } catch {
            return false
        }
    }

    /// Whether others may commit what this opener has not.
    var hasOtherWriters: Bool { processes == .several || access == .readOnly }

    public static var readOnly: StoreOptions {
        var options = StoreOptions()
        options.access = .readOnly
        return options
    }
}
