import Foundation
import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitQueue

/// What memory makes of commits that come at awkward moments.
@Suite struct QueueStateTests {
    private let commit = CommitNumber(rawValue: 7)
    private var number: OperationNumber { OperationNumber(commit: commit, index: 0) }
    private let now = Moment(elapsed: .seconds(1), calendar: 0)

    private var outline: OperationTable.Outline { outline(of: commit) }

    private func outline(of commit: CommitNumber) -> OperationTable.Outline {
        OperationTable.Outline(
            number: OperationNumber(commit: commit, index: 0),
            commit: commit,
            pipeline: Pipeline.defaultName,
            state: .waiting,
            priority: 0,
            keepsOrder: false,
            host: nil,
            parts: []
        )
    }

    private var entry: QueueJournal.Entry {
        let id = OperationID(launch: 1, number: number)
        return QueueJournal.Entry(
            commit: commit,
            changes: [.enqueued(.init(outline: outline, id: id))]
        )
    }

    private func state() -> QueueState {
        QueueState([Pipeline()], rateLimit: { _ in RateLimit() })
    }

    @Test func `no operation is started that the database has as held or suspended`()
        async throws
    {
        let store = try Store(.memory)
        try await store.write { transaction in
            let id = try transaction.enqueue(Upload(name: "a"))
            let number = try #require(try transaction.operation(id)).number
            let (database, now) = (transaction.database, now)
            func isStarted() throws -> Bool {
                try OperationTable.start(number, epoch: 1, at: now, in: database)
            }
            for pipeline in [Pipeline.defaultName, nil] {
                try transaction.suspendPipeline(pipeline, reason: "elsewhere")
                #expect(try !isStarted())
                try transaction.resumePipeline(pipeline, reason: "elsewhere")
            }
            for until in [nil, Date(timeIntervalSince1970: 1)] {
                try transaction.holdOperation(id, until: until, context: "elsewhere")
                #expect(try !isStarted())
            }
            try transaction.releaseOperation(id, context: "elsewhere")
            #expect(try isStarted())
        }
        try store.close()
    }

    @Test func `a commit that a reading has shown already is not taken in twice`() {
        var state = state()
        let loading = state.beginLoading()
        state.load(.operations([outline]), loading, at: now)
        state.load(.rest(holds: [], suspensions: []), loading, at: now)
        state.endLoading(loading, through: commit, at: now)
        // The writer comes late to tell of it.
        state.take(entry, at: now)
        #expect(state.summary.unfinished == 1)
        state.machine.checkInvariants()
    }

    @Test func `a commit that comes while everything is read is taken in after it`() {
        var state = state()
        let loading = state.beginLoading()
        state.take(entry, at: now)
        state.load(.rest(holds: [], suspensions: []), loading, at: now)
        state.endLoading(loading, through: CommitNumber(rawValue: 6), at: now)
        #expect(state.summary.unfinished == 1)
        state.machine.checkInvariants()
    }

    @Test func `a queue that is read again opens no commit before its turn`() {
        var state = state()
        let work = AsyncStream.makeStream(of: QueueWork.self)
        state.began(epoch: 1, work.continuation)
        for round in 0..<2 {
            let loading = state.beginLoading()
            state.load(.operations([outline, outline(of: commit.next)]), loading, at: now)
            state.load(.rest(holds: [], suspensions: []), loading, at: now)
            state.endLoading(loading, through: commit.next, at: now)
            // What is just being started is not started once more.
            #expect(state.takeEffects(at: now).starts == (round == 0 ? [number] : []))
        }
        state.gaveUp(number, retryAfter: .seconds(1), at: now)
        #expect(state.takeEffects(at: now).starts == [])
        let later = Moment(elapsed: now.elapsed + .seconds(1), calendar: 0)
        #expect(state.takeEffects(at: later).starts == [number])
    }

