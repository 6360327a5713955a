public import Foundation

/// A type whose values name objects of a collection: a `String`, an `Int`, a `UUID`, or one of the app's.
///
/// A type that is `LosslessStringConvertible` needs nothing more:
///
/// ```swift
/// struct Sku: LosslessStringConvertible, StoreKey {
///     let description: String
///     init(_ text: String) { description = text }
/// }
/// ```
///
/// Objects are sorted by the UTF-8 bytes of their keys.
public protocol StoreKey: Sendable {
    /// The key as it is stored: another one for each other value.
    var storeKey: String { get }

    /// Returns nil for a text that is no key of this type.
    init?(storeKey: String)
}

extension StoreKey where Self: LosslessStringConvertible {
    public var storeKey: String { description }
    public init?(storeKey: String) { self.init(storeKey) }
}

extension String: StoreKey {}
extension Int: StoreKey {}
extension Int64: StoreKey {}
extension UInt64: StoreKey {}

extension UUID: StoreKey {
    public var storeKey: String { uuidString }
    public init?(storeKey: String) { self.init(uuidString: storeKey) }
}
