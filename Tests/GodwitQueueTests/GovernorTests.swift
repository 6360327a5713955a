import Testing

@testable import GodwitQueue

/// The pace of one host.
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
}
