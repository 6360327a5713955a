/// A piece of structured data: what objects, deltas and messages are made of.
///
/// ```swift
/// let item: Value = ["name": "Wine", "crossed": false]
/// item["name"]  // "Wine"
/// ```
///
/// Two values are equal exactly when their canonical bytes are: strings are compared by their
/// UTF-8 bytes, an int is never equal to a double, and maps have no order.
public enum Value: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Finite)
    case string(Key)
    case bytes([UInt8])
    case list(List)
    case map(Map)
}

extension Value {
    /// The deepest nesting that is read, applied or stored; a scalar has depth 0.
    ///
    /// A value that an app builds deeper is refused with ``TreeError/tooDeep(limit:)`` where it
    /// would be stored, sent or applied. Comparison, hashing, digests, text and diffs recurse: a stack
    /// of 512 KB holds 500 levels, which tests cover, and one of 8 MB holds 10,000, where a difference
    /// takes time with the square of the depth. A merge takes 2.2 KB of stack a level: 200 levels on
    /// 512 KB, 3,500 on 8 MB. An app that builds values of unknown depth asks ``isNested(within:)``
    /// first.
    public static let depthMax = 64

    /// The value under a key of a map; nil for other kinds and for an absent key.
    public subscript(key: Key) -> Value? {
        guard case .map(let map) = self else { return nil }
        return map[key]
    }

    /// The entries of a map, or nil when this is something else.
    public var map: Map? {
        guard case .map(let map) = self else { return nil }
        return map
    }

    /// The items of a list, or nil when this is something else.
    public var list: List? {
        guard case .list(let items) = self else { return nil }
        return items
    }

    /// The text of a string, or nil when this is something else.
    public var text: String? {
        guard case .string(let key) = self else { return nil }
        return key.text
    }

    /// The integer, or nil when this is something else.
    public var integer: Int64? {
        guard case .int(let integer) = self else { return nil }
        return integer
    }

    /// The number as a double, or nil when this is something else.
    ///
    /// An int counts as a double if a double can tell it exactly.
    public var double: Double? { Double(value: self) }

    /// The truth value, or nil when this is something else.
    public var bool: Bool? { Bool(value: self) }

    /// The byte string, or nil when this is something else.
    public var byteString: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    /// The word for this kind of value in messages to people.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int: "int"
        case .double: "double"
        case .string: "string"
        case .bytes: "bytes"
        case .list: "list"
        case .map: "map"
        }
    }

    /// Whether this is a list or a map.
    var isContainer: Bool {
        switch self {
        case .list, .map: true
        default: false
        }
    }

    var isScalar: Bool { !isContainer }

    /// Whether no path through this value is longer than `limit` containers.
    ///
    /// - Complexity: O(*n*), but never deeper than `limit` calls.
    public func isNested(within limit: Int) -> Bool {
        switch self {
        case .list(let items):
            limit > 0 && items.tree.allSatisfy { $0.isNested(within: limit - 1) }
        case .map(let map):
            limit > 0 && map.tree.allSatisfy { $0.value.isNested(within: limit - 1) }
        default:
            true
        }
    }
}

// There is no nil literal on purpose: in `condition ? value : nil` it would turn "no value" into
// `null` without a word.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(Finite(floatLiteral: value)) }
    public init(stringLiteral value: String) { self = .string(Key(value)) }
    public init(arrayLiteral elements: Value...) { self = .list(List(elements)) }
    public init(dictionaryLiteral elements: (Key, Value)...) { self = .map(Map(elements)) }
}

extension Value: CustomStringConvertible {
    /// The value as EDN text, on one line.
    public var description: String { ednText() }
}

/// A double that is neither NaN nor infinite, and whose zero has no sign.
///
/// Only such doubles have one canonical form, so that equal values have equal bytes.
public struct Finite: Hashable, Sendable, ExpressibleByFloatLiteral {
    public let double: Double

    /// Returns nil for NaN and the infinities.
    public init?(_ double: Double) {
        guard double.isFinite else { return nil }
        self.double = double == 0 ? 0 : double
    }

    /// - Precondition: The literal is within a double's range.
    public init(floatLiteral value: Double) {
        precondition(value.isFinite, "A value is never infinite")
        self.double = value == 0 ? 0 : value
    }
}
