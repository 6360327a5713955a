/// A type that declares how its values merge.
///
/// Amount and currency of a price are one value, and the votes for an item only grow:
///
/// ```swift
/// struct Price: Codable {
///     var amount: Int
///     var currency: String
/// }
///
/// struct Item: Codable, MergePolicyProviding {
///     var name: String
///     var price: Price
///     var votes = 0
///
///     static var mergePolicy: MergePolicy {
///         var policy = MergePolicy(version: 1)
///         policy.set(.whole, at: "/price")
///         policy.set(.max, at: "/votes")
///         return policy
///     }
/// }
/// ```
///
/// A replica takes the rules from the types of the store's `CollectionRules` when it is opened. A type
/// with fields of such types includes their rules: see ``MergePolicy/include(_:at:)``.
///
/// The version of a collection's rules is the sum of the type's and the app's. An app that drops a
/// type's rules has to raise its own version by more than theirs.
public protocol MergePolicyProviding {
    /// The rules for values of this type, with paths that begin at the value.
    static var mergePolicy: MergePolicy { get }
}
