public import GodwitStore

/// The outline of one piece of work for a cloud.
///
/// ```swift
/// struct UploadContact: GodwitQueue.Operation {
///     static let kind = "upload-contact"
///     let contact: String
/// }
/// ```
///
/// An operation says what to do, never with which data: that is read when the operation runs, so
/// that it is the newest. It is stored when the transaction that enqueued it commits, and stays
/// until an executor has completed it, over any number of launches.
public protocol Operation: Codable, Sendable {
    /// The name under which the type is stored. It outlives renames of the type.
    static var kind: String { get }
}

/// Which operation: an identifier that is never used again.
public struct OperationID: Hashable, Sendable, Codable {
    public let identifier: Identifier

    public init(_ identifier: Identifier) { self.identifier = identifier }
}

extension OperationID: CustomStringConvertible {
    public var description: String { identifier.description }
}
