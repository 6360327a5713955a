#if Server
internal import Synchronization

extension AsyncStream where Element: Sendable {
    /// The newest elements of a stream, and nil whenever none has come for a while.
    ///
    /// - Parameter interval: How long to wait for an element.
    func withHeartbeats(every interval: Duration) -> some AsyncSequence<Element?, Never> & Sendable
    {
        let elements = self
        let newest = Newest<Element>()
        let (beats, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        let task = Task {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    while (try? await Task.sleep(for: interval)) != nil { continuation.yield() }
                }
                for await element in elements {
                    newest.set(element)
                    continuation.yield()
                }
                group.cancelAll()
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return beats.map { newest.take() }
    }
}

/// The newest element of a stream, until it is taken.
private final class Newest<Element: Sendable>: Sendable {
    private let element = Mutex<Element?>(nil)

    func set(_ new: Element) { element.withLock { $0 = new } }
    func take() -> Element? { element.withLock { $0.take() } }
}
#endif
