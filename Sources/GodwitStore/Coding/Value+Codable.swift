public import GodwitTree

/// A value is an object like any other: `Store.Collection<Value>` holds data without a type.
///
/// With the store's own coders it stays exactly what it is. Other coders see null, bools, ints,
/// doubles, strings, arrays and dictionaries; bytes become an array of numbers.
extension Value: Codable {
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let bool): try bool.encode(to: encoder)
        case .int(let int): try int.encode(to: encoder)
        case .double(let finite): try finite.double.encode(to: encoder)
        case .string(let key): try key.text.encode(to: encoder)
        case .bytes(let bytes): try bytes.encode(to: encoder)
        case .list(let items): try Array(items).encode(to: encoder)
        case .map(let map):
            var container = encoder.container(keyedBy: AnyKey.self)
            for entry in map {
                try container.encode(entry.value, forKey: AnyKey(entry.key.text))
            }
        }
    }

    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            self = .map(
                Value.Map(
                    try container.allKeys.map {
                        (Key($0.stringValue), try container.decode(Value.self, forKey: $0))
                    }
                )
            )
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var items: [Value] = []
            while !container.isAtEnd { items.append(try container.decode(Value.self)) }
            self = .list(items)
            return
        }
        self = try Self.scalar(in: decoder.singleValueContainer())
    }

    private static func scalar(in container: any SingleValueDecodingContainer) throws -> Value {
        if container.decodeNil() { return .null }
        if let bool = try? container.decode(Bool.self) { return .bool(bool) }
        if let int = try? container.decode(Int64.self) { return .int(int) }
        if let double = try? container.decode(Double.self), let finite = Finite(double) {
            return .double(finite)
        }
        return .string(Key(try container.decode(String.self)))
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
