#if Server
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Counts each request, logs it, and gives its answer the id under which the log has it.
struct RequestLog: RouterMiddleware {
    typealias Context = AccessContext

    let metrics: ServerMetrics

    @concurrent func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var response = try await next(request, context)
        let duration = start.duration(to: .now)
        let route = ServerRoute(request.method, context.endpointPath)
        metrics.count(route, status: response.status.code, duration: duration)
        // `context.id` would end the process where the log keeps no metadata.
        if let id = context.logger[metadataKey: "hb.request.id"],
            let name = HTTPField.Name("x-request-id")
        {
            response.headers[name] = "\(id)"
        }
        let metadata: Logger.Metadata = [
            "method": "\(request.method)", "path": "\(request.uri.path)",
            "status": "\(response.status.code)",
            "milliseconds": "\(Int64(duration / .milliseconds(1)))",
        ]
        // Its logger names the request's id.
        context.logger.debug("answered", metadata: metadata)
        return response
    }
}
#endif
