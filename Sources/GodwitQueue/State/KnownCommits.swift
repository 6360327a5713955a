internal import GodwitStore

/// How far memory is in line with what is committed.
struct KnownCommits {
    enum Phase {
        /// Nothing is known; the database has everything.
        case unloaded
        /// The operations of some commit are being read; what is committed meanwhile is kept.
        case loading([QueueJournal.Entry])
        /// Other processes have committed something that is yet to be read, from this commit on; what
        /// this process commits after that is kept.
        case behind([QueueJournal.Entry], from: CommitNumber)
        /// In line with every commit up to this one.
        case loaded(CommitNumber)
    }

    var phase = Phase.unloaded
    /// The number of the latest reading; an earlier one that ends later changes nothing.
    private(set) var reading = 0
    /// The commit that the last reading has shown: the queue knows what it did, even when the writer
    /// tells of it later.
    var through = CommitNumber.none
    /// The last commit of another process that is known to be there.
    var lastElsewhere = CommitNumber.none
    /// How many tasks take in what other processes commit.
    var followerCount = 0
    /// Operations that were read and neither wait nor are in line yet.
    var unusual: [OperationNumber: QueuedOperation.State] = [:]
    /// The tasks that wait for the end of a reading.
    var waiters: [Waiters.Effect] = []

    mutating func begin(_ entries: [QueueJournal.Entry]) -> Int {
        phase = .loading(entries)
        reading += 1
        return reading
    }

    mutating func fail() {
        phase = .unloaded
        reading += 1
    }

    /// The entries that a reading has to be followed by; nil for a reading that was overtaken.
    func entries(of reading: Int) -> [QueueJournal.Entry]? {
        guard reading == self.reading, case .loading(let entries) = phase else { return nil }
        return entries
    }

    /// Keeps a commit of this process that comes before the end of a reading.
    ///
    /// - Returns: Whether there is one to wait for, or nothing is known.
    mutating func keep(_ entry: QueueJournal.Entry) -> Bool {
        // The entries are taken out, not copied: an app may commit much while a long queue is read.
        switch phase {
        case .unloaded: return true
        case .loading(var entries):
            phase = .unloaded
            entries.append(entry)
            phase = .loading(entries)
            return true
        case .behind(var entries, let first):
            phase = .unloaded
            entries.append(entry)
            phase = .behind(entries, from: first)
            return true
        case .loaded: return false
        }
    }
}
