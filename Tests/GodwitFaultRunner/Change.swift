import GRDB
import GodwitStore
import GodwitTree

/// A part of a transaction, and beside it what it makes of the objects.
struct Change: Sendable {
    let perform: @Sendable (borrowing WriteTransaction) throws -> Void
    let apply: @Sendable (inout Contents) -> Void
}

extension Change {
    static func set(_ key: Key, to value: Value, in collection: Key = "things") -> Change {
        Change {
            try $0.setValue(value, of: ObjectKey(collection: collection, key: key))
        } apply: {
            $0[collection, key] = value
        }
    }

    /// Puts metadata beside an object, which stays as it is.
    static func describe(_ key: Key, as metadata: Value) -> Change {
        Change {
            let things = Store.Collection<Value>("things")
            try $0.replaceMetadata(metadata, of: key.text, in: things)
        } apply: { _ in
        }
    }

    static func remove(_ key: Key, in collection: Key = "things") -> Change {
        Change {
            try $0.remove(key.text, in: Store.Collection<Value>(collection))
        } apply: {
            $0[collection, key] = nil
        }
    }

    static func removeAll(in collection: Key = "things") -> Change {
        Change { transaction in
            let values = Store.Collection<Value>(collection)
            for key in try transaction.keys(in: values) { try transaction.remove(key, in: values) }
        } apply: {
            $0.removeAll(in: collection)
        }
    }

    /// Many objects with values of a few bytes.
    static func fill(_ count: Int, from first: Int = 0, in collection: Key = "things") -> Change {
        all(
            (first..<first + count).map { .set(Key("n\($0)"), to: .int(Int64($0)), in: collection) }
        )
    }

    /// Adds one to a number that the transaction reads first.
    static func increase(_ key: Key) -> Change {
        let place = ObjectKey(collection: "things", key: key)
        return Change {
            let old = try $0.value(of: place)?.integer ?? 0
            try $0.setValue(.int(old + 1), of: place)
        } apply: {
            $0["things", key] = .int(($0["things", key]?.integer ?? 0) + 1)
        }
    }

    static func move(_ key: Key, from source: Key, to target: Key) -> Change {
        Change { transaction in
            let value = try transaction.value(of: ObjectKey(collection: source, key: key))
            guard let value else { return }
            try transaction.setValue(value, of: ObjectKey(collection: target, key: key))
            try transaction.remove(key.text, in: Store.Collection<Value>(source))
        } apply: { contents in
            guard let value = contents[source, key] else { return }
            contents[target, key] = value
            contents[source, key] = nil
        }
    }

    /// A row in a table of the app's own, made when it is not there.
    static func insertRow(_ key: Key, _ number: Int64) -> Change {
        Change { transaction in
            try transaction.database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS own_table (key TEXT PRIMARY KEY, number INTEGER);
                    INSERT OR REPLACE INTO own_table VALUES (?, ?)
                    """,
                arguments: [key.text, number]
            )
        } apply: {
            $0[Contents.ownTable, key] = .int(number)
        }
    }

    static func all(_ changes: [Change]) -> Change {
        Change { transaction in
            for change in changes { try change.perform(transaction) }
        } apply: { contents in
            for change in changes { change.apply(&contents) }
        }
    }
}

extension Change {
    /// Sets an object, of which ``Mirror`` then makes another one.
    static func setMirrored(_ key: Key, to value: Value) -> Change {
        let set = Change.set(key, to: value)
        return Change(perform: set.perform) {
            set.apply(&$0)
            $0["mirror", key] = value
        }
    }

    /// Removes an object, and with it the one that ``Mirror`` made of it.
    static func removeMirrored(_ key: Key) -> Change {
        let remove = Change.remove(key)
        return Change(perform: remove.perform) {
            remove.apply(&$0)
            $0["mirror", key] = nil
        }
    }
}

/// Keeps a second object for each thing, within the same commit; refuses the number 13.
struct Mirror: TransactionHook {
    struct Refusal: Error {}

    let collections: Set<Key>? = ["things"]

    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        for change in changes {
            let value = try change.newValue()
            if value == .some(13) { throw Refusal() }
            let mirrored = ObjectKey(collection: "mirror", key: change.key.key)
            if let value {
                try transaction.setValue(value, of: mirrored)
            } else {
                try transaction.removeValue(of: mirrored)
            }
        }
    }
}
