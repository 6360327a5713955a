import GodwitTestKit
import InMemoryTracing
import Testing
import Tracing

@testable import GodwitServer

/// Requests as spans of the process's tracer.
@Suite struct TracingTests {
    @Test func `each request is a span with its route and status, if that is asked for`()
        async throws
    {
        let tracer = InMemoryTracer()
        // Once a process: the other tests' servers are not traced.
        InstrumentationSystem.bootstrap(tracer)
        let server = try AccessServer()
        let key = try await server.key("phone", [.create: "*"])
        try await server.serving(isTraced: true) {
            _ = try await server.ask(.create, key.token)
            _ = try await server.ask(.value, nil)
        }
        // The clients of other tests are traced, too.
        let spans = tracer.finishedSpans.filter { $0.operationName.hasPrefix("/") }
        #expect(
            spans.map(\.operationName) == ["/v1/replicas/{name}", "/v1/replicas/{name}/value"]
        )
        let statuses = spans.map { span in span.attributes["http.response.status_code"] }
        #expect(statuses.map { $0.map { "\($0)" } ?? "" } == ["int64(200)", "int64(401)"])
    }
}
