#if Server
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A file of a page, which is a part of the program.
///
/// A page has no data: it asks for them as any other client does.
struct PageFile {
    fileprivate let contentType: String
    fileprivate let bytes: [UInt8]

    private static func page(_ bytes: [UInt8]) -> PageFile {
        PageFile(contentType: "text/html; charset=utf-8", bytes: bytes)
    }

    private static func style(_ bytes: [UInt8]) -> PageFile {
        PageFile(contentType: "text/css; charset=utf-8", bytes: bytes)
    }

    private static func script(_ bytes: [UInt8]) -> PageFile {
        PageFile(contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }

    static let dashboard = page(PackageResources.index_html)
    static let dashboardStyle = style(PackageResources.style_css)
    static let dashboardScript = script(PackageResources.app_js)

    /// The description of all routes, as OpenAPI 3.1 has it.
    static let openAPI = PageFile(
        contentType: "application/json",
        bytes: PackageResources.openapi_json
    )

    static let demo = page(PackageResources.demo_html)
    static let demoStyle = style(PackageResources.demo_css)
    static let demoScript = script(PackageResources.demo_js)
    static let demoWorker = script(PackageResources.worker_js)
    /// The client of the exchange in JSON.
    static let client = script(PackageResources.godwit_js)
}

extension Response {
    init(_ file: PageFile) {
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

    /// A page runs its own scripts alone, asks this server alone, and stands in no frame.
    private static let policy = """
        default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'; \
        img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
}
#endif
