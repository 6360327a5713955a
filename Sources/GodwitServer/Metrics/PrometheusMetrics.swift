#if Server
public import Metrics
internal import Synchronization

/// Keeps the metrics of a process, and writes them as Prometheus reads them.
///
/// ```swift
/// var options = SyncOptions()
/// options.metrics = PrometheusMetrics()
/// let server = SyncServer(store: store, options: options)
/// try await server.run()
/// ```
///
/// For the metrics of the store and of other packages, pass it to `MetricsSystem.bootstrap` too, when the
/// process begins. The server answers `GET /metrics` with ``text``. A counter `godwit.server.requests` has the name
/// `godwit_server_requests_total`; timers and recorders become histograms, those of timers in seconds.
/// The format is version 0.0.4 of Prometheus' text format.
public final class PrometheusMetrics: MetricsFactory, Sendable {
    private let all = Mutex<[MetricKey: any MetricSeries]>([:])

    public init() {}

    /// All metrics, in the order of their names.
    public var text: String {
        let series = all.withLock { all in all.sorted { $0.key < $1.key } }
        var (text, last) = ("", "")
        for (key, series) in series {
            if key.name != last { text += "# TYPE \(key.name) \(series.type)\n" }
            last = key.name
            series.write(key, to: &text)
        }
        return text
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(MetricKey(label + "_total", dimensions)) { CounterSeries() }
    }

    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        let key = MetricKey(label, dimensions)
        if aggregate { return series(key) { HistogramSeries(bounds: HistogramSeries.sizes) } }
        return series(key) { GaugeSeries() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(MetricKey(label, dimensions)) { GaugeSeries() }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(MetricKey(label + "_seconds", dimensions)) {
            HistogramSeries(bounds: HistogramSeries.seconds)
        }
    }

    public func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }

    /// The series of a key: a label that is made again goes on.
    private func series<Series: MetricSeries>(_ key: MetricKey, _ make: () -> Series) -> Series {
        all.withLock { all in
            // A label of two kinds is a mistake of the program: the first kind stands.
            if let known = all[key] { return known as? Series ?? make() }
            let new = make()
            all[key] = new
            return new
        }
    }

    private func destroy(_ handler: AnyObject) {
        all.withLock { all in all = all.filter { $0.value !== handler } }
    }
}

/// The name of a series and its labels, as Prometheus takes them.
struct MetricKey: Hashable, Comparable {
    let name: String
    /// As they are written, such as `route="exchange",status="200"`.
    let labels: String

    init(_ label: String, _ dimensions: [(String, String)]) {
        name = Self.named(label)
        labels = dimensions.map { "\(Self.named($0))=\"\(Self.escaped($1))\"" }
            .joined(separator: ",")
    }

    static func < (left: MetricKey, right: MetricKey) -> Bool {
        (left.name, left.labels) < (right.name, right.labels)
    }

    /// `name{labels}`, with a suffix of the name and one more label.
    func text(_ suffix: String = "", _ label: String = "") -> String {
        let all = [labels, label].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? name + suffix : "\(name)\(suffix){\(all)}"
    }

    private static func named(_ text: String) -> String {
        let name = String(
            text.unicodeScalars.map { scalar -> Character in
                let isKnown =
                    scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9") ~= scalar)
                return isKnown ? Character(scalar) : "_"
            }
        )
        return name.first?.isNumber ?? true ? "_" + name : name
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
            "\n",
            with: "\\n"
        )
    }
}
#endif
