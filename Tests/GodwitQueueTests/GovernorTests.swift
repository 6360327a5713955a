import GodwitTestKit
import Testing

@testable import GodwitQueue

/// The pace of one host, the numbers of hosts and the order of footprints: pure values, by themselves.
@Suite struct GovernorTests {
    @Test func `a governor is at rest when a new one would do the same`() {
        let limit = RateLimit(perSecondMax: 2, burstMax: 4)
        var governor = Governor(limit, now: .zero)
        #expect(governor.isAtRest(at: .zero))
        governor.started(at: .zero)
        #expect(!governor.isAtRest(at: .zero), "one of four may start less")
        #expect(governor.isAtRest(at: .seconds(1)), "the bucket is full again")
        governor.throttled(startedAt: .seconds(1), until: .seconds(9), at: .seconds(2))
        #expect(!governor.isAtRest(at: .seconds(8)), "the host wants a pause")
        #expect(!governor.isAtRest(at: .seconds(100)), "the rate is lower")
    }

    @Test func `a governor without a limit is at rest whatever was started`() {
        var governor = Governor(RateLimit(), now: .zero)
        for _ in 0..<100 { governor.started(at: .zero) }
        #expect(governor.isAtRest(at: .zero))
    }

    @Test func `hosts that are gone leave their numbers to others`() {
        var hosts = Hosts()
        var highest = 0
        for index in 0..<10_000 {
            let number = hosts.add("host \(index)") { _ in true }
            highest = max(highest, number)
            hosts.use(number)
            hosts.release(number)
        }
        #expect(highest <= 2 * Hosts.unusedMin)
        #expect(hosts.count <= 2 * Hosts.unusedMin)
        #expect(hosts.number(of: "host 9999").flatMap(hosts.name) == "host 9999")
    }

    @Test func `a footprint is above those below its path, and above no other`() {
        let paths = ["/", "/a", "/a/b", "/a/bb", "/a/b/c", "/b", "/bb/c", "name", "name/a"]
        for upper in paths {
            for lower in paths {
                let (left, right) = (
                    upper.split(separator: "/"), lower.split(separator: "/")
                )
                let isBelow =
                    upper.hasPrefix("/") && lower.hasPrefix("/") && left.count < right.count
                    && right.starts(with: left)
                let keys = (FootprintKey(upper, on: nil), FootprintKey(lower, on: nil))
                #expect(keys.0.isAbove(keys.1) == isBelow, "\(upper) \(lower)")
            }
        }
    }
}
