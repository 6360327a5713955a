#if Server
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A file of the dashboard, which is a part of the program.
///
/// The page has no data: it asks for them as any other client does, with the token of its user.
enum DashboardFile {
    case page, style, script

    fileprivate var contentType: String {
        switch self {
        case .page: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .script: "text/javascript; charset=utf-8"
        }
    }

    fileprivate var bytes: [UInt8] {
        switch self {
        case .page: PackageResources.index_html
        case .style: PackageResources.style_css
        case .script: PackageResources.app_js
        }
    }
}

extension Response {
    init(_ file: DashboardFile) {
        self.init(
            status: .ok,
            headers: [
                .contentType: file.contentType,
                .cacheControl: "no-cache",
                .contentSecurityPolicy: Self.policy,
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes))
        )
    }

    /// The page runs its own script alone, asks this server alone, and stands in no frame.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
}
#endif
