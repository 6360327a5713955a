public import Foundation

extension ReplicationError: LocalizedError {
    /// The description, which is in English.
    public var errorDescription: String? { description }
}
