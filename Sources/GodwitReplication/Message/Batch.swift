public import GodwitStore

/// A run of a replica's line.
///
/// The server mints another one when its line is no longer the continuation of what it has told
/// devices, because it was restored from a backup.
public struct Epoch: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

/// The name of a batch: four random bytes, drawn when the device freezes it.
///
/// Two batches of one client with one number are the same if and only if they have the same name.
/// Their numbers do not tell, because a device and its clone count alike; neither does their
/// content, because both may make the same edit.
package struct BatchName: Hashable, Sendable {
    package let number: UInt32

    package init(_ number: UInt32) { self.number = number }
}

/// Changes that a device has frozen, and sends in the same bytes until it knows their outcome.
package struct Batch: Hashable, Sendable {
    /// The number of the batch; each client counts its own from 1.
    package let sequence: Int64
    package let name: BatchName
    /// A hash of the objects that the batch leads to on the device.
    package let check: UInt32
    /// The changes, each on the object as it is in the base.
    package let changes: [ObjectKey: ObjectDelta]
    /// Objects whose changes may have reached the server before, from a clone of the device.
    ///
    /// Where the head has changed the same place, the head stays.
    package let doubtful: Set<ObjectKey>

    package init(
        sequence: Int64,
        name: BatchName,
        check: UInt32,
        changes: [ObjectKey: ObjectDelta],
        doubtful: Set<ObjectKey> = []
    ) {
        self.sequence = sequence
        self.name = name
        self.check = check
        self.changes = changes
        self.doubtful = doubtful
    }
}

/// What became of a client's last batch.
///
/// The server keeps it, and says it with every answer: an answer may be lost, and the next request
/// may come from a clone of the device.
package struct BatchOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        case accepted
        /// No part of the batch is in the line, because the server refuses these objects.
        case rejected([Rejection])
    }

    package let sequence: Int64
    package let name: BatchName
    package let result: Result

    package init(sequence: Int64, name: BatchName, result: Result) {
        self.sequence = sequence
        self.name = name
        self.result = result
    }
}

/// An object that the server does not take.
public struct Rejection: Hashable, Sendable {
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The value has more bytes than the server takes.
        case tooLarge
        /// The client may not write the object.
        case denied
        /// A hook of the device's app refuses what has arrived: the object stays beside the store.
        case refusedHere
        /// The app has written an object that its hook had refused: both are merged before it is sent.
        case editedHere
        /// The replica has no room for the object: see ``ReplicaServer/Options/replicaSizeMax``.
        case overQuota
    }

    public let key: ObjectKey
    public let reason: Reason
}
