internal import GRDB
internal import GodwitTree
internal import Synchronization

/// The versions that all transactions and views of a store share.
final class ObjectCache: Sendable {
    private let versions: Mutex<VersionCache>

    init(_ versions: sending VersionCache) { self.versions = Mutex(versions) }

    func withVersions<Result: ~Copyable>(
        _ body: (inout sending VersionCache) throws -> sending Result
    ) rethrows -> sending Result {
        try versions.withLock(body)
    }

    /// The object as a transaction sees it whose snapshot is this commit.
    func object(
        at key: ObjectKey,
        commit: CommitNumber,
        in database: Database
    ) throws -> StoredObject? {
        if case .hit(let object) = versions.withLock({ $0.lookUp(key, at: commit) }) {
            return object
        }
        let object = try ObjectTable.object(at: key, in: database)
        versions.withLock { $0.fill(key, with: object, readAt: commit) }
        return object
    }
}
