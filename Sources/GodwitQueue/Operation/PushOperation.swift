public import GodwitStore

/// The outline of one piece of work for a cloud.
///
/// ```swift
/// struct UploadContact: PushOperation {
///     static let kind = "upload-contact"
///     let contact: String
///     var objects: [ObjectKey] { [ObjectKey(collection: "contacts", key: Key(contact))] }
/// }
/// ```
///
/// An operation says what to do, never with which data: that is read when the operation runs, so
/// that it is the newest. It is stored when the transaction that enqueued it commits, and stays
/// until it is completed or skipped, over any number of launches.
public protocol PushOperation: Codable, Sendable {
    /// The name under which the type is stored. It outlives renames of the type.
    static var kind: String { get }

    /// The objects that it pushes.
    ///
    /// What the transaction has made of them is recorded with the operation, old and new: the
    /// base of a merge when the cloud reports a conflict. They also tell whether an object is in
    /// sync.
    var objects: [ObjectKey] { get }

    /// What it touches in the cloud: what touches the same has an order.
    var footprint: Footprint { get }

    /// What it does to the one thing that it is about; nil for an operation that is never merged
    /// with others.
    var effect: Effect? { get }

    /// The operation that has the effect of an earlier one and of this one; nil for none: both are
    /// done then.
    ///
    /// It is asked for where neither of the two has that effect: a row of moves is a move from the
    /// first place to the last one.
    func merged(with earlier: QueuedOperation, as effect: Effect) throws -> (any PushOperation)?

    /// The host that it sends requests to; operations for one host share a rate limit. nil for none.
    var host: String? { get }
}

extension PushOperation {
    public var objects: [ObjectKey] { [] }
    public var footprint: Footprint { .none }
    public var effect: Effect? { nil }
    public var host: String? { nil }

    public func merged(
        with earlier: QueuedOperation,
        as effect: Effect
    ) throws -> (any PushOperation)? { nil }
}
