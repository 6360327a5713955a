#if PostgreSQL
internal import GodwitReplication

/// Which heads are to be read, and which are being read: each replica at most once, as a value.
///
/// 1. A replica waits at most once, and is being read at most once.
/// 2. One that is noted while it is being read is read again: the note may be of a newer head.
/// 3. At most `runningMax` are being read, and at most `countMax` wait, besides those that were read.
struct HeadNotes {
    /// The replicas that wait, in the order in which they were noted.
    private var waiting: [ReplicaName] = []
    /// Where in `waiting` the next one is: those before it are gone.
    private var start = 0
    /// All that wait.
    private var noted: Set<ReplicaName> = []
    /// The replicas that are being read, and whether they were noted again.
    private var running: [ReplicaName: Bool] = [:]
    private let runningMax: Int
    private let countMax: Int

    init(runningMax: Int, countMax: Int) {
        (self.runningMax, self.countMax) = (runningMax, countMax)
    }

    var waitingCount: Int { noted.count }

    /// Notes that a replica may have a new head, unless too many are noted.
    mutating func note(_ name: ReplicaName) {
        guard running[name] == nil else {
            running[name] = true
            return
        }
        if noted.count < countMax { enqueue(name) }
    }

    /// Takes the replica that waits longest; nil when none waits, or enough are being read.
    mutating func begin() -> ReplicaName? {
        guard running.count < runningMax, start < waiting.count else { return nil }
        let name = waiting[start]
        start += 1
        if 2 * start >= waiting.count {
            waiting.removeFirst(start)
            start = 0
        }
        noted.remove(name)
        running[name] = false
        return name
    }

    /// Ends what ``begin()`` began.
    mutating func end(_ name: ReplicaName) {
        if running.removeValue(forKey: name) == true { enqueue(name) }
    }

    private mutating func enqueue(_ name: ReplicaName) {
        if noted.insert(name).inserted { waiting.append(name) }
    }
}
#endif
