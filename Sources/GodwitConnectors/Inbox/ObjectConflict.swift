public import GodwitQueue
internal import GodwitReplication
internal import GodwitStore
public import GodwitTree

/// A conflict about one object, of a replica's merge or of a cloud that has a newer version.
///
/// ```swift
/// for conflict in try await store.read({ try $0.conflicts(in: contacts) }) {
///     print(conflict.key, conflict.current?.name ?? "removed", conflict.other?.name ?? "removed")
///     try await store.write { try $0.resolve(conflict, in: contacts, .takeOther) }
/// }
/// ```
///
/// The object in the store is ``current``: a merge of a replica has decided already, and a cloud's version
/// waits for a decision. ``other`` is the object as the other decision would leave it.
public struct ObjectConflict<Object: Codable & Sendable>: Identifiable, Sendable {
    /// Where a conflict comes from.
    public enum Origin: Hashable, Sendable {
        /// A merge has kept one side's change at a place of the object.
        case replica(Conflict)
        /// A cloud has refused the push of the object because it has a newer version.
        case cloud(OperationID, reason: String)
    }

    /// A name that no other conflict of the store has.
    public let id: String
    /// The key of the object.
    public let key: String
    public let origin: Origin
    /// The object as it is in the store; nil for none.
    public let current: Object?
    /// The object as ``ConflictResolution/takeOther`` leaves it; nil for none.
    ///
    /// See ``canTakeOther``.
    public let other: Object?
    /// Whether the other decision can still be made: false if the place has changed since, if the cloud's
    /// version was not read, or if the object would not be of the app's type.
    public let canTakeOther: Bool
    /// Which versions the conflict was read from.
    let stamp: Stamp

    /// A conflict with the same stamp is the same one, about the same versions.
    struct Stamp: Hashable, Sendable {
        /// The commit that has last changed the object.
        let commit: CommitNumber?
        /// The cloud's version.
        var theirs: Value?
    }

    /// The key of the conflict in its record.
    let recordKey: Key
}

extension ObjectConflict: Equatable {
    public static func == (left: ObjectConflict, right: ObjectConflict) -> Bool {
        (left.id, left.stamp) == (right.id, right.stamp)
    }
}

/// What an app decides about a conflict.
public enum ConflictResolution<Object: Codable & Sendable>: Sendable {
    /// The object stays as it is in the store; it is pushed over what a cloud has.
    case keep
    /// The other side's change is made after all, or the cloud's version is taken.
    case takeOther
    /// The object becomes this; nil removes it.
    case put(Object?)
}

extension ObjectConflict {
    init(
        _ record: ConflictRecord,
        _ id: Key,
        _ conflict: Conflict,
        in collection: Store.Collection<Object>,
        _ transaction: borrowing some StoreTransaction & ~Copyable
    ) throws {
        let key = record.object.key.text
        self.id = "\(record.object) \(id.text)"
        self.key = key
        recordKey = id
        origin = .replica(conflict)
        current = try transaction.readable(key, in: collection)
        do {
            // nil: the other side has removed the object.
            let value = try record.object(taking: id, in: transaction)
            let object = value.flatMap {
                try? collection.decode($0.value, at: record.object, version: $0.version)
            }
            (other, canTakeOther) = (object, value == nil || object != nil)
        } catch is ReplicationError {
            (other, canTakeOther) = (nil, false)
        } catch let error as StoreError where error.isOfOneObject {
            (other, canTakeOther) = (nil, false)
        }
        stamp = Stamp(commit: try transaction.commit(of: key, in: collection))
    }

    init?(
        _ conflict: PushConflict,
        in collection: Store.Collection<Object>,
        _ transaction: borrowing some StoreTransaction & ~Copyable
    ) throws {
        guard let place = conflict.key, place.collection == collection.name else { return nil }
        let operation = conflict.operation
        id = operation.id.description
        key = place.key.text
        recordKey = ""
        origin = .cloud(operation.id, reason: operation.reason ?? "")
        current = try transaction.readable(key, in: collection)
        let theirs = conflict.theirs == .null ? nil : conflict.theirs
        other = theirs.flatMap {
            try? collection.decode($0, at: place, version: collection.version)
        }
        canTakeOther = conflict.theirs == .null || other != nil
        stamp = Stamp(
            commit: try transaction.commit(of: key, in: collection),
            theirs: conflict.theirs
        )
    }
}
