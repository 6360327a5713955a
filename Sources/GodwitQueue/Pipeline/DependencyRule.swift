public import GodwitStore

/// An order that the app wants besides the one that footprints give.
///
/// A rule adds to what operations touch: two that touch the same thing, one of them by writing,
/// are done in the order in which they were enqueued. A rule of two types has one go before the
/// other, even if the app enqueued the other first. So a rule costs as little as a footprint.
///
/// ```swift
/// var pipeline = Pipeline(order: .flat)
/// // Whatever is charged to one account is done in a row.
/// pipeline.rules = [
///     DependencyRule(for: Charge.self) { charge in .resource(charge.account) },
///     // An avatar is there before the user who has it.
///     DependencyRule(UploadAvatar.self, \.user, before: UploadUser.self, \.id),
/// ]
/// ```
///
/// In commit order the commits go first: an operation never waits by a rule for one of a later
/// commit. An operation that runs already is not stopped, but if it is tried again, it waits.
///
/// A rule holds for what is enqueued while the queue of the pipeline exists in the process: make the
/// queues before anything is enqueued. What a process without them enqueues has the order of its
/// footprints alone.
public struct DependencyRule: Sendable {
    let touches: @Sendable (any PushOperation, QueuedOperation) -> Footprint

    /// A rule for all operations of a pipeline.
    public init(
        _ touches: @escaping @Sendable (any PushOperation, QueuedOperation) -> Footprint
    ) {
        self.touches = touches
    }

    /// A rule for the operations of one type.
    public init<Work: PushOperation>(
        for type: Work.Type = Work.self,
        _ touches: @escaping @Sendable (Work) -> Footprint
    ) {
        self.touches = { work, _ in (work as? Work).map(touches) ?? .none }
    }

    /// Has operations of one type wait for those of another type that are about the same thing.
    ///
    /// A rule yields to dependencies that say the contrary: the order of enqueuing counts then.
    ///
    /// - Parameters:
    ///   - first: The type that goes first.
    ///   - thing: What an operation of the type that goes first is about; nil for nothing.
    ///   - other: What an operation of the type that waits is about.
    ///   - second: The type that waits.
    public init<First: PushOperation, Second: PushOperation, Thing: StoreKey>(
        _ first: First.Type = First.self,
        _ thing: @escaping @Sendable (First) -> Thing?,
        before second: Second.Type = Second.self,
        _ other: @escaping @Sendable (Second) -> Thing?
    ) {
        let order = "\(First.kind) before \(Second.kind): "
        touches = { work, _ in
            var footprint = Footprint.none
            if let thing = (work as? First).flatMap(thing) {
                footprint.touch(order + thing.storeKey, .ahead)
            }
            if let thing = (work as? Second).flatMap(other) {
                footprint.touch(order + thing.storeKey, .behind)
            }
            return footprint
        }
    }
}
