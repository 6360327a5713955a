#if Server
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Refuses requests that name a host which is not this server.
///
/// A page in a browser may have its own name lead to the loopback address (DNS rebinding), and would
/// talk to a server that listens there; its requests still name the page's host.
struct HostCheck: RouterMiddleware {
    typealias Context = AccessContext

    private static let loopbackNames: Set<String> = ["127.0.0.1", "::1", "localhost"]

    /// nil for all hosts.
    private let allowed: Set<String>?

    /// - Parameters:
    ///   - address: The address that the server listens on. On any but a loopback address, requests for
    ///     all hosts are let in, unless some are named.
    ///   - names: The names of the server; those of the loopback address need not be named.
    init(address: String, names: [String]) {
        let known = Self.loopbackNames.union(([address] + names).map { $0.lowercased() })
        allowed = Loopback.contains(address) || !names.isEmpty ? known : nil
    }

    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, !allows(authority) else {
            return try await next(request, context)
        }
        context.logger.notice(
            "request refused",
            metadata: ["reason": "wrong host", "host": "\(authority)"]
        )
        let message = "this server is not \(authority); see --allow-host"
        return Response(refusing: .misdirectedRequest, code: "wrongHost", message: message)
    }

    func allows(_ authority: String) -> Bool {
        allowed?.contains(Self.host(of: authority)) ?? true
    }

    /// The host of `host:port`; that of an IPv6 address stands in brackets.
    static func host(of authority: String) -> String {
        let name =
            if authority.hasPrefix("[") {
                authority.dropFirst().prefix { $0 != "]" }
            } else {
                authority.prefix { $0 != ":" }
            }
        return name.lowercased()
    }
}
#endif
