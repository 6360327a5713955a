import GodwitQueue

@testable import GodwitStore

/// The other side of the pushes: it remembers what it was sent, and by which idempotency key.
struct Cloud {
    /// The newest content of each place; nil for what is not there.
    private(set) var contents: [ObjectKey: Note] = [:]
    /// What has arrived, by idempotency key.
    private(set) var keys: Set<String> = []
    /// The pushes under way, and the launch that sends each.
    var active: [OperationID: Int] = [:]

    mutating func put(_ note: Note?, at place: ObjectKey, key: String) {
        keys.insert(key)
        contents[place] = note
    }
}

/// What the cloud does with a request.
enum Reply: CaseIterable {
    case done
    /// The work is done, the answer is lost.
    case lost
    case refusedConnection
    case busy
    case askedToSlowDown
    /// It will never take it.
    case refused
    /// It has another version.
    case conflict
    /// It takes nothing more before the user logs in again.
    case loggedOut
}
