/// An order that the app wants besides the one that footprints give.
///
/// A rule adds to what operations touch: two that touch the same thing, one of them by writing,
/// are done in the order in which they were enqueued. So a rule costs as little as a footprint,
/// and can never close a circle.
///
/// ```swift
/// var pipeline = Pipeline(order: .flat)
/// // Whatever is charged to one account is done in a row.
/// pipeline.rules = [DependencyRule(for: Charge.self) { charge in .resource(charge.account) }]
/// ```
public struct DependencyRule: Sendable {
    let touches: @Sendable (any Operation, QueuedOperation) -> Footprint

    /// A rule for all operations of a pipeline.
    public init(
        _ touches: @escaping @Sendable (any Operation, QueuedOperation) -> Footprint
    ) {
        self.touches = touches
    }

    /// A rule for the operations of one type.
    public init<Work: Operation>(
        for type: Work.Type = Work.self,
        _ touches: @escaping @Sendable (Work) -> Footprint
    ) {
        self.touches = { work, _ in (work as? Work).map(touches) ?? .none }
    }
}
