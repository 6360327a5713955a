#if PostgreSQL
internal import CLibpq
internal import Foundation

/// Where a database is, and as which user to come: `postgres://user@host:5432/name`.
///
/// ```swift
/// let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync?sslmode=verify-full")
/// ```
///
/// Its description leaves the password out. libpq takes what is missing from its environment, such as
/// `PGPASSFILE`, and knows all parameters that PostgreSQL's manual lists for connections.
public struct PostgreSQLAddress: Hashable, Sendable {
    let text: String
    private let shown: String

    /// - Throws: ``PostgreSQLError/unusableAddress(reason:)``.
    public init(_ text: String) throws(PostgreSQLError) {
        guard Self.schemes.contains(where: text.hasPrefix), !text.utf8.contains(0) else {
            throw .unusableAddress(reason: "it begins with postgres://")
        }
        guard let options = PQconninfoParse(text, nil) else {
            // What libpq says of it may have the password in it.
            throw .unusableAddress(reason: "libpq cannot read it")
        }
        defer { PQconninfoFree(options) }
        self.text = text
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            values[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
            option += 1
        }
        // A "/" in a password ends the host for libpq, which would show what it takes for the port.
        let isOdd = values["dbname"]?.contains("@") ?? false
        guard !isOdd, (values["port"] ?? "").allSatisfy({ $0.isNumber || $0 == "," }) else {
            throw .unusableAddress(
                reason: "write / as %2F, @ as %40 and : as %3A in the user and the password"
            )
        }
        let user = values["user"].map { "\($0)@" } ?? ""
        let port = values["port"].map { ":\($0)" } ?? ""
        let name = values["dbname"].map { "/\($0)" } ?? ""
        shown = "postgres://\(user)\(values["host"] ?? "")\(port)\(name)"
    }

    private static let schemes = ["postgres://", "postgresql://"]
}

extension PostgreSQLAddress: CustomStringConvertible {
    public var description: String { shown }
}
#endif
