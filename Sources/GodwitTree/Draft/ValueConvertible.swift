/// A type of Swift whose values can be assigned to a place of a ``Draft``, and read from it.
///
/// `Bool`, integers, `Double`, `Float`, `String` and ``Key`` conform; so do arrays and dictionaries
/// of conforming types; `[UInt8]` is a byte string. A type of your own conforms if it writes and
/// reads itself:
///
/// ```swift
/// extension Money: ValueConvertible {
///     func asValue() throws(TreeError) -> Value { try cents.asValue() }
///
///     init?(value: Value) {
///         guard let cents = Int(value: value) else { return nil }
///         self.init(cents: cents)
///     }
/// }
/// ```
public protocol ValueConvertible {
    /// The value that stands for this.
    ///
    /// - Throws: ``TreeError/inexpressible(path:reason:)`` where no value does: for NaN, for an
    ///   infinity, and for an integer beyond 64 bits with a sign.
    func asValue() throws(TreeError) -> Value

    /// Reads this type from a value; nil if the kind differs, or if the value does not fit.
    ///
    /// `Double` and `Float` read an int that they represent exactly, because JSON writes 3.0 as 3.
    /// `Float` rounds a double; it reads none that is too large for it.
    init?(value: Value)

    /// Writes an array: bytes for `[UInt8]`, else a list.
    static func asValue(_ all: [Self]) throws(TreeError) -> Value

    /// Reads an array from a value.
    static func all(in value: Value) -> [Self]?
}

extension ValueConvertible {
    public static func asValue(_ all: [Self]) throws(TreeError) -> Value {
        var items: [Value] = []
        items.reserveCapacity(all.count)
        for (position, item) in all.enumerated() {
            do throws(TreeError) {
                items.append(try item.asValue())
            } catch {
                throw error.within(.position(position))
            }
        }
        return .list(items)
    }

    public static func all(in value: Value) -> [Self]? {
        guard let list = value.list else { return nil }
        var all: [Self] = []
        for item in list {
            guard let item = Self(value: item) else { return nil }
            all.append(item)
        }
        return all
    }
}

// MARK: - Values

extension Value: ValueConvertible {
    public func asValue() -> Value { self }
    public init(value: Value) { self = value }
}

extension Value.List: ValueConvertible {
    public func asValue() -> Value { .list(self) }

    public init?(value: Value) {
        guard let list = value.list else { return nil }
        self = list
    }
}

extension Value.Map: ValueConvertible {
    public func asValue() -> Value { .map(self) }

    public init?(value: Value) {
        guard let map = value.map else { return nil }
        self = map
    }
}

// MARK: - Scalars

extension Bool: ValueConvertible {
    public func asValue() -> Value { .bool(self) }

    public init?(value: Value) {
        guard case .bool(let bool) = value else { return nil }
        self = bool
    }
}

extension ValueConvertible where Self: BinaryInteger {
    public func asValue() throws(TreeError) -> Value {
        guard let int = Int64(exactly: self) else {
            throw .inexpressible(path: ValuePath(), reason: "\(self) is no integer of 64 bits")
        }
        return .int(int)
    }

    public init?(value: Value) {
        guard case .int(let int) = value else { return nil }
        self.init(exactly: int)
    }
}

extension Int: ValueConvertible {}
extension Int8: ValueConvertible {}
extension Int16: ValueConvertible {}
extension Int32: ValueConvertible {}
extension Int64: ValueConvertible {}
extension UInt: ValueConvertible {}
extension UInt16: ValueConvertible {}
extension UInt32: ValueConvertible {}
extension UInt64: ValueConvertible {}

extension UInt8: ValueConvertible {
    /// A byte string.
    public static func asValue(_ all: [UInt8]) -> Value { .bytes(all) }

    public static func all(in value: Value) -> [UInt8]? { value.byteString }
}

extension Double: ValueConvertible {
    public func asValue() throws(TreeError) -> Value {
        guard let finite = Finite(self) else {
            throw .inexpressible(path: ValuePath(), reason: "\(self) is not a finite number")
        }
        return .double(finite)
    }

    public init?(value: Value) {
        switch value {
        case .double(let finite): self = finite.double
        case .int(let int): self.init(exactly: int)
        default: return nil
        }
    }
}

extension Float: ValueConvertible {
    public func asValue() throws(TreeError) -> Value { try Double(self).asValue() }

    public init?(value: Value) {
        if case .int(let int) = value {
            self.init(exactly: int)
            return
        }
        guard let double = Double(value: value) else { return nil }
        self.init(double)
        if isInfinite { return nil }
    }
}

extension Finite: ValueConvertible {
    public func asValue() -> Value { .double(self) }

    public init?(value: Value) {
        guard case .double(let finite) = value else { return nil }
        self = finite
    }
}

extension Key: ValueConvertible {
    public func asValue() -> Value { .string(self) }

    public init?(value: Value) {
        guard case .string(let key) = value else { return nil }
        self = key
    }
}

extension String: ValueConvertible {
    public func asValue() -> Value { .string(Key(self)) }

    public init?(value: Value) {
        guard let text = value.text else { return nil }
        self = text
    }
}

extension Substring: ValueConvertible {
    public func asValue() -> Value { .string(Key(String(self))) }

    public init?(value: Value) {
        guard let text = value.text else { return nil }
        self.init(text)
    }
}

// MARK: - Several

extension Array: ValueConvertible where Element: ValueConvertible {
    public func asValue() throws(TreeError) -> Value { try Element.asValue(self) }

    public init?(value: Value) {
        guard let all = Element.all(in: value) else { return nil }
        self = all
    }
}

/// A type of dictionary keys: `String` or ``Key``.
public protocol ValueKey: Hashable {
    init(key: Key)
    func asKey() -> Key
}

extension Key: ValueKey {
    public init(key: Key) { self = key }
    public func asKey() -> Key { self }
}

extension String: ValueKey {
    public init(key: Key) { self = key.text }
    public func asKey() -> Key { Key(self) }
}

extension Dictionary: ValueConvertible where Key: ValueKey, Value: ValueConvertible {
    public func asValue() throws(TreeError) -> GodwitTree.Value {
        var entries: [GodwitTree.Value.Map.Entry] = []
        entries.reserveCapacity(count)
        for (name, value) in self {
            do throws(TreeError) {
                entries.append(.init(key: name.asKey(), value: try value.asValue()))
            } catch {
                throw error.within(.key(name.asKey()))
            }
        }
        return .map(GodwitTree.Value.Map(entries))
    }

    public init?(value: GodwitTree.Value) {
        guard let map = value.map else { return nil }
        self.init(minimumCapacity: map.count)
        for entry in map {
            guard let value = Value(value: entry.value) else { return nil }
            self[Key(key: entry.key)] = value
        }
    }
}
