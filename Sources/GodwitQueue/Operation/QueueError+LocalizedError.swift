public import Foundation

extension QueueError: LocalizedError {
    /// The description, which is in English.
    public var errorDescription: String? { description }
}
