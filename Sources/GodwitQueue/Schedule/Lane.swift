internal import GodwitStore
internal import HeapModule

extension Schedule {
    /// The operations of one pipeline: who is ready, who runs, which commits are open.
    struct Lane {
        /// Whether operations keep commit order.
        let isOrdered: Bool
        /// How many may run at once; never 0.
        var limit: Int
        var isSuspended = false
        var runningCount = 0
        var line = Line()
        /// What is ready, by host; no heap is empty.
        private(set) var streams: [Int: Heap<ReadyEntry>] = [:]
        /// The hosts that may not have another one yet, each with the time at which it may.
        private(set) var resting: [Int: Duration] = [:]
        /// The first of each stream whose host does not rest, and older ones that are stale.
        private var tops: Heap<Top> = []

        /// - Parameter limit: 0 for any number.
        init(isOrdered: Bool, limit: Int) {
            precondition(limit >= 0, "A lane cannot run fewer than no operations")
            self.isOrdered = isOrdered
            self.limit = limit == 0 ? .max : limit
        }

        var hasRoom: Bool { !isSuspended && runningCount < limit }

        mutating func push(_ entry: ReadyEntry, host: Int) {
            streams[host, default: []].insert(entry)
            if streams[host]?.max == entry { offer(host) }
        }

        mutating func pop(host: Int) {
            _ = streams[host]?.popMax()
            if streams[host]?.isEmpty == true {
                streams[host] = nil
                resting[host] = nil
            } else {
                offer(host)
            }
        }

        /// The first entry of all streams whose hosts do not rest; it may be stale.
        mutating func first() -> Top? {
            while let top = tops.max {
                if isCurrent(top) { return top }
                _ = tops.popMax()
            }
            return nil
        }

        /// Leaves the operations for a host out until a time.
        mutating func rest(_ host: Int, until time: Duration) { resting[host] = time }

        mutating func wake(_ host: Int) {
            if resting.removeValue(forKey: host) != nil { offer(host) }
        }

        private mutating func offer(_ host: Int) {
            guard resting[host] == nil, let entry = streams[host]?.max else { return }
            if tops.count > 2 * streams.count + Self.staleMax {
                tops = Heap(tops.unordered.filter(isCurrent))
            }
            tops.insert(Top(entry: entry, host: host))
        }

        private func isCurrent(_ top: Top) -> Bool {
            resting[top.host] == nil && streams[top.host]?.max == top.entry
        }

        private static let staleMax = 64

        /// How many first entries are kept, stale ones included; for tests.
        var offerCount: Int { tops.count }

        /// Whether each stream is offered whose host does not rest; for tests.
        var offersAll: Bool {
            let offered = Set(tops.unordered.filter(isCurrent).map(\.host))
            return streams.keys.allSatisfy { resting[$0] != nil || offered.contains($0) }
        }
    }

    /// The first entry of one host's stream.
    struct Top: Comparable {
        let entry: ReadyEntry
        let host: Int

        static func < (left: Top, right: Top) -> Bool {
            (left.entry, left.host) < (right.entry, right.host)
        }
    }

    /// The commits of a lane that wait for their turn, and how much is left of the open ones.
    struct Line {
        private var closed: Heap<LineEntry> = []
        private var lastOpened: CommitNumber = .none
        private(set) var openCount = 0

        /// The first commit that is not open yet; an operation of it may have gone meanwhile.
        var firstClosed: CommitNumber? { closed.min?.commit }

        /// Puts an operation in the line.
        ///
        /// - Returns: Whether its commit is open already.
        mutating func enter(_ entry: LineEntry) -> Bool {
            guard entry.commit > lastOpened else {
                openCount += 1
                return true
            }
            closed.insert(entry)
            return false
        }

        /// One operation of an open commit is through.
        mutating func leave() {
            openCount -= 1
            assert(openCount >= 0, "Invariant (2)")
        }

        /// The next operation to be let through, if it is its commit's turn.
        mutating func takeNext() -> LineEntry? {
            guard let next = closed.min, openCount == 0 || next.commit == lastOpened else {
                return nil
            }
            return closed.popMin()
        }

        mutating func open(_ entry: LineEntry) {
            lastOpened = entry.commit
            openCount += 1
        }
    }

    /// Orders what is ready: the higher priority first, then the earlier commit, then the order of
    /// enqueuing.
    struct ReadyEntry: Comparable {
        let priority: Int32
        let place: Int32
        let commit: CommitNumber
        let number: OperationNumber

        static func < (left: ReadyEntry, right: ReadyEntry) -> Bool {
            if left.priority != right.priority { return left.priority < right.priority }
            if left.commit != right.commit { return left.commit > right.commit }
            return left.number > right.number
        }
    }

    struct LineEntry: Comparable {
        let commit: CommitNumber
        let number: OperationNumber
        let place: Int32

        static func < (left: LineEntry, right: LineEntry) -> Bool {
            (left.commit, left.number) < (right.commit, right.number)
        }
    }
}
