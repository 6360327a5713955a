internal import Foundation

// A bound of time says nothing on an unknown machine. A ratio of two sizes in one run does:
// four times as much costs four to five times as much if the cost is linear, or linear but for a
// logarithm, and sixteen times if it is the square.

/// How much more processor time the same work takes in a larger size.
public struct CostRatio: Sendable, CustomStringConvertible {
    public let small, large: Double

    /// The greatest ratio of two sizes, one four times the other, that is not the square.
    public static let fourfoldMax = 10.0

    /// Measures the least times of several runs, small and large by turns: other work of the machine
    /// lengthens some runs, and shortens none.
    public init(
        rounds: Int = 3,
        small: () throws -> Void,
        large: () throws -> Void
    ) rethrows {
        var (least, leastLarge) = (Double.infinity, Double.infinity)
        for _ in 0..<rounds {
            least = min(least, try Self.cpuSeconds(small))
            leastLarge = min(leastLarge, try Self.cpuSeconds(large))
        }
        (self.small, self.large) = (least, leastLarge)
    }

    public var ratio: Double { large / small }
    public var isLinear: Bool { ratio < Self.fourfoldMax }

    public var description: String { "\(small * 1e3) ms, and \(ratio) times that" }

    /// The processor time that this thread takes for something.
    public static func cpuSeconds(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }
}
