#if Server
internal import Metrics
internal import Synchronization

/// The values of one name and its labels.
protocol MetricSeries: AnyObject, Sendable {
    /// `counter`, `gauge` or `histogram`.
    var type: String { get }
    func write(_ key: MetricKey, to text: inout String)
}

final class CounterSeries: MetricSeries, CounterHandler {
    private let value = Atomic<Int64>(0)

    let type = "counter"

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }

    func write(_ key: MetricKey, to text: inout String) {
        text += "\(key.text()) \(value.load(ordering: .relaxed))\n"
    }
}

final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)

    let type = "gauge"

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ new: Double) { value.withLock { $0 = new } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }

    func write(_ key: MetricKey, to text: inout String) {
        text += "\(key.text()) \(value.withLock(\.self))\n"
    }
}

final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
    private struct State {
        /// How many values are in each bucket; the last one has no bound.
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    let type = "histogram"

    static let seconds = [
        0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    static let sizes = (0...10).map { Double(1 << (2 * $0)) }

    /// - Parameter bounds: The greatest value of each bucket but the last, in their order.
    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: [Int](repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(_ key: MetricKey, to text: inout String) {
        let state = state.withLock(\.self)
        var count = 0
        for (bound, added) in zip(bounds.map { "\($0)" } + ["+Inf"], state.counts) {
            count += added
            text += "\(key.text("_bucket", "le=\"\(bound)\"")) \(count)\n"
        }
        text += "\(key.text("_sum")) \(state.sum)\n\(key.text("_count")) \(count)\n"
    }
}
#endif
