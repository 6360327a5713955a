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
            let listener = EventListener(to: share.queue)
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
            try await clock.lookUntil { !listener.events.isEmpty }
            try await app.store.write { transaction in
                _ = try transaction.modifyOperation(foreign) { $0.priority = 5 }
            }
            // Only the listener is followed, so the news are looked for until they are there.
            let watching = Task { try await share.queue.result(of: foreign) }
            try await app.store.write { try $0.completeOperation(foreign) }
            try await clock.lookUntil {
                listener.events.contains {
                    if case .finished(_, foreign, _) = $0 { true } else { false }
                }
            }
            #expect(try await watching.value == .completed)
            let events = listener.events
            let counts = [foreign, brief].map { id in
                (
                    events.enqueuedCount(of: id),
                    events.count { if case .finished(_, id, _) = $0 { true } else { false } }
                )
            }
            #expect(counts[0] == (1, 1), "the foreign one")
            #expect(counts[1].1 == 1, "the brief one")
            listener.end()
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
            let listener = EventListener(to: share.queue)
            let id = try await share.store.write {
                try $0.enqueue(Upload(name: "foreign"), Placement(pipeline: "elsewhere"))
            }
            try await app.store.write { transaction in
                _ = try transaction.modifyOperation(id) { $0.priority = 5 }
            }
            let last = try await app.enqueue("last")
            try await clock.lookUntil { listener.events.enqueuedCount(of: last) == 1 }
            #expect(listener.events.enqueuedCount(of: id) == 1)
            listener.end()
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

/// The events of a queue, as they are told.
private final class EventListener: Sendable {
    private let told = Mutex<[QueueEvent]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(to queue: PushQueue) {
        let events = queue.events()
        let task = Task { [weak self] in
            for await event in events { self?.told.withLock { $0.append(event) } }
        }
        self.task.withLock { $0 = task }
    }

    var events: [QueueEvent] { told.withLock(\.self) }

    func end() { task.withLock { $0?.cancel() } }
}

extension [QueueEvent] {
    fileprivate func enqueuedCount(of id: OperationID) -> Int {
        count { if case .enqueued(_, id) = $0 { true } else { false } }
    }
}
