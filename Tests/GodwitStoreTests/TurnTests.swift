import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitStore

/// Writes, views, flushes and the app share the connection that writes.
@Suite struct TurnTests {
    let numbers = Store.Collection<Int>("numbers")

    /// Writes that never end: each asks for the next one.
    private final class Flood: Sendable {
        private let store: Store
        private let isOver = Mutex(false)
        private let numbers = Store.Collection<Int>("numbers")

        init(_ store: Store) throws {
            self.store = store
            try next(0)
        }

        func end() { isOver.withLock { $0 = true } }

        private func next(_ number: Int) throws {
            guard !isOver.withLock({ $0 }) else { return }
            let numbers = numbers
            try store.writeLater(durability: number.isMultiple(of: 2) ? .durable : .relaxed) {
                transaction in
                try transaction.set(number, for: "flood", in: numbers)
                try self.next(number + 1)
            }
        }
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func
        `views, flushes and the app's own transactions get their turn beside writes that never end`()
        async throws
    {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path("app.sqlite"))
        for store in [try Store(.memory), try Store(adopting: pool)] {
            let flood = try Flood(store)
            for _ in 0..<3 {
                let view = try await store.view()
                #expect(try view.count(in: numbers) <= 1)
                try await store.flush()
            }
            if case .file = store.location {
                try await pool.write { try $0.execute(sql: "CREATE TABLE app (id INTEGER)") }
            }
            flood.end()
            try await store.flush()
            try store.close()
        }
        try pool.close()
    }

    @Test func `a write that a task awaits is not refused by the bound of waiting ones`()
        async throws
    {
        var options = Store.Options()
        options.limits.queueMax = 1
        let store = try Store(.memory, options: options)
        let numbers = numbers
        await store.suspend()
        try store.writeLater { try $0.set(1, for: "a", in: numbers) }
        #expect(throws: StoreError.overloaded(limit: 1)) { try store.writeLater { _ in } }
        async let second: Void = store.write { try $0.set(2, for: "a", in: numbers) }
        while try await store.statistics().queueDepth < 2 { await Task.yield() }
        store.resume()
        try await second
        let value = try await store.read { try $0.get("a", in: numbers) }
        #expect(value == 2)
        try store.close()
    }
}
