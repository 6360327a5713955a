internal import Foundation
package import GodwitTree

// JSON has no bytes: they are written as `{"$bytes": "…"}`, in Base64. A map of the app's with one such key is
// wrapped as `{"$map": {…}}`.

extension Value {
    private static let bytesKey: Key = "$bytes"
    private static let mapKey: Key = "$map"

    /// The value with its bytes in the form that JSON text keeps.
    package var taggingBytes: Value {
        switch self {
        case .bytes(let bytes):
            return [Self.bytesKey: .string(Key(Data(bytes).base64EncodedString()))]
        case .list(let items): return .list(Value.List(items.map(\.taggingBytes)))
        case .map(let map):
            let tagged = Value.map(map.taggingBytes)
            return map.isTagged ? [Self.mapKey: tagged] : tagged
        default: return self
        }
    }

    /// The value that ``taggingBytes`` was made from.
    package var untaggingBytes: Value {
        switch self {
        case .list(let items): return .list(Value.List(items.map(\.untaggingBytes)))
        case .map(let map) where map.isTagged:
            if let text = map[Self.bytesKey]?.text, let data = Data(base64Encoded: text) {
                return .bytes(Array(data))
            }
            guard let inner = map[Self.mapKey]?.map else { return self }
            return .map(inner.untaggingBytes)
        case .map(let map): return .map(map.untaggingBytes)
        default: return self
        }
    }
}

extension Value.Map {
    fileprivate var isTagged: Bool {
        count == 1 && (self["$bytes"]?.text != nil || self["$map"]?.map != nil)
    }

    fileprivate var taggingBytes: Value.Map { Value.Map(map { ($0.key, $0.value.taggingBytes) }) }

    fileprivate var untaggingBytes: Value.Map {
        Value.Map(map { ($0.key, $0.value.untaggingBytes) })
    }
}
