/// Watches what the device has.
public protocol ConditionsMonitor: Sendable {
    /// The conditions now, then whenever they change.
    ///
    /// A queue starts nothing before it knows the first ones.
    func conditions() -> AsyncStream<Conditions>
}

/// A device whose conditions never change: a server, or a test.
public struct ConstantConditions: ConditionsMonitor {
    private let constant: Conditions

    public init(_ conditions: Conditions = Conditions()) { constant = conditions }

    public func conditions() -> AsyncStream<Conditions> {
        let (stream, continuation) = AsyncStream.makeStream(of: Conditions.self)
        continuation.yield(constant)
        continuation.finish()
        return stream
    }
}
