#if Server
internal import HTTPTypes

/// What a request is let in by: a secret, which no description shows.
struct BearerToken: CustomStringConvertible, CustomReflectable, Sendable {
    let text: String

    /// The longest token that is looked at, in bytes.
    static let sizeMax = 8 << 10

    init(_ text: String) { self.text = text }

    /// The token of a request.
    ///
    /// - Throws: ``AccessRefusal``: there has to be one, and one alone.
    init(_ headers: HTTPFields) throws(AccessRefusal) {
        let fields = headers[values: .authorization]
        guard let field = fields.first else { throw .noToken }
        let words = field.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count == 1, words.count == 2, words[0].lowercased() == "bearer" else {
            throw .invalid("the header is not Bearer and one token")
        }
        guard words[1].utf8.count <= Self.sizeMax else {
            throw .invalid("it has more than \(Self.sizeMax) bytes")
        }
        text = String(words[1])
    }

    var description: String { "a token of \(text.utf8.count) bytes" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
#endif
