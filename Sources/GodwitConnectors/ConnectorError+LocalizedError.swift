public import Foundation

extension ConnectorError: LocalizedError {
    /// The description, which is in English.
    public var errorDescription: String? { description }
}
