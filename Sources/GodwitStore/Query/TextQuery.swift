/// The objects of a collection whose texts have some words, the best match first.
///
/// ```swift
/// let words = Store.Index.fullText("words", on: "title", "text")
/// let query = notes.matching("red wi", by: words).limit(20)     // "red wine", "wide red" …
///
/// for row in try await store.read({ try $0.objects(query) }) {
///     show(row.object.title, row.snippet)
/// }
/// ```
public struct TextQuery<Object: Codable & Sendable>: Sendable {
    public let collection: StoreCollection<Object>
    let index: StoreIndex
    let pattern: TextPattern
    /// The tests that objects also have to pass.
    private(set) var filtered: StoreQuery<Object>

    init(_ collection: StoreCollection<Object>, _ pattern: TextPattern, by index: StoreIndex) {
        precondition(index.kind != .ordered, "\(index.name) is no full-text index")
        (self.collection, self.pattern, self.index) = (collection, pattern, index)
        filtered = collection.all
    }

    /// The objects that also pass a test; each match is looked at.
    public func `where`(_ filter: Filter<Object>) -> TextQuery {
        var query = self
        query.filtered = filtered.where(filter)
        return query
    }

    /// The objects of which a property also passes a test; each match is looked at.
    public func `where`<Property: Encodable & Sendable>(
        _ path: any KeyPath<Object, Property> & Sendable,
        _ test: FieldTest<Property>
    ) -> TextQuery {
        self.where(Filter(path, test))
    }

    /// The objects of which an optional property also passes a test; each match is looked at.
    public func `where`<Property: Encodable & Sendable>(
        _ path: any KeyPath<Object, Property?> & Sendable,
        _ test: FieldTest<Property>
    ) -> TextQuery {
        self.where(Filter(path, test))
    }

    /// The best matches, and no more of them.
    public func limit(_ count: Int) -> TextQuery {
        var query = self
        query.filtered = filtered.limit(count)
        return query
    }
}

extension StoreCollection {
    /// The objects whose texts have some words.
    ///
    /// - Parameters:
    ///   - pattern: The words to look for.
    ///   - index: A full-text index of the collection (``StoreIndex/fullText(_:on:by:)``).
    public func matching(_ pattern: TextPattern, by index: StoreIndex) -> TextQuery<Object> {
        TextQuery(self, pattern, by: index)
    }

    /// The objects whose texts have the words that a person has typed.
    @_disfavoredOverload
    public func matching(_ text: String, by index: StoreIndex) -> TextQuery<Object> {
        TextQuery(self, TextPattern(text), by: index)
    }
}

/// The words that a full-text search looks for.
///
/// What a person has typed is a pattern as it is: no character has a meaning of its own. The first
/// ``wordsMax`` words count.
public struct TextPattern: Hashable, Sendable, ExpressibleByStringLiteral {
    /// How many words of a text count; FTS5 takes time by the square of their number.
    public static let wordsMax = 64

    /// As FTS5 reads it; nil if there is no word.
    let expression: String?

    /// All words of a text in any order, the last one perhaps only begun: a search while typing.
    public init(_ text: String) { self.init(text, isLastBegun: true, " ") }

    public init(stringLiteral text: String) { self.init(text) }

    /// All words of a text, in any order.
    public static func allWords(_ text: String) -> TextPattern {
        TextPattern(text, isLastBegun: false, " ")
    }

    /// One or more words of a text.
    public static func anyWord(_ text: String) -> TextPattern {
        TextPattern(text, isLastBegun: false, " OR ")
    }

    /// The words of a text one after the other.
    public static func phrase(_ text: String) -> TextPattern {
        TextPattern(expression: text.allSatisfy(\.isWhitespace) ? nil : quoted(text))
    }

    /// - Parameter connective: A space, and no `AND`, between words of which all have to be there: FTS5 passes
    ///   over one without a letter then.
    private init(_ text: String, isLastBegun: Bool, _ connective: String) {
        let words = text.split(maxSplits: Self.wordsMax, whereSeparator: \.isWhitespace)
            .prefix(Self.wordsMax).map { Self.quoted($0) }
        let last = isLastBegun && text.last?.isWhitespace == false ? " *" : ""
        expression = words.isEmpty ? nil : words.joined(separator: connective) + last
    }

    private init(expression: String?) { self.expression = expression }

    /// A string of FTS5, which ends at a null character.
    private static func quoted(_ text: some StringProtocol) -> String {
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": quoted.append(" ")
            case "\"": quoted.append(contentsOf: "\"\"".unicodeScalars)
            default: quoted.append(scalar)
            }
        }
        quoted.append("\"")
        return String(quoted)
    }
}

/// The objects that a full-text search has found, the best match first.
public struct TextRows<Object: Sendable>: Sendable {
    private var rows: [TextRow<Object>] = []

    /// The objects that are left out because they cannot be read, and why, by key.
    public private(set) var unreadable: [String: StoreError] = [:]

    init() {}

    mutating func append(_ row: TextRow<Object>) { rows.append(row) }
    mutating func leaveOut(_ key: String, because error: StoreError) { unreadable[key] = error }
}

extension TextRows: RandomAccessCollection {
    public var startIndex: Int { rows.startIndex }
    public var endIndex: Int { rows.endIndex }
    public subscript(position: Int) -> TextRow<Object> { rows[position] }
}

/// An object that a full-text search has found.
public struct TextRow<Object: Sendable>: Sendable {
    public let key: String
    public let object: Object
    /// How well the object fits (BM25): the higher, the better.
    ///
    /// It compares rows of one result alone.
    public let score: Double
    /// A part of the texts with words that fit.
    public let snippet: TextSnippet
}

extension TextRow: Identifiable {
    public var id: String { key }
}

/// A part of a text, and where the words are that were looked for.
public struct TextSnippet: Hashable, Sendable {
    public let text: String
    /// The places of the words in ``text``.
    public let matches: [Range<String.Index>]

    /// - Parameter marked: A text with marks around what fits.
    init(marked: String) {
        var (scalars, matches) = (String.UnicodeScalarView(), [Range<Int>]())
        // Offsets in UTF-8: a mark may stand within a character, between a letter and its vowel sign.
        var (offset, start) = (0, 0)
        for scalar in marked.unicodeScalars {
            switch scalar {
            case TextMatch.start: start = offset
            case TextMatch.end: matches.append(start..<offset)
            default:
                scalars.append(scalar)
                offset += UTF8.width(scalar)
            }
        }
        let text = String(scalars)
        self.text = text
        self.matches = matches.map { match in
            let lower = text.utf8.index(text.startIndex, offsetBy: match.lowerBound)
            return lower..<text.utf8.index(lower, offsetBy: match.count)
        }
    }

    /// The text with marks of another kind around the words: `snippet.marked("<b>", "</b>")`.
    public func marked(_ start: String, _ end: String) -> String {
        var (result, last) = ("", text.startIndex)
        for match in matches {
            result += text[last..<match.lowerBound] + start + text[match] + end
            last = match.upperBound
        }
        return result + text[last...]
    }
}
