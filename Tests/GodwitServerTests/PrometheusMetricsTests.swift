import Metrics
import Testing

@testable import GodwitServer

@Suite struct PrometheusMetricsTests {
    private let metrics = PrometheusMetrics()

    @Test func `the text is that of Prometheus' format`() {
        let get = Counter(label: "app.requests", dimensions: [("route", "get")], factory: metrics)
        let odd = Counter(
            label: "app.requests",
            dimensions: [("route", "a\\b\"c\nd")],
            factory: metrics
        )
        get.increment(by: 2)
        odd.increment()
        let depth = Gauge(label: "app.depth", factory: metrics)
        depth.record(3)
        let open = Meter(label: "9.open", factory: metrics)
        open.increment()
        open.increment()
        open.decrement()
        #expect(
            metrics.text == """
                # TYPE _9_open gauge
                _9_open 1.0
                # TYPE app_depth gauge
                app_depth 3.0
                # TYPE app_requests_total counter
                app_requests_total{route="a\\\\b\\"c\\nd"} 1
                app_requests_total{route="get"} 2

                """
        )
    }

    @Test func `a timer is a histogram in seconds, whose buckets add up`() {
        let timer = Metrics.Timer(
            label: "app.work",
            dimensions: [("route", "get")],
            factory: metrics
        )
        for milliseconds in [1, 2, 2, 30_000] { timer.recordMilliseconds(milliseconds) }
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "# TYPE app_work_seconds histogram")
        #expect(lines.contains(#"app_work_seconds_bucket{route="get",le="0.0005"} 0"#))
        #expect(lines.contains(#"app_work_seconds_bucket{route="get",le="0.001"} 1"#))
        #expect(lines.contains(#"app_work_seconds_bucket{route="get",le="0.0025"} 3"#))
        #expect(lines.contains(#"app_work_seconds_bucket{route="get",le="10.0"} 3"#))
        #expect(lines.contains(#"app_work_seconds_bucket{route="get",le="+Inf"} 4"#))
        #expect(lines.contains(#"app_work_seconds_sum{route="get"} 30.005"#))
        #expect(lines.last == #"app_work_seconds_count{route="get"} 4"#)
    }

    @Test func `a label that is made again goes on, until it is destroyed`() {
        Counter(label: "a", factory: metrics).increment()
        let again = Counter(label: "a", factory: metrics)
        again.increment()
        #expect(metrics.text == "# TYPE a_total counter\na_total 2\n")
        metrics.destroyCounter(metrics.makeCounter(label: "a", dimensions: []))
        #expect(metrics.text == "")
    }

    @Test func `requests are counted by route and status`() {
        let server = ServerMetrics(metrics)
        for _ in 0..<2 { server.count(.exchange, status: 200, duration: .milliseconds(3)) }
        server.count(nil, status: 404, duration: .milliseconds(1))
        let stream = server.stream()
        let text = metrics.text
        #expect(text.contains(#"godwit_server_requests_total{route="exchange",status="200"} 2"#))
        #expect(text.contains(#"godwit_server_requests_total{route="unknown",status="404"} 1"#))
        #expect(text.contains(#"godwit_server_request_seconds_count{route="exchange"} 2"#))
        #expect(text.contains("godwit_server_streams 1.0"))
        withExtendedLifetime(stream) {}
    }
}
