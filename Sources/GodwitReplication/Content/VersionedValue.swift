public import GodwitTree

/// An object as replicas see it: its value, and the version of the type that wrote the value.
///
/// Metadata of the object belongs to one device, and does not travel.
public struct VersionedValue: Hashable, Sendable {
    public var value: Value
    /// The version of the collection's type; the first one is 1.
    public var version: Int

    public init(_ value: Value, version: Int = 1) {
        self.value = value
        self.version = version
    }
}
