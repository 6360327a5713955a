internal import Foundation
public import GodwitTree

/// Turns values back into the app's `Codable` types.
///
/// What does not fit throws `DecodingError` with the path to it. A field that is missing is read from
/// the type's default object, if it has one; see ``Defaulted``.
public struct ValueDecoder: Sendable {
    public init() {}

    public func decode<Object: Decodable>(_ type: Object.Type, from value: Value) throws -> Object {
        try Reading(value: value, codingPath: []).object(type)
    }

    /// Decodes an object, and notes which fields of the value it has asked for.
    func decode<Object: Decodable>(
        _ type: Object.Type,
        from value: Value,
        noting asked: AskedFields
    ) throws -> Object {
        try Reading(value: value, codingPath: [], asked: asked).object(type)
    }
}

/// A value that is being read, and where it is.
private struct Reading: Decoder {
    let value: Value
    let codingPath: [any CodingKey]
    var asked: AskedFields?
    /// The type that reads its fields here.
    var type: Any.Type?
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .map(let map) = value else { throw mismatch(Value.Map.self) }
        return KeyedDecodingContainer(
            KeyedReading(map: map, codingPath: codingPath, asked: asked, type: self.type)
        )
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let items) = value else { throw mismatch([Value].self) }
        return UnkeyedReading(items: items, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func object<Object: Decodable>(_ type: Object.Type) throws -> Object {
        if type == Value.self, let object = value as? Object {
            asked?.noteAll(at: codingPath)
            return object
        }
        if type == Data.self, let data = value.data as? Object { return data }
        if type == Date.self, let date = value.date as? Object { return date }
        if type == URL.self, let text = value.text, let url = URL(string: text) as? Object {
            return url
        }
        if type == Decimal.self {
            guard let decimal = value.decimal as? Object else { throw mismatch(type) }
            return decimal
        }
        var reading = self
        reading.type = type
        return try Object(from: reading)
    }

    func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(
            type,
            .init(codingPath: codingPath, debugDescription: "there is a \(value.kind)")
        )
    }
}

extension Reading: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let bool) = value else { throw mismatch(type) }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let key) = value else { throw mismatch(type) }
        return key.text
    }

    /// An int is a fine double when nothing is lost: JSON knows no difference.
    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .double(let finite): return finite.double
        case .int(let int):
            guard let double = Double(exactly: int) else { throw mismatch(type) }
            return double
        default: throw mismatch(type)
        }
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    func decode<Object: Decodable>(_ type: Object.Type) throws -> Object { try object(type) }

    private func integer<Integer: FixedWidthInteger>() throws -> Integer {
        guard case .int(let int) = value, let integer = Integer(exactly: int) else {
            throw mismatch(Integer.self)
        }
        return integer
    }
}

private struct UnkeyedReading: UnkeyedDecodingContainer {
    let items: Value.List
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(items: Value.List, codingPath: [any CodingKey]) {
        self.items = items
        self.codingPath = codingPath
    }

    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex == items.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, items[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Object: Decodable>(_ type: Object.Type) throws -> Object {
        let object = try peek().object(type)
        currentIndex += 1
        return object
    }

    mutating func nestedContainer<Key>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        try take().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try take() }

    private mutating func take() throws -> Reading {
        defer { currentIndex += 1 }
        return try peek()
    }

    private func peek() throws -> Reading {
        let path = codingPath + [Position(intValue: currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self,
                .init(codingPath: path, debugDescription: "the list ends here")
            )
        }
        return Reading(value: items[currentIndex], codingPath: path)
    }

    private struct Position: CodingKey {
        let position: Int
        var stringValue: String { String(position) }
        var intValue: Int? { position }
        init(intValue: Int) { position = intValue }
        init?(stringValue: String) { nil }
    }
}

private struct KeyedReading<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let map: Value.Map
    let codingPath: [any CodingKey]
    let asked: AskedFields?
    let type: Any.Type?

    var allKeys: [Key] {
        asked?.noteAll(at: codingPath)
        return map.compactMap { Key(stringValue: $0.key.text) }
    }

    func contains(_ key: Key) -> Bool {
        asked?.note(key, at: codingPath)
        return map[GodwitTree.Key(key.stringValue)] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool { try reading(key).decodeNil() }

    func decode<Object: Decodable>(_ type: Object.Type, forKey key: Key) throws -> Object {
        try reading(key).object(type)
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try reading(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try reading(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        Reading(value: map["super"] ?? .null, codingPath: codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try reading(key) }

    private func reading(_ key: Key) throws -> Reading {
        asked?.note(key, at: codingPath)
        guard let value = try map[GodwitTree.Key(key.stringValue)] ?? defaultValue(key) else {
            throw DecodingError.keyNotFound(
                key,
                .init(codingPath: codingPath, debugDescription: "there is no such key")
            )
        }
        return Reading(value: value, codingPath: codingPath + [key], asked: asked)
    }

    /// Asked for only where a field is missing: the cast takes its time.
    private func defaultValue(_ key: Key) throws -> Value? {
        try (type as? any Defaulted.Type)?.defaultField(GodwitTree.Key(key.stringValue))
    }
}
