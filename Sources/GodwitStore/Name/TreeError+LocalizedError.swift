public import Foundation
public import GodwitTree

// The tree itself does without Foundation.
extension TreeError: LocalizedError {
    /// The description, which is in English.
    public var errorDescription: String? { description }
}
