/// What ``PushQueue/run()`` has to do.
enum QueueWork: Sendable {
    case start([OperationNumber])
    case wake(after: Duration)
    /// Read all operations again.
    case load
    /// Another process runs the queue.
    case stop
}
