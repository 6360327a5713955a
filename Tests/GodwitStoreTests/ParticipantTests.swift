import GodwitStore
import GodwitTree
import Synchronization
import Testing

/// Those that keep something in memory hear what becomes of each transaction.
@Suite struct ParticipantTests {
    /// Counts what it is told.
    private final class Listener: TransactionParticipant {
        struct News: Hashable {
            var succeeded = 0
            var failed = 0
            var committed = 0
            var rolledBack = 0
        }

        private let news = Mutex(News())
        var heard: News { news.withLock(\.self) }

        func requestSucceeded() { news.withLock { $0.succeeded += 1 } }
        func requestFailed() { news.withLock { $0.failed += 1 } }
        func committed() { news.withLock { $0.committed += 1 } }
        func rolledBack() { news.withLock { $0.rolledBack += 1 } }
    }

    private struct Refusal: Error {}

    @Test func `a transaction that changes nothing is told as committed, too`() async throws {
        let (store, listener) = (try Store(.memory), Listener())
        try await store.write { $0.add(listener) }
        #expect(listener.heard == .init(succeeded: 1, committed: 1))
        try store.close()
    }

    @Test func `a transaction that changes something is told once, and one that fails as failed`()
        async throws
    {
        let (store, listener) = (try Store(.memory), Listener())
        let numbers = Store.Collection<Int>("numbers")
        try await store.write { transaction in
            transaction.add(listener)
            transaction.add(listener)
            try transaction.set(1, for: "a", in: numbers)
        }
        #expect(listener.heard == .init(succeeded: 1, committed: 1))
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                transaction.add(listener)
                try transaction.set(2, for: "a", in: numbers)
                throw Refusal()
            }
        }
        #expect(listener.heard.failed == 1 && listener.heard.succeeded == 1)
        #expect(try await store.read { try $0.get("a", in: numbers) } == 1)
        try store.close()
    }
}
