/// A type that declares how its values merge.
///
/// Amount and currency of a price are one value, and the votes for an item only grow:
///
/// ```swift
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
/// A replica takes the rules from the types of the store's `CollectionRules` when it is opened.
/// The rules of a collection have the version of these and of the app's, added up: if an app drops a
/// type's rules, it raises its own version by more than theirs was.
/// A type with fields of such types includes theirs: see ``MergePolicy/include(_:at:)``.
public protocol MergePolicyProviding {
    /// The rules for values of this type, with paths that begin at the value.
    static var mergePolicy: MergePolicy { get }
}
