import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitQueue

/// Answers that ask for another attempt at once, and answers that ask for none for ages.
@Suite struct HotLoopTests {
    private let things = Store.Collection<[String: Int]>("things")

    /// A queue with one operation, whose every attempt gets the same answer, and a clock that
    /// stands still until the test moves it.
    private func attempts(
        of answer: @escaping @Sendable () -> Outcome,
        attemptsMax: Int? = nil,
        until count: Int,
        moving: Bool = true
    ) async throws -> (attempts: Int, state: QueuedOperation.State?) {
        let bench = try Workbench()
        let things = things
        let attempts = AsyncStream.makeStream(of: Int.self)
        let made = Mutex(0)
        var pipeline = Pipeline().on(Upload.self) { _, _ in
            let number = made.withLock { made in
                made += 1
                return made
            }
            attempts.continuation.yield(number)
            return answer()
        }
        pipeline.attemptsMax = attemptsMax
        pipeline.backoff = Backoff(delayMin: .seconds(1), jitter: { 0 })
        let queue = try bench.queue([pipeline])
        try await bench.store.write { try $0.set(["a": 1], for: "x", in: things) }
        let id = try await bench.store.write { transaction in
            try transaction.set(["a": 2], for: "x", in: things)
            return try transaction.enqueue(Upload(name: "x", pushes: ["x"]))
        }
        try await queue.running {
            var number = 0
            for await attempt in attempts.stream {
                number = attempt
                if number == count { break }
                // Two attempts come at once; from then on each waits for its delay.
                if number >= 2 { bench.clock.advance(by: await bench.clock.nextDelay()) }
            }
            if attemptsMax != nil {
                try await queue.statuses(of: id).reaches { $0 == .deadLetter }
            } else {
                _ = await bench.clock.nextDelay()
            }
        }
        let state = try await bench.store.read { try $0.operation(id)?.state }
        try bench.store.close()
        return (made.withLock { $0 }, state)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a conflict whose clean merge is refused again and again waits longer each time`()
        async throws
    {
        let (count, state) = try await attempts(
            of: { .conflict(theirs: ["a": 1], reason: "412") },
            until: 6
        )
        #expect(count == 6 && state == .waiting)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a conflict that does not end is refused after the most attempts`() async throws {
        let (count, state) = try await attempts(
            of: { .conflict(theirs: ["a": 1], reason: "412") },
            attemptsMax: 5,
            until: 5
        )
        #expect(count == 5 && state == .deadLetter)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a cloud that says at once each time is asked at once only once`() async throws {
        let (count, state) = try await attempts(
            of: { .retry(after: .zero, reason: "Retry-After: 0") },
            until: 6
        )
        #expect(count == 6 && state == .waiting)
    }

    @Test(
        .timeLimit(.minutes(Soak.minutesMax)),
        arguments: [10_000_000_000, 100_000_000_000_000_000, Int64.max, -1, Int64.min]
    )
    func `a delay of any length is survived, and is a week at most`(seconds: Int64) async throws {
        let bench = try Workbench()
        var pipeline = Pipeline().on(Upload.self) { _, _ in
            .retry(after: .seconds(seconds), slowDown: true, reason: "Retry-After")
        }
        pipeline.backoff = Backoff(delayMin: .seconds(1), jitter: { 0 })
        let queue = try bench.queue([pipeline])
        let id = try await bench.store.write { try $0.enqueue(Upload(name: "a")) }
        try await queue.running {
            for await status in queue.statuses(of: id) {
                guard case .waiting(let reasons) = status,
                    let until = reasons.compactMap(\.end).max()
                else { continue }
                let left = until.timeIntervalSince(bench.store.options.clock.now())
                #expect(left <= 7 * 24 * 3_600 + 1)
                break
            }
        }
        try bench.store.close()
    }
}

extension WaitReason {
    fileprivate var end: Date? {
        if case .held(_, let until) = self { until } else { nil }
    }
}
