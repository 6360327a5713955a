internal import GRDB
public import GodwitStore
public import GodwitTree

// Objects that arrive, and that a hook of the app refuses.
//
// A hook sees all that a transaction changes, and rolls all of it back. So the answer is taken in once
// more, without the objects; then they are tried again, in halves, until those are left that the
// hook refuses alone. The exchange goes on.

extension Replica {
    /// What becomes of the objects that an answer brings.
    public enum Arrivals: Sendable {
        case taken
        /// They stay beside the store until ``Replica/retryRefused()``, because a hook has refused
        /// the transaction with them.
        case heldBack
    }

    /// Whether a transaction has failed because a hook of the app refuses what it changes.
    ///
    /// - Parameter error: What ``receive(_:to:_:in:)`` has thrown, or the transaction around it.
    public static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case is ReplicationError, is StoreError, is TreeError, is CancellationError: false
        case let error as DatabaseError: error.resultCode == .SQLITE_CONSTRAINT
        default: true
        }
    }

    /// The objects of the server that a hook refuses, by key; nil for a removal.
    ///
    /// The store has an older object, or none. It counts as the app's own when the app writes it.
    public func refusedObjects() async throws -> [ObjectKey: Value?] {
        let number = number
        return try await store.read { transaction in
            var objects: [ObjectKey: Value?] = [:]
            for key in try PendingTable.refused(of: number, in: transaction.database) {
                let row = try PendingTable.row(key, of: number, in: transaction.database)
                objects[key] = .some(row?.base?.value)
            }
            return objects
        }
    }

    /// Tries again to take in the objects that a hook has refused.
    ///
    /// Opening a replica does the same: the app may be a newer one.
    public func retryRefused() async throws {
        let number = number
        let keys = try await store.read { transaction in
            try PendingTable.refused(of: number, in: transaction.database)
        }
        try await takeIn(keys[...])
    }

    private func takeIn(_ keys: ArraySlice<ObjectKey>) async throws {
        guard !keys.isEmpty else { return }
        do {
            try await store.write { [self] transaction in
                for key in keys { try takeIn(key, in: transaction) }
            }
        } catch  where Self.isRefusal(error) {
            guard keys.count > 1 else { return }
            let middle = keys.startIndex + keys.count / 2
            try await takeIn(keys[..<middle])
            try await takeIn(keys[middle...])
        }
    }

    private func takeIn(_ key: ObjectKey, in transaction: borrowing WriteTransaction) throws {
        let database = transaction.database
        guard let row = try PendingTable.row(key, of: number, in: database),
            row.rejection == .refusedHere
        else { return }
        if let object = row.base {
            try transaction.setValue(object.value, version: object.version, of: key)
        } else {
            try transaction.removeValue(of: key)
        }
        try PendingTable.set(nil, key, of: number, in: database)
    }
}
