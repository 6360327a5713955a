internal import Foundation
public import GodwitTree

/// Turns the app's `Codable` types into values.
///
/// `Data` becomes bytes, `URL` a string, a ``/GodwitTree/Value`` itself; everything else encodes
/// as its `encode(to:)` says. NaN, infinities and integers beyond 64 bits throw `EncodingError`.
public struct ValueEncoder: Sendable {
    public init() {}

    public func encode(_ object: some Encodable) throws -> Value {
        let slot = Slot()
        try slot.fill(with: object, at: [])
        return slot.value
    }
}

/// A place in the value under construction.
private final class Slot {
    enum Content {
        case empty
        case scalar(Value)
        case list([Slot])
        case map([(Key, Slot)])
    }

    var content: Content = .empty

    var value: Value {
        switch content {
        case .empty: .map(Map())
        case .scalar(let value): value
        case .list(let slots): .list(slots.map(\.value))
        case .map(let slots): .map(Map(slots.map { ($0.0, $0.1.value) }))
        }
    }

    func append() -> Slot {
        let slot = Slot()
        guard case .list(var slots) = content else { return slot }
        content = .empty
        slots.append(slot)
        content = .list(slots)
        return slot
    }

    func insert(_ key: String) -> Slot {
        let slot = Slot()
        guard case .map(var slots) = content else { return slot }
        content = .empty
        slots.append((Key(key), slot))
        content = .map(slots)
        return slot
    }

    func fill(with object: some Encodable, at path: [any CodingKey]) throws {
        switch object {
        case let value as Value: content = .scalar(value)
        case let data as Data: content = .scalar(.bytes(Array(data)))
        case let url as URL: content = .scalar(.string(Key(url.absoluteString)))
        default: try object.encode(to: SlotEncoder(slot: self, codingPath: path))
        }
    }

    func fill(integer: some BinaryInteger, at path: [any CodingKey]) throws {
        guard let int = Int64(exactly: integer) else {
            throw EncodingError.invalidValue(
                integer,
                .init(codingPath: path, debugDescription: "does not fit in 64 bits")
            )
        }
        content = .scalar(.int(int))
    }

    func fill(double: Double, at path: [any CodingKey]) throws {
        guard let finite = Finite(double) else {
            throw EncodingError.invalidValue(
                double,
                .init(codingPath: path, debugDescription: "is not a finite number")
            )
        }
        content = .scalar(.double(finite))
    }
}

private struct SlotEncoder: Encoder {
    let slot: Slot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .map = slot.content {} else { slot.content = .map([]) }
        return KeyedEncodingContainer(KeyedSlot(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .list = slot.content {} else { slot.content = .list([]) }
        return UnkeyedSlot(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleSlot(slot: slot, codingPath: codingPath)
    }
}

private struct SingleSlot: SingleValueEncodingContainer {
    let slot: Slot
    let codingPath: [any CodingKey]

    func encodeNil() { slot.content = .scalar(.null) }
    func encode(_ value: Bool) { slot.content = .scalar(.bool(value)) }
    func encode(_ value: String) { slot.content = .scalar(.string(Key(value))) }
    func encode(_ value: Double) throws { try slot.fill(double: value, at: codingPath) }
    func encode(_ value: Float) throws { try slot.fill(double: Double(value), at: codingPath) }
    func encode(_ value: some Encodable & BinaryInteger) throws {
        try slot.fill(integer: value, at: codingPath)
    }
    func encode(_ value: some Encodable) throws {
        switch value {
        case let integer as any BinaryInteger: try slot.fill(integer: integer, at: codingPath)
        default: try slot.fill(with: value, at: codingPath)
        }
    }
}

private struct UnkeyedSlot: UnkeyedEncodingContainer {
    let slot: Slot
    let codingPath: [any CodingKey]

    var count: Int {
        if case .list(let slots) = slot.content { slots.count } else { 0 }
    }

    private func next() -> SingleSlot { SingleSlot(slot: slot.append(), codingPath: codingPath) }

    func encodeNil() { next().encodeNil() }
    func encode(_ value: some Encodable) throws { try next().encode(value) }

    func nestedContainer<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        superSlot().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        superSlot().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { superSlot() }

    private func superSlot() -> SlotEncoder {
        SlotEncoder(slot: slot.append(), codingPath: codingPath)
    }
}

private struct KeyedSlot<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { single(key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try single(key).encode(value) }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        SlotEncoder(slot: slot.insert("super"), codingPath: codingPath)
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: Key) -> SlotEncoder {
        SlotEncoder(slot: slot.insert(key.stringValue), codingPath: codingPath + [key])
    }

    private func single(_ key: Key) -> SingleSlot {
        SingleSlot(slot: slot.insert(key.stringValue), codingPath: codingPath + [key])
    }
}
