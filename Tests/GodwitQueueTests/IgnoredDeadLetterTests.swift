import GodwitStore
import GodwitTestKit
import Testing

@testable import GodwitQueue

/// Dead letters, and what waits for them or does not.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct IgnoredDeadLetterTests: TwoPipelineSuite {
    @Test(arguments: [false, true])
    func `what the app lets run beside a dead letter does not hide it from others`(
        isRefusedBefore: Bool
    ) async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let dead = try await enqueue(Self.flat, in: store)
        func refuse() async throws {
            try await store.write { transaction in
                let number = try OperationTable.number(of: dead, in: transaction.connection)
                try transaction.refuse(try #require(number), reason: "no")
            }
        }
        if isRefusedBefore { try await refuse() }
        let beside = try await enqueue(
            Self.flat,
            after: [.on(dead, otherwise: .ignore)],
            in: store
        )
        if !isRefusedBefore { try await refuse() }
        #expect(try await needs(beside, in: store) == [], "it runs all the same")
        for isForgotten in [false, true] {
            if isForgotten { try await store.write { $0.footprints().forget() } }
            let later = try await enqueue(Self.flat, in: store)
            #expect(try await reach(later, in: store).isSuperset(of: [dead, beside]))
        }
        // Of two words about one, the last one counts.
        let named = try await store.write { transaction in
            let ignoring = Dependency.on(dead, otherwise: .ignore)
            let placement = Placement(pipeline: Self.flat, dependencies: [ignoring])
            return try transaction.enqueue(Put(path: "/z"), after: [dead], placement)
        }
        #expect(try await needs(named, in: store) == [])
        let spared = try await store.write { transaction in
            let words = [
                Dependency.on(dead, otherwise: .fail), Dependency.on(dead, otherwise: .ignore),
            ]
            let placement = Placement(pipeline: Self.flat, dependencies: words)
            return try transaction.enqueue(Put(path: "/y"), placement)
        }
        let state = try await store.read { try $0.operation(spared)?.state }
        #expect(state == .waiting)
        // A dependency that comes later frees one that waits for the dead letter.
        let waiting = try await enqueue(Self.flat, in: store)
        try await store.write { transaction in
            _ = try transaction.modifyOperation(waiting) {
                $0.addDependency(.on(dead, otherwise: .ignore))
            }
        }
        #expect(try await !needs(waiting, in: store).contains(dead))
        withExtendedLifetime(queue) {}
    }

    @Test func `a hold ends with a refusal, and does not come back with another try`() async throws
    {
        let store = try Store(.memory)
        let done = pipelines().map { $0.on(Put.self) { _, _ in .completed } }
        let queue = try PushQueue(store, pipelines: done)
        let cause = try await enqueue(Self.flat, in: store)
        let held = try await enqueue(
            Self.flat,
            "/b",
            after: [.on(cause, otherwise: .fail)],
            in: store
        )
        try await store.write { transaction in
            try transaction.holdOperation(held, until: nil, context: "login")
            try transaction.skipOperation(cause)
        }
        #expect(try await store.read { try $0.operation(held)?.state } == .deadLetter)
        try await store.write { try $0.retryOperation(held) }
        try await queue.running {
            let result = try await queue.result(of: held)
            #expect(result == .completed)
        }
        try store.close()
    }
}
