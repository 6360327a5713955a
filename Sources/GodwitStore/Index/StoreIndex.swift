public import GodwitTree

/// What a store keeps beside a collection, so that queries find its objects without reading all of them.
///
/// ```swift
/// let byPresence = Store.Index("byPresence", on: "presence", "name")
/// let inCity = Store.Index("inCity", on: Field("address", "city"))
/// let words = Store.Index.fullText("words", on: "title", "text")
/// ```
///
/// An index by order compares fields as SQLite does: null and what is no scalar (or is not there) first,
/// then numbers and bools, then strings by their UTF-8 bytes, then bytes.
public struct StoreIndex: Hashable, Sendable {
    public let name: String
    public let fields: [Field]
    let kind: IndexKind

    /// The order of a collection's objects by some of their fields, kept in every transaction.
    ///
    /// - Precondition: There is a field, and there are at most 8.
    public init(_ name: String, on fields: Field...) {
        self.init(name: name, fields: fields, kind: .ordered)
    }

    /// An index by the words of texts, for ``StoreCollection/matching(_:by:)-(TextPattern,_)``.
    ///
    /// A field may be a text, a list of texts, or have texts anywhere within it. The index is a table of
    /// SQLite's FTS5, and takes about as much room as the texts.
    ///
    /// - Parameters:
    ///   - name: The index's name in its collection.
    ///   - fields: The fields whose words are indexed.
    ///   - tokens: What the index splits texts into.
    /// - Precondition: There is a field, and there are at most 8.
    public static func fullText(
        _ name: String,
        on fields: Field...,
        by tokens: TextTokens = .words
    ) -> StoreIndex {
        StoreIndex(name: name, fields: fields, kind: .text(tokens))
    }

    init(name: String, fields: [Field], kind: IndexKind) {
        precondition((1...8).contains(fields.count), "An index has from 1 to 8 fields")
        (self.name, self.fields, self.kind) = (name, fields, kind)
    }
}

/// What a full-text index splits texts into.
public enum TextTokens: String, Hashable, Sendable {
    /// Words, whatever their case and accents.
    case words
    /// Any three characters, so that a search finds parts of words, and texts without spaces between words;
    /// a search for fewer than three characters finds nothing. The index is about three times as large.
    case trigrams
}

enum IndexKind: Hashable, Sendable {
    case ordered
    case text(TextTokens)
}

/// The way to a field of an object.
public struct Field: Hashable, Sendable, ExpressibleByStringLiteral {
    let path: [Key]

    public init(_ path: Key...) { self.path = path }
    public init(stringLiteral name: String) { path = [Key(name)] }
    init(path: [Key]) { self.path = path }

    func value(in object: Value?) -> Value? {
        path.reduce(object) { value, key in value?[key] }
    }

    /// The field of an object, or its default value if the object was stored without it.
    func value(in object: Value, or defaultValue: @autoclosure () -> Value?) -> Value? {
        guard let first = path.first, object[first] == nil else { return value(in: object) }
        return defaultValue()
    }
}

extension Field: CustomStringConvertible {
    public var description: String { path.map(\.text).joined(separator: ".") }
}

/// A field as an index holds it: something that SQLite can compare.
enum IndexedValue: Hashable, Sendable {
    /// Null, nothing, a list or a map. SQLite lets no key be NULL in a table without row ids; no
    /// object has an infinite number, so one stands for it.
    case none
    case int(Int64)
    case double(Double)
    case text(Key)
    case bytes([UInt8])

    init(_ value: Value?) {
        self =
            switch value {
            case .bool(let bool): .int(bool ? 1 : 0)
            case .int(let int): .int(int)
            case .double(let finite): .double(finite.double)
            case .string(let key): .text(key)
            case .bytes(let bytes): .bytes(bytes)
            case .null, .list, .map, nil: .none
            }
    }

    /// Reads a column of an index.
    init(_ statement: PreparedStatement, column: Int32) {
        self =
            switch statement.kind(column) {
            case .integer: .int(statement.integer(column))
            case .double where statement.double(column) == -.infinity: .none
            case .double: .double(statement.double(column))
            case .text: .text(Key(statement.text(column)))
            case .blob: .bytes(Array(statement.blob(column)))
            case .null: .none
            }
    }

    func bind(to statement: PreparedStatement, at index: Int32) throws {
        switch self {
        case .none: try statement.bind(-Double.infinity, at: index)
        case .int(let int): try statement.bind(int, at: index)
        case .double(let double): try statement.bind(double, at: index)
        case .text(let key): try statement.bind(key, at: index)
        case .bytes(let bytes):
            try bytes.withUnsafeBytes { try statement.bind($0, at: index) }
        }
    }
}

extension IndexedValue: Comparable {
    static func < (left: IndexedValue, right: IndexedValue) -> Bool {
        switch (left, right) {
        case (.int(let left), .int(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.int(let left), .double(let right)): isLess(left, than: right)
        case (.double(let left), .int(let right)):
            !isLess(right, than: left) && !isEqual(right, to: left)
        case (.text(let left), .text(let right)):
            left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
        case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
        default: left.rank < right.rank
        }
    }

    private var rank: Int {
        switch self {
        case .none: 0
        case .int, .double: 1
        case .text: 2
        case .bytes: 3
        }
    }

    /// Compares exactly, as SQLite does: a double cannot hold every 64-bit integer.
    private static func isLess(_ int: Int64, than double: Double) -> Bool {
        if double >= 0x1p63 { return true }
        if double < -0x1p63 { return false }
        let floor = double.rounded(.down)
        return floor == double ? int < Int64(double) : int <= Int64(floor)
    }

    private static func isEqual(_ int: Int64, to double: Double) -> Bool {
        Int64(exactly: double) == int
    }
}
