internal import Foundation
public import GodwitTree

/// Turns the app's `Codable` types into values.
///
/// `Data` becomes bytes, `URL` a string, `Decimal` one number without loss, a
/// ``/GodwitTree/Value`` itself; everything else encodes as its `encode(to:)` says. NaN, infinities and integers beyond 64 bits throw `EncodingError`.
public struct ValueEncoder: Sendable {
    public init() {}

    public func encode(_ object: some Encodable) throws -> Value {
        try Value(encoding: object, at: .root)
    }
}

/// What one `encode(to:)` has said so far about its value.
///
/// Only what has containers of its own gets a slot; scalars go where they belong at once.
private final class Slot {
    enum Item {
        case value(Value)
        /// A nested container: it is complete when the whole `encode(to:)` has returned.
        case slot(Slot)

        var value: Value {
            switch self {
            case .value(let value): value
            case .slot(let slot): slot.value
            }
        }
    }

    enum Kind {
        case single, list, map
    }

    private var kind = Kind.single
    private var items: [Item] = []
    /// Of a map, the keys of the items.
    private var keys: [GodwitTree.Key] = []

    var count: Int { items.count }

    /// A type that encodes nothing at all is taken for one without fields.
    var value: Value {
        switch kind {
        case .single: items.last?.value ?? .map([:])
        case .list: .list(items.map(\.value))
        case .map:
            .map(Value.Map(zip(keys, items).map { Value.Map.Entry(key: $0, value: $1.value) }))
        }
    }

    func become(_ kind: Kind) {
        guard self.kind != kind else { return }
        (self.kind, items, keys) = (kind, [], [])
        guard kind == .map else { return }
        items.reserveCapacity(8)
        keys.reserveCapacity(8)
    }

    func append(_ item: Item) { items.append(item) }

    func append(_ item: Item, for key: String) {
        keys.append(GodwitTree.Key(key))
        items.append(item)
    }
}

/// Where an encoder is, spelled out only when an error or the app asks.
private indirect enum Path {
    case root
    case child(of: Path, any CodingKey)

    var codingPath: [any CodingKey] {
        switch self {
        case .root: []
        case .child(let parent, let key): parent.codingPath + [key]
        }
    }
}

extension Value {
    /// - Parameter path: Where the object belongs, for errors.
    fileprivate init<Object: Encodable>(
        encoding object: Object,
        at path: @autoclosure () -> Path
    ) throws {
        // Compared by type: a cast would cost more than the encoding of a scalar.
        if Object.self == String.self, let text = object as? String {
            self = .string(Key(text))
        } else if Object.self == Int.self, let integer = object as? Int {
            self = .int(Int64(integer))
        } else if Object.self == Value.self, let value = object as? Value {
            self = value
        } else if Object.self == Data.self, let data = object as? Data {
            self = .bytes(Array(data))
        } else if Object.self == URL.self, let url = object as? URL {
            self = .string(Key(url.absoluteString))
        } else if Object.self == Decimal.self, let decimal = object as? Decimal {
            self = try Value(decimal: decimal, at: path())
        } else {
            let slot = Slot()
            try object.encode(to: SlotEncoder(slot: slot, path: path()))
            self = slot.value
        }
    }

    fileprivate init(
        integer: some BinaryInteger,
        at path: @autoclosure () -> Path
    ) throws {
        guard let int = Int64(exactly: integer) else {
            throw EncodingError.invalidValue(
                integer,
                .init(codingPath: path().codingPath, debugDescription: "does not fit in 64 bits")
            )
        }
        self = .int(int)
    }

    fileprivate init(decimal: Decimal, at path: @autoclosure () -> Path) throws {
        guard let value = Value(decimal) else { throw notANumber(decimal, at: path()) }
        self = value
    }

    fileprivate init(double: Double, at path: @autoclosure () -> Path) throws {
        guard let finite = Finite(double) else { throw notANumber(double, at: path()) }
        self = .double(finite)
    }
}

private func notANumber(_ value: any Sendable, at path: Path) -> EncodingError {
    .invalidValue(
        value,
        .init(codingPath: path.codingPath, debugDescription: "is not a finite number")
    )
}

private struct SlotEncoder: Encoder {
    let slot: Slot
    let path: Path
    var codingPath: [any CodingKey] { path.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.become(.map)
        return KeyedEncodingContainer(KeyedSlot(slot: slot, path: path))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.become(.list)
        return UnkeyedSlot(slot: slot, path: path)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleSlot(slot: slot, path: path)
    }
}

private struct SingleSlot: SingleValueEncodingContainer {
    let slot: Slot
    let path: Path
    var codingPath: [any CodingKey] { path.codingPath }

    func encodeNil() { slot.append(.value(.null)) }
    func encode(_ value: Bool) { slot.append(.value(.bool(value))) }
    func encode(_ value: String) { slot.append(.value(.string(Key(value)))) }
    func encode(_ value: Double) throws { slot.append(.value(try Value(double: value, at: path))) }
    func encode(_ value: Float) throws { try encode(Double(value)) }
    func encode(_ value: some Encodable & BinaryInteger) throws {
        slot.append(.value(try Value(integer: value, at: path)))
    }
    func encode(_ value: some Encodable) throws {
        slot.append(.value(try Value(encoding: value, at: path)))
    }
}

private struct UnkeyedSlot: UnkeyedEncodingContainer {
    let slot: Slot
    let path: Path
    var codingPath: [any CodingKey] { path.codingPath }
    var count: Int { slot.count }

    func encodeNil() { slot.append(.value(.null)) }
    func encode(_ value: Bool) { slot.append(.value(.bool(value))) }
    func encode(_ value: String) { slot.append(.value(.string(Key(value)))) }
    func encode(_ value: Double) throws { slot.append(.value(try Value(double: value, at: path))) }
    func encode(_ value: Float) throws { try encode(Double(value)) }
    func encode(_ value: some Encodable & BinaryInteger) throws {
        slot.append(.value(try Value(integer: value, at: path)))
    }
    func encode(_ value: some Encodable) throws {
        slot.append(.value(try Value(encoding: value, at: path)))
    }

    func nestedContainer<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }

    func superEncoder() -> any Encoder { nested() }

    private func nested() -> SlotEncoder {
        let inner = Slot()
        slot.append(.slot(inner))
        return SlotEncoder(slot: inner, path: path)
    }
}

private struct KeyedSlot<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    let path: Path
    var codingPath: [any CodingKey] { path.codingPath }

    func encodeNil(forKey key: Key) { put(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { put(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { put(.string(GodwitTree.Key(value)), key) }
    func encode(_ value: Double, forKey key: Key) throws {
        put(try Value(double: value, at: .child(of: path, key)), key)
    }
    func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }
    func encode(_ value: some Encodable & BinaryInteger, forKey key: Key) throws {
        put(try Value(integer: value, at: .child(of: path, key)), key)
    }
    func encode(_ value: some Encodable, forKey key: Key) throws {
        put(try Value(encoding: value, at: .child(of: path, key)), key)
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key, key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key, key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nested(nil, "super") }

    func superEncoder(forKey key: Key) -> any Encoder { nested(key, key.stringValue) }

    private func put(_ value: Value, _ key: Key) {
        slot.append(.value(value), for: key.stringValue)
    }

    private func nested(_ key: Key?, _ name: String) -> SlotEncoder {
        let inner = Slot()
        slot.append(.slot(inner), for: name)
        return SlotEncoder(slot: inner, path: key.map { .child(of: path, $0) } ?? path)
    }
}
