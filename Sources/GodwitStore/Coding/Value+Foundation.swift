internal import Foundation
internal import GodwitTree

// JSON has no bytes and no dates. What a cloud sends for them is read here, so that a merge with it
// leaves an object that the app can read.

extension Value {
    /// Bytes, or the bytes that a string has in Base64; nil for other values.
    var data: Data? {
        switch self {
        case .bytes(let bytes): Data(bytes)
        case .string(let key): Data(base64Encoded: key.text)
        default: nil
        }
    }

    /// The date that a string names in ISO 8601; nil for other values.
    ///
    /// A number is left to `Date` itself.
    var date: Date? {
        let form = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)/
        guard case .string(let key) = self, key.text.wholeMatch(of: form) != nil else { return nil }
        let styles = [
            Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true),
        ]
        return styles.lazy.compactMap { try? $0.parse(key.text) }.first
    }
}
