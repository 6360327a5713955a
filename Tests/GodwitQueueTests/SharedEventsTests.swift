import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitQueue

/// What a process hears of a queue that another one runs.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct SharedEventsTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let leases = ManualLeases()

    init() throws { folder = try TemporaryFolder() }

    private func process() throws -> SharedProcess {
        try SharedProcess(folder.path("store.sqlite"), clock, leases.clock, .commit)
    }

    @Test func `operations that another process ends between two looks are told once`()
        async throws
    {
        let (app, share) = (try process(), try process())
        try await share.queue.following {
            // What came before the first reading is no event.
            try await clock.lookUntil { share.queue.state.withLock(\.isLoaded) }
            let told = Mutex<[QueueEvent]>([])
            let events = share.queue.events()
            let listening = Task {
                for await event in events { told.withLock { $0.append(event) } }
            }
            // One of a pipeline that neither has, one that is over before anything is seen of it.
            let (foreign, brief) = try await app.store.write { transaction in
                (
                    try transaction.enqueue(
                        Upload(name: "foreign"),
                        Placement(pipeline: "elsewhere")
                    ), try transaction.enqueue(Upload(name: "brief"))
                )
            }
            try await app.store.write { try $0.completeOperation(brief) }
            try await clock.lookUntil { try await share.queue.status(of: brief).isFinal }
            try await clock.lookUntil { told.withLock { !$0.isEmpty } }
            try await app.store.write { transaction in
                _ = try transaction.modifyOperation(foreign) { $0.priority = 5 }
            }
            // Only the listener is followed, so the news are looked for until they are there.
            let watching = Task { try await share.queue.fate(of: foreign) }
            try await app.store.write { try $0.completeOperation(foreign) }
            try await clock.lookUntil {
                told.withLock { events in
                    events.contains {
                        if case .finished(_, foreign, _) = $0 { true } else { false }
                    }
                }
            }
            #expect(try await watching.value == .completed)
            let counts = told.withLock { events in
                [foreign, brief].map { id in
                    (
                        events.enqueuedCount(of: id),
                        events.count { if case .finished(_, id, _) = $0 { true } else { false } }
                    )
                }
            }
            #expect(counts[0] == (1, 1), "the foreign one")
            #expect(counts[1].1 == 1, "the brief one")
            listening.cancel()
        }
        try app.store.close()
        try share.store.close()
    }

    @Test func `an own operation that another process changes is told as enqueued once`()
        async throws
    {
        let (app, share) = (try process(), try process())
        try await share.queue.following {
            try await clock.lookUntil { share.queue.state.withLock(\.isLoaded) }
            let told = Mutex<[QueueEvent]>([])
            let events = share.queue.events()
            let listening = Task {
                for await event in events { told.withLock { $0.append(event) } }
            }
            let id = try await share.store.write {
                try $0.enqueue(Upload(name: "foreign"), Placement(pipeline: "elsewhere"))
            }
            try await app.store.write { transaction in
                _ = try transaction.modifyOperation(id) { $0.priority = 5 }
            }
            let last = try await app.enqueue("last")
            try await clock.lookUntil { told.withLock { $0.enqueuedCount(of: last) == 1 } }
            #expect(told.withLock { $0.enqueuedCount(of: id) } == 1)
            listening.cancel()
        }
        try app.store.close()
        try share.store.close()
    }

    @Test func `a follower that could not read the queue reads it again`() async throws {
        let (app, share) = (try process(), try process())
        try await share.queue.following {
            try await clock.lookUntil { share.queue.state.withLock(\.isLoaded) }
            _ = try await app.enqueue("a")
            try await clock.lookUntil { share.queue.summary.waiting == 1 }
            share.queue.state.withLock { $0.lostTrack() }
            _ = try await app.enqueue("b")
            try await clock.lookUntil { share.queue.summary.waiting == 2 }
        }
        try app.store.close()
        try share.store.close()
    }
}

extension [QueueEvent] {
    fileprivate func enqueuedCount(of id: OperationID) -> Int {
        count { if case .enqueued(_, id) = $0 { true } else { false } }
    }
}
