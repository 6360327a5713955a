/// When a group of requests is committed, and how many may wait.
public struct WriteLimits: Hashable, Sendable {
    /// A group ends when it has changed this many objects; ``Store/saveThreshold`` changes it while
    /// the store is open.
    public var saveThreshold = 500
    /// A group ends when the objects it has changed take this many bytes.
    public var bytesMax = 1 << 20
    /// A group ends when it has been open for so long.
    public var ageMax: Duration = .milliseconds(20)
    /// Beyond so many waiting requests `writeLater` refuses.
    public var queueMax = 65_536
    /// The WAL is copied into the database when it has so many pages and the writer is idle; four
    /// times as many while several writers leave it idle for moments only.
    public var idleCheckpointPages = 1_000
    /// The WAL is copied into the database when it has so many pages, idle or not.
    public var checkpointPages = 8_000

    public init() {}

    /// Whether a group takes in no further request.
    func isFull(_ group: GroupSize) -> Bool {
        group.objectCount >= saveThreshold || group.byteCount >= bytesMax || group.age >= ageMax
    }
}

/// How large an open group has become.
struct GroupSize {
    var objectCount = 0
    var byteCount = 0
    var age: Duration = .zero
}

/// What has to survive before a write returns.
public enum Durability: Hashable, Sendable {
    /// The crash of the machine: the change is on the disk.
    case durable
    /// The crash of the process. At a power failure the last relaxed commits may be lost, newest
    /// first; never half of one, and none before a durable one.
    case relaxed
}
