#if Server
public import GodwitReplication

/// The replicas that a right is about: one by its name, or all whose names begin alike.
///
/// ```swift
/// let acme: ReplicaPattern = "acme.*"
/// acme.matches(ReplicaName("acme.orders"))   // true
/// acme.matches(ReplicaName("acme2.orders"))  // false
/// ```
///
/// `*` stands at the end alone, where it means any characters or none. It cannot stand in the middle: a
/// reader of the pattern sees at once where the names begin.
public struct ReplicaPattern: Hashable, Sendable {
    public let text: String

    /// - Throws: ``AccessError/invalidPattern(_:)``.
    public init(_ text: String) throws(AccessError) {
        // A prefix is what a name can begin with.
        let sample = text.hasSuffix("*") ? text.dropLast() + "a" : text[...]
        guard (try? ReplicaName(String(sample))) != nil else { throw .invalidPattern(text) }
        self.text = text
    }

    /// All replicas.
    public static let all: ReplicaPattern = "*"

    public func matches(_ name: ReplicaName) -> Bool {
        text.hasSuffix("*") ? name.text.hasPrefix(text.dropLast()) : name.text == text
    }
}

extension ReplicaPattern: ExpressibleByStringLiteral {
    /// - Precondition: The literal is a pattern; a text that a person has typed goes through ``init(_:)``.
    public init(stringLiteral text: String) {
        do throws(AccessError) {
            try self.init(text)
        } catch {
            preconditionFailure(error.description)
        }
    }
}
#endif
