internal import GodwitStore
internal import GodwitTree

/// A request of a replica: the message to send, and what the device remembers to read the answer.
package struct ReplicaRequest: Hashable, Sendable {
    /// The client in whose name it is sent.
    package let client: ClientID
    let request: DeviceRequest
    let message: WireRequest
    /// What the server can read.
    let server: WireFeatures

    /// The message, as the transport carries it.
    package var bytes: [UInt8] { message.frame.bytes(for: server) }

    /// Whether it goes on with a comparison.
    package var isComparison: Bool {
        if case .comparison = request { true } else { false }
    }

    /// Whether its answer leads on even where the base stays: others of its kind follow.
    package var isStep: Bool {
        switch request {
        case .comparison, .restoration: true
        case .exchange, .recovery: false
        }
    }

    /// Whether it brings changes, and not only asks for those of others.
    package var carriesChanges: Bool {
        switch request {
        case .exchange(let request): request.slot.batch != nil
        case .restoration: true
        case .recovery, .comparison: false
        }
    }

    /// How many objects its batch has; a batch of several can be cut into smaller ones.
    package var batchCount: Int { batch?.changes.count ?? 0 }

    /// Whether it gives one object alone back, which cannot be cut into smaller pieces.
    package var givesBackOne: Bool {
        if case .restoration(let request) = request { request.objects.count == 1 } else { false }
    }

    /// Whether its batch has only rules for merges and records of conflicts, and nothing that a user has edited.
    package var carriesRecordsOnly: Bool { batch?.changes.keys.allSatisfy(\.isReserved) ?? false }

    var batch: Batch? {
        if case .exchange(let request) = request { request.slot.batch } else { nil }
    }
}
