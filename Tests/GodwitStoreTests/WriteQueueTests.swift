import Testing

@testable import GodwitStore

/// The line before the writer, by itself.
@Suite struct WriteQueueTests {
    private final class Request: WriteRequest {
        let durability = Durability.durable
        let isAwaited = true
        func run(in transaction: borrowing WriteTransaction) throws {}
        func succeed(commit: CommitNumber?) {}
        func fail(_ error: any Error) -> Bool { true }
    }

    @Test func `a request can be taken back until the writer has taken it`() throws {
        var queue = WriteQueue()
        let (first, second) = (Request(), Request())
        let (isFirst, isSecond) = (
            try queue.append(first, max: 1), try queue.append(second, max: 1)
        )
        #expect(isFirst && !isSecond, "one drain is started")
        let taken = queue.takeFirst()
        #expect(taken === first)
        let isRemoved = (queue.remove(first), queue.remove(second), queue.remove(second))
        #expect(isRemoved == (false, true, false))
        let next = queue.takeFirst()
        #expect(next == nil)
    }
}
