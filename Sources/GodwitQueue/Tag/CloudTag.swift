internal import GRDB
public import GodwitTree

/// The revision that a cloud gave: an ETag, a rev, a generation.
///
/// It is kept under the name of what it is about, a path for instance; the identifier tells
/// several revisions of one thing apart.
public struct CloudTag: Hashable, Sendable {
    public let key: String
    public let identifier: String
    /// A string, an integer, a double or bytes; nil for none.
    public let value: Value?

    public init(_ value: Value?, for key: String, identifier: String = "") {
        self.key = key
        self.identifier = identifier
        self.value = value
    }

    /// A revision that is a text, such as an ETag; nil for none.
    @_disfavoredOverload
    public init(_ text: String?, for key: String, identifier: String = "") {
        self.init(text.map { .string(Key($0)) }, for: key, identifier: identifier)
    }
}

extension CloudTag {
    var encoded: Value {
        .list([.string(Key(key)), .string(Key(identifier)), value ?? .null])
    }

    init(encoded: Value) throws {
        guard let parts = encoded.list, parts.count == 3, let key = parts[0].text,
            let identifier = parts[1].text
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "not a tag") }
        self.init(parts[2] == .null ? nil : parts[2], for: key, identifier: identifier)
    }
}
