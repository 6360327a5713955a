public import Foundation

extension StoreError: LocalizedError {
    /// The description, which is in English.
    public var errorDescription: String? { description }
}
