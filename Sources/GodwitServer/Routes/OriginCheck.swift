#if Server
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Refuses pages in browsers that are from another site, and tells browsers which ones may use the server
/// (the Fetch standard's CORS protocol).
///
/// A browser says where a page is from, and asks before it sends another site's request with a token. The
/// server keeps nothing in cookies, so that a page of another site has no rights but those of its token.
struct OriginCheck: RouterMiddleware {
    typealias Context = AccessContext

    private let allowed: Set<String>
    /// The server's own names, beside the one that a request gives: a proxy may have changed that.
    private let hosts: Set<String>

    /// - Parameters:
    ///   - origins: Origins of pages, such as `https://app.example.com`.
    ///   - hosts: The names of the server.
    /// - Throws: ``AccessError/invalidOrigin(_:)``.
    init(_ origins: [String], hosts: [String]) throws(AccessError) {
        var allowed: Set<String> = []
        for origin in origins {
            guard let normal = Self.normal(origin) else { throw .invalidOrigin(origin) }
            allowed.insert(normal)
        }
        (self.allowed, self.hosts) = (allowed, Set(hosts.map { $0.lowercased() }))
    }

    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin] else { return try await next(request, context) }
        guard allowed.contains(origin.lowercased()) else {
            if isOwn(origin, of: request) { return try await next(request, context) }
            context.logger.notice(
                "request refused",
                metadata: ["reason": "wrong origin", "origin": "\(origin)"]
            )
            let message = "this server takes no requests of pages from there; see --allow-origin"
            return Response(refusing: .forbidden, code: "wrongOrigin", message: message)
        }
        let asks = request.method == .options && request.headers[.accessControlRequestMethod] != nil
        var response =
            if asks { Response(status: .noContent, headers: Self.permission) } else {
                try await next(request, context)
            }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = "retry-after, x-request-id"
        // Other origins get other answers.
        response.headers.append(HTTPField(name: .vary, value: "origin"))
        return response
    }

    /// What a page of an allowed origin may send.
    private static let permission: HTTPFields = [
        .accessControlAllowMethods: "GET, POST, PUT",
        .accessControlAllowHeaders:
            "accept, authorization, content-type, godwit-client, last-event-id, traceparent, "
            + "tracestate",
        .accessControlMaxAge: "7200",
    ]

    /// Whether the page is the server's own, by the name that the request gives, or by a known name.
    private func isOwn(_ origin: String, of request: Request) -> Bool {
        guard let separator = origin.range(of: "://") else { return false }
        let authority = origin[separator.upperBound...].lowercased()
        return authority == request.head.authority?.lowercased()
            || hosts.contains(HostCheck.host(of: authority))
    }

    /// The origin as browsers write it (RFC 6454, section 6.2); nil for what is none.
    static func normal(_ origin: String) -> String? {
        guard let parts = URLComponents(string: origin), let scheme = parts.scheme?.lowercased(),
            let host = parts.encodedHost?.lowercased(), !host.isEmpty, scheme != "file",
            parts.path.isEmpty, parts.query == nil, parts.fragment == nil, parts.user == nil
        else { return nil }
        let isUsual = parts.port == ["https": 443, "http": 80][scheme]
        return "\(scheme)://\(host)" + (isUsual ? "" : parts.port.map { ":\($0)" } ?? "")
    }
}
#endif
