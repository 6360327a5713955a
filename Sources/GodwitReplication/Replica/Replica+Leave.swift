internal import GRDB
public import GodwitStore
public import GodwitTree

extension Replica {
    /// Whether a store has a replica, open or not.
    public static func exists(
        _ name: ReplicaName,
        server: String = "main",
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> Bool {
        let database = transaction.connection
        guard try database.tableExists("godwit_device_replica") else { return false }
        return try DeviceTable.exists(name, server: server, in: database)
    }

    /// The collections of the replicas of this name; empty when the store has none.
    public static func collections(
        of name: ReplicaName,
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> Set<Key> {
        let database = transaction.connection
        guard try database.tableExists("godwit_device_replica") else { return [] }
        return try DeviceTable.names(in: database).filter { $0.1 == name.text }.reduce(into: []) {
            $0.formUnion(try DeviceTable.collections(of: $1.0, in: database))
        }
    }

    /// Takes the replica out of the store: its tables forget it, and its objects are the app's own.
    ///
    /// The replica does nothing any more afterwards; close it.
    ///
    /// - Parameters:
    ///   - removingObjects: Whether the objects go too, unless another replica has their collection.
    ///   - discardingChanges: Whether changes that the server does not have may be given up.
    ///   - transaction: The transaction that leaves the replica.
    /// - Throws: ``ReplicationError/unsentChanges(_:count:)``, ``ReplicationError/unknownReplica(_:)`` when
    ///   it was left already.
    public func leave(
        removingObjects: Bool,
        discardingChanges: Bool,
        in transaction: borrowing WriteTransaction
    ) throws {
        let database = transaction.connection
        try checkExistence(in: transaction.connection)
        let refused = try PendingTable.refused(of: number, in: database)
        let count = try PendingTable.count(of: number, in: database) - refused.count
        guard discardingChanges || count == 0 else {
            throw ReplicationError.unsentChanges(name.text, count: count)
        }
        let collections = try DeviceTable.collections(of: number, in: database)
        try DeviceTable.remove(number, of: server, in: database)
        transaction.touch()
        guard removingObjects else { return }
        for collection in collections.sorted()
        where try !DeviceTable.isReplicated(collection, in: database) {
            for key in try transaction.keys(in: StoreCollection<Value>(collection)) {
                try transaction.removeValue(of: ObjectKey(collection: collection, key: Key(key)))
            }
        }
    }
}
