public import GRDB
public import GodwitTree

/// A view of one commit, for as long as the body that borrows it.
///
/// A transaction cannot be kept and its body cannot wait: the compiler refuses both. So no
/// transaction is ever open while a network is slow, and none is used after its end.
public protocol Transaction: ~Copyable {
    /// The database connection, for the app's own tables in the same transaction.
    var database: Database { get }
}

extension Transaction where Self: ~Copyable {
    /// The object under a key, or nil.
    ///
    /// - Throws: ``StoreError/damagedObject(_:)``, or `DecodingError` when the object is of
    ///   another type.
    public borrowing func get<Object>(
        _ key: String,
        in collection: Store.Collection<Object>
    ) throws -> Object? {
        guard let value = try ObjectTable.value(of: collection.key(key), in: database) else {
            return nil
        }
        return try ValueDecoder().decode(Object.self, from: value)
    }

    /// The object under a key as plain data, or nil.
    public borrowing func value(of key: ObjectKey) throws -> Value? {
        try ObjectTable.value(of: key, in: database)
    }

    /// All keys of a collection, in byte order.
    public borrowing func keys<Object>(in collection: Store.Collection<Object>) throws -> [String] {
        try ObjectTable.keys(of: collection.name, in: database)
    }

    /// How many objects a collection has.
    public borrowing func count<Object>(in collection: Store.Collection<Object>) throws -> Int {
        try ObjectTable.count(of: collection.name, in: database)
    }

    /// The last commit that this transaction can see, its own not included.
    public borrowing func lastCommit() throws -> CommitNumber {
        try CommitTable.last(in: database)
    }
}

/// Reads what was committed when it began, and nothing later.
public struct ReadTransaction: Transaction, ~Copyable {
    public let database: Database
}
