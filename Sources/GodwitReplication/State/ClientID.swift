public import GodwitStore

/// The id of a device for one server, for as long as its store lives.
///
/// A device takes another one when it finds that a copy of its store uses its own.
public struct ClientID: Hashable, Sendable {
    public let identifier: Identifier

    public init(_ identifier: Identifier) { self.identifier = identifier }
}

extension ClientID: CustomStringConvertible {
    public var description: String { identifier.description }
}
