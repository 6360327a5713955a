import Foundation

/// A figure of ours beside a peer's, or beside a limit, and whether that is as it should be.
struct Comparison {
    let name: String
    let ours: Double
    let peer: Double
    let unit: String
    let target: Target

    enum Target {
        /// Ours over the peer's must be at least this.
        case atLeast(Double)
        /// Ours over the peer's must be at most this.
        case atMost(Double)
        /// The peer's figure is the limit itself.
        case below
        /// Only shown.
        case none
    }

    var ratio: Double { ours / peer }

    var isMet: Bool {
        switch target {
        case .atLeast(let ratio): self.ratio >= ratio
        case .atMost(let ratio): self.ratio <= ratio
        case .below: ours < peer
        case .none: true
        }
    }

    var line: String {
        let figures = row(name, Self.text(ours), Self.text(peer), unit, Self.text(ratio))
        let wanted =
            switch target {
            case .atLeast(let ratio): "at least \(Self.text(ratio))"
            case .atMost(let ratio): "at most \(Self.text(ratio))"
            case .below: "below"
            case .none: ""
            }
        guard case .none = target else {
            return figures + row("", wanted, isMet ? "met" : "MISSED")
        }
        return figures
    }

    private static func text(_ number: Double) -> String {
        number >= 100 ? "\(Int(number.rounded()))" : String(format: "%.2f", number)
    }
}

/// Collects comparisons as they are made, and prints each at once.
final class Report {
    private(set) var missed: [Comparison] = []

    func title(_ text: String) {
        print("\n\(text)\n")
        print(row("", "ours", "peer", "unit", "ratio") + row("", "target", ""))
    }

    /// Says what a reader of the figures should know besides.
    func note(_ text: String) { print("  \(text)") }

    func add(
        _ name: String,
        _ ours: Double,
        _ peer: Double,
        _ unit: String,
        _ target: Comparison.Target
    ) {
        add(Comparison(name: name, ours: ours, peer: peer, unit: unit, target: target))
    }

    func add(_ comparison: Comparison) {
        print(comparison.line)
        if !comparison.isMet { missed.append(comparison) }
    }
}

/// The middle one, or the one that 99 of 100 do not exceed.
func percentile(_ share: Double, of values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
}

/// Runs two bodies alternately, and returns the median of what each has measured.
func medians(
    rounds: Int = 3,
    _ ours: (Int) async throws -> Double,
    _ peer: (Int) async throws -> Double
) async rethrows -> (ours: Double, peer: Double) {
    var (left, right): ([Double], [Double]) = ([], [])
    for round in 0..<rounds {
        left.append(try await ours(round))
        right.append(try await peer(round))
    }
    return (percentile(0.5, of: left), percentile(0.5, of: right))
}
