import Foundation
import GodwitStore
import GodwitTree
import Synchronization
import Testing

/// A store on a machine whose processors have other work.
@Suite struct BusyMachineTests {
    @Test func `writes and reads go on while other threads keep all processors busy`() async throws
    {
        let store = try Store(.memory)
        let numbers = Store.Collection<Int>("numbers")
        let load = Load()
        let start = ContinuousClock.now
        for number in 0..<300 {
            try await store.write { try $0.set(number, for: "a", in: numbers) }
            let read = try await store.read { try $0.get("a", in: numbers) }
            #expect(read == number)
        }
        let elapsed = ContinuousClock.now - start
        await load.end()
        #expect(elapsed < .seconds(10))
    }
}

/// Threads that compute, twice as many as there are processors.
private final class Load: Sendable {
    private let isOver = Atomic(false)
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)
    private let count = 2 * ProcessInfo.processInfo.processorCount

    init() {
        for _ in 0..<count {
            Thread.detachNewThread { [self] in
                while !isOver.load(ordering: .relaxed) {}
                end.yield()
            }
        }
    }

    func end() async {
        isOver.store(true, ordering: .relaxed)
        for await _ in ends.prefix(count) {}
    }
}
