internal import GodwitTree

/// A type whose missing fields are read from a default object.
///
/// The first version of an app stored items without `isCrossed`. This type reads them, with no
/// decoder of its own and no upgrade:
///
/// ```swift
/// struct Item: Codable, Sendable, Defaulted {
///     var name: String
///     var isCrossed = false
///
///     static let defaults = Item(name: "")
/// }
/// ```
///
/// It works at any depth: for objects, for the items of their lists, and for operations. Each field
/// that a stored map does not have is taken from ``defaults``; a field of the wrong type, or null,
/// still throws. A type that has to refuse a map without a certain field decodes itself.
public protocol Defaulted: Codable {
    /// The object that has the default values of all fields.
    static var defaults: Self { get }
}

extension Defaulted {
    /// The default object as plain data.
    fileprivate static func defaultValue() -> Value? { try? ValueEncoder().encode(defaults) }

    /// The default value of a field; nil if the default object has no such field.
    ///
    /// - Complexity: O(*n*) in the size of the default object, which is encoded.
    static func defaultField(_ key: Key) throws -> Value? {
        try ValueEncoder().encode(defaults)[key]
    }
}

/// The default object of a type as plain data; nil if the type declares none.
func defaultValue(of type: Any.Type) -> Value? { (type as? any Defaulted.Type)?.defaultValue() }