    @Test func `an attempt that a reading did not see goes on, and one that was over does not`() {
        var state = state()
        let work = AsyncStream.makeStream(of: QueueWork.self)
        state.began(epoch: 1, work.continuation)
        func read(_ state: inout QueueState, meanwhile: [QueueChange] = []) {
            let loading = state.beginLoading()
            state.load(.operations([outline]), loading, at: now)
            state.load(.rest(holds: [], suspensions: []), loading, at: now)
            state.take(QueueJournal.Entry(commit: commit, changes: meanwhile), at: now)
            state.endLoading(loading, through: commit, at: now)
        }
        read(&state)
        #expect(state.takeEffects(at: now).starts == [number])
        let run = CancellableRun {}
        state.started(number, run)
        read(&state)
        var effects = state.takeEffects(at: now)
        #expect(effects.starts == [] && effects.cancelled.isEmpty)
        read(&state, meanwhile: [.requeued(number)])
        effects = state.takeEffects(at: now)
        #expect(effects.starts == [number])
    }

    @Test func `a reading that was overtaken changes nothing`() {
        var state = state()
        let first = state.beginLoading()
        let second = state.beginLoading()
        state.load(.operations([outline]), first, at: now)
        state.load(.rest(holds: [], suspensions: []), second, at: now)
        state.endLoading(first, through: commit, at: now)
        #expect(!state.isLoaded)
        state.endLoading(second, through: commit, at: now)
        #expect(state.isLoaded && state.summary.unfinished == 0)
    }

    @Test func `as many finished operations are remembered as the queue that asks for most wants`()
        throws
    {
        let store = try Store(.memory)
        let queues = try [20_000, 12_000].map { count in
            var options = PushQueue.Options()
            options.fatesMax = count
            return try PushQueue(store, options: options, pipelines: [Pipeline("to \(count)")])
        }
        let kept = sequence(first: 0) { $0 + 1 }.lazy
            .compactMap { _ in queues[0].journal.countFate() }.first { _ in true }
        #expect(kept == 20_000)
        try store.close()
    }

    @Test func `an attempt that ends while the queue is read anew is over`() {
        let run = CancellableRun {}
        for isReadAgain in [false, true] {
            var state = state()
            let loading = state.beginLoading()
            state.load(.operations([outline]), loading, at: now)
            state.load(.rest(holds: [], suspensions: []), loading, at: now)
            state.endLoading(loading, through: commit, at: now)
            let work = AsyncStream.makeStream(of: QueueWork.self)
            state.began(epoch: 1, work.continuation)
            #expect(state.takeEffects(at: now).starts == [number])
            state.started(number, run)
            let entry = QueueJournal.Entry(commit: commit.next, changes: [.requeued(number)])
            if isReadAgain {
                // It is told while nothing is known, or by a reading that another one makes void.
                state.lostTrack()
                state.take(entry, at: now)
                read(&state, through: commit.next)
            } else {
                // The reading has seen it before the writer tells of it.
                state.lostTrack()
                read(&state, through: commit.next)
                state.take(entry, at: now)
            }
            let starts = state.takeEffects(at: now).starts
            #expect(starts == [number], "read again: \(isReadAgain)")
        }
    }

    private func read(
        _ state: inout QueueState,
        _ outlines: [OperationTable.Outline]? = nil,
        through commit: CommitNumber
    ) {
        let loading = state.beginLoading()
        state.load(.operations(outlines ?? [outline]), loading, at: now)
        state.load(.rest(holds: [], suspensions: []), loading, at: now)
        state.endLoading(loading, through: commit, at: now)
    }

    @Test func `a task that waits is not woken before the commits of others are known`() {
        var state = state()
        state.known.followerCount = 1
        let isWoken = Mutex(false)
        let id = state.waiters.announce()
        state.wait(id, through: commit.next) { _ in isWoken.withLock { $0 = true } }
        let loading = state.beginLoading()
        state.fellBehind(commit.next...commit.next)
        state.load(.rest(holds: [], suspensions: []), loading, at: now)
        state.endLoading(loading, through: commit, at: now)
        for wake in state.takeEffects(at: now).wakes { wake() }
        #expect(!isWoken.withLock { $0 })
    }

