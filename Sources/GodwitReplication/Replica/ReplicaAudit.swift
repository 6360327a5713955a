internal import GRDB
public import GodwitStore
internal import GodwitTree

/// What a store has of a replica, read whole, and whether its rows fit together.
public struct ReplicaAudit: Sendable {
    /// The objects: the head's on a server, the store's on a device.
    public let objects: [ObjectKey: VersionedValue]
    /// What does not fit together; empty for a sound replica.
    public let problems: [String]

    /// Reads all of a replica.
    ///
    /// - Complexity: O(*n*) in the size of the replica, in memory too.
    /// - Throws: ``ReplicationError/unknownReplica(_:)``, or ``ReplicationError/damagedHistory(reason:)``
    ///   where a row cannot be read.
    public init(_ name: String, _ role: ReplicaRecord.Role, in store: Store) async throws {
        self = try await store.read { transaction in
            switch role {
            case .server: try ReplicaAudit(line: name, in: transaction.connection)
            case .device: try ReplicaAudit(device: name, in: transaction)
            }
        }
    }

    private init(_ objects: [ObjectKey: VersionedValue], _ problems: [String]) {
        (self.objects, self.problems) = (objects, problems)
    }
}

extension ReplicaAudit {
    private init(line name: String, in database: Database) throws {
        let line = try LineTable.number(of: ReplicaName(name), in: database)
        let stored = try LineObjectTable.all(of: line, in: database).compactMapValues(\.value)
        let collections = try LineTable.collections(of: line, in: database)
            .union(stored.keys.map(\.collection))
        let head = try LineTable.head(of: line, collections: collections, in: database)
        var problems: [String] = []
        let found = ContentSum(of: stored)
        if found.digest != head.state.id.content {
            problems.append("the objects are not those of the head \(head.state.id)")
        }
        for name in collections.sorted() where found.collections[name] != head.sum.collections[name]
        {
            problems.append("the count or the sum of \"\(name)\" is wrong")
        }
        self.init(stored, problems)
    }

    private init(device name: String, in transaction: borrowing ReadTransaction) throws {
        let database = transaction.connection
        let numbers = try DeviceTable.names(in: database).filter { $0.1 == name }.map(\.0)
        guard let number = numbers.first else { throw ReplicationError.unknownReplica(name) }
        var base: [ObjectKey: VersionedValue] = [:]
        for collection in try DeviceTable.collections(of: number, in: database) {
            for key in try transaction.keys(in: StoreCollection<Value>(collection)) {
                let place = ObjectKey(collection: collection, key: Key(key))
                base[place] = try transaction.source.versionedValue(at: place).map {
                    VersionedValue($0.value, version: $0.version)
                }
            }
        }
        let objects = base
        for (key, row) in try PendingTable.all(of: number, in: database) { base[key] = row.base }
        let replica = try DeviceTable.replica(number, in: database)
        var problems: [String] = []
        if replica.sum.digest != replica.base.id.content {
            problems.append("the sum is not that of the base \(replica.base.id)")
        }
        if ContentSum(of: base) != replica.sum {
            problems.append("the objects without their changes are not those of the base")
        }
        self.init(objects, problems)
    }
}

extension ContentSum {
    fileprivate init(of objects: [ObjectKey: VersionedValue]) {
        self = .empty
        for (key, object) in objects { replace(nil, with: object, at: key) }
    }
}
