#if PostgreSQL
internal import CLibpq
internal import Foundation

extension PostgreSQLAddress {
    /// Opens a connection, which the caller ends with `PQfinish`.
    ///
    /// What is sent on it never waits for the server: the session does so itself, up to a deadline.
    ///
    /// - Throws: ``PostgreSQLError/unreachable(reason:)``.
    func open(_ options: PostgreSQLOptions) throws(PostgreSQLError) -> OpaquePointer {
        let opened = Self.withPointers(keywords(options)) { PQconnectdbParams($0, $1, 1) }
        guard let opened else { throw .unreachable(reason: "there is no memory") }
        guard PQstatus(opened) == CONNECTION_OK, PQsetnonblocking(opened, 1) == 0 else {
            let reason = String(cString: PQerrorMessage(opened))
            PQfinish(opened)
            throw .unreachable(reason: reason.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        return opened
    }

    /// The parameters; what stands in the address counts more than what stands before it.
    private func keywords(_ options: PostgreSQLOptions) -> [(String, String)] {
        [
            ("connect_timeout", "\(options.connectSecondsMax)"),
            ("tcp_user_timeout", "\(1_000 * options.connectSecondsMax)"),
            ("keepalives_idle", "\(options.connectSecondsMax)"),
            ("keepalives_interval", "\(options.connectSecondsMax)"),
            // A node writes: of several hosts it wants the primary, and of one that is none, nothing.
            ("target_session_attrs", "read-write"),
            ("fallback_application_name", "godwit"),
            ("dbname", text),
            ("client_encoding", "UTF8"),
        ]
    }

    private static func withPointers<Result>(
        _ keywords: [(String, String)],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) ->
            Result
    ) -> Result {
        let texts = keywords.map { (strdup($0.0), strdup($0.1)) }
        defer {
            for (name, value) in texts {
                free(name)
                free(value)
            }
        }
        let names = texts.map { UnsafePointer<CChar>($0.0) } + [nil]
        let values = texts.map { UnsafePointer<CChar>($0.1) } + [nil]
        return body(names, values)
    }
}
#endif