    @Test func `an event that is there at the end is read, and each by one reader`() async {
        let buffer = EventBuffer()
        async let readers = (buffer.next(), buffer.next())
        for count in [1, 2, 3] { buffer.put(.missed(count)) }
        let read = await [readers.0, readers.1]
        buffer.end()
        let rest = [await buffer.next(), await buffer.next()]
        #expect(Set((read + rest).map(missedCount)) == [1, 2, 3, nil])
        #expect(missedCount(rest[1]) == nil)
    }

    private func missedCount(_ event: QueueEvent?) -> Int? {
        if case .missed(let count)? = event { count } else { nil }
    }

    private func sharedStore(in folder: TemporaryFolder) throws -> Store {
        var options = Store.Options()
        options.processes = .several
        return try Store(.file(folder.path("store.sqlite")), options: options)
    }

    @Test func `news of an operation that is gone are told by the commit that ended it`()
        async throws
    {
        let folder = try TemporaryFolder()
        let store = try sharedStore(in: folder)
        let id = try await store.write { try $0.enqueue(Upload(name: "a")) }
        let first = try await store.read { $0.lastCommit }
        try await store.write { try $0.completeOperation(id) }
        let last = try await store.read { $0.lastCommit }
        let counts = try await store.read { transaction in
            try [first...first, first...last].map { commits in
                try QueueNews(of: commits, in: transaction.database).items.count
            }
        }
        #expect(counts == [0, 1])
        try store.close()
    }

    @Test func `a queue that is read while others write is behind, and not unread`() {
        var state = state()
        state.known.followerCount = 1
        let loading = state.beginLoading()
        state.fellBehind(commit.next...commit.next)
        state.load(.operations([outline]), loading, at: now)
        state.load(.rest(holds: [], suspensions: []), loading, at: now)
        state.endLoading(loading, through: commit, at: now)
        #expect(!state.isUnloaded)
        let next = state.beginCatchingUp()
        #expect(next?.1 == commit.next...commit.next)
    }

    /// A queue that knows of one commit, and of a later one of another process that it has not read.
    private func stateBehind(followerCount: Int) -> QueueState {
        var state = state()
        state.known.followerCount = followerCount
        read(&state, through: commit)
        state.fellBehind(commit.next...commit.next)
        return state
    }

    @Test func `a queue that is read anew while it is behind tells that events are missed`() async {
        var state = stateBehind(followerCount: 1)
        let buffer = EventBuffer()
        state.events.listen(buffer)
        read(&state, through: commit.next)
        buffer.put(.started(number))
        buffer.end()
        #expect(missedCount(await buffer.next()) == 2)
    }

    @Test func `a queue stays behind while one task follows, and is unread when the last one ends`()
    {
        var state = stateBehind(followerCount: 2)
        state.endFollowing()
        #expect(!state.isUnloaded)
        state.endFollowing()
        #expect(state.isUnloaded)
    }

    @Test func `a delay that another process began lasts here as long as is left of it`()
        async throws
    {
        let folder = try TemporaryFolder()
        let store = try sharedStore(in: folder)
        let number = try await store.write { transaction in
            let id = try transaction.enqueue(Upload(name: "a"))
            let number = try #require(try transaction.operation(id)).number
            try HoldTable.set(
                .init(operation: number, context: "backoff", until: 70_000, delay: 60_000),
                in: transaction.database
            )
            return number
        }
        let news = try await store.read { transaction in
            try QueueNews(of: number.commit...number.commit, in: transaction.database)
        }
        var state = state()
        state.known.followerCount = 1
        read(&state, [], through: .none)
        state.began(epoch: 1, AsyncStream.makeStream(of: QueueWork.self).continuation)
        state.fellBehind(number.commit...number.commit)
        let catchUp = state.beginCatchingUp()
        let (loading, commits) = try #require(catchUp)
        // Of the sixty seconds fifty have passed.
        let now = Moment(elapsed: .seconds(1), calendar: 60_000)
        state.endCatchingUp(loading, news, of: commits, at: now)
        #expect(state.takeEffects(at: now).starts == [])
        let later = Moment(elapsed: .seconds(12), calendar: 71_000)
        #expect(state.takeEffects(at: later).starts == [number])
        try store.close()
    }
}
