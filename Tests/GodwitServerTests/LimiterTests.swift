import GodwitReplication
import GodwitTestKit
import Testing

@testable import GodwitServer

/// What one principal may use of a server, and what is left for the others.
@Suite struct LimiterTests {
    private let clock = ManualClock()
    private let ann = Principal.Identity.key(name: "ann")
    private let bob = Principal.Identity.key(name: "bob")

    private func limiter(_ change: (inout ServerLimits) -> Void) -> Limiter {
        var limits = ServerLimits()
        change(&limits)
        return Limiter(limits, now: { [clock] in clock.now.sinceStart })
    }

    @Test func `a bucket lets a burst through, and then one request each interval`() {
        var bucket = RateBucket(rate: 4, size: 3, now: .zero)
        for _ in 0..<3 { #expect(bucket.take(at: .zero) == nil) }
        #expect(bucket.take(at: .zero) == .milliseconds(250))
        #expect(bucket.take(at: .milliseconds(125)) == .milliseconds(125))
        #expect(bucket.take(at: .milliseconds(250)) == nil)
        #expect(bucket.take(at: .milliseconds(250)) == .milliseconds(250))
        #expect(!bucket.isFull(at: .milliseconds(999)))
        #expect(bucket.isFull(at: .seconds(1)))
        for _ in 0..<3 { #expect(bucket.take(at: .seconds(1_000)) == nil) }
        #expect(bucket.take(at: .seconds(1_000)) != nil)
        // A clock that goes back gives nothing, and takes nothing.
        #expect(bucket.take(at: .seconds(999)) == .milliseconds(250))
    }

    @Test func `one principal's requests leave those of another alone`() throws {
        let limiter = limiter { ($0.requestRate, $0.requestBurst) = (1, 2) }
        for _ in 0..<2 { try limiter.takeRequest(of: ann) }
        #expect(throws: LimitRefusal.tooManyRequests(retryAfter: .seconds(1))) {
            try limiter.takeRequest(of: ann)
        }
        for _ in 0..<2 { try limiter.takeRequest(of: bob) }
        clock.advance(by: .seconds(1))
        try limiter.takeRequest(of: ann)
        #expect(throws: LimitRefusal.self) { try limiter.takeRequest(of: ann) }
    }

    @Test func `bytes are counted for each principal and for all, until a lease is freed`() throws {
        let limiter = limiter { ($0.principalBytesMax, $0.bytesMax) = (10, 15) }
        func take(_ count: Int, _ principal: Principal.Identity) throws -> ByteLease {
            let lease = limiter.request(of: principal)
            // A request comes in parts.
            for part in [count / 2, count - count / 2] { try lease.take(part) }
            return lease
        }
        var first: ByteLease? = try take(10, ann)
        #expect(throws: LimitRefusal.tooManyBytes) { try take(2, ann) }
        var second: ByteLease? = try take(5, bob)
        #expect(throws: LimitRefusal.tooManyBytes) { try take(2, bob) }
        withExtendedLifetime((first, second)) {}
        (first, second) = (nil, nil)
        #expect(limiter.usageCount == 0)
        let third = try take(10, bob)
        // The first half fits, and goes with the refused request.
        for _ in 0..<3 { #expect(throws: LimitRefusal.tooManyBytes) { try take(6, ann) } }
        withExtendedLifetime(third) {}
    }

    @Test func `streams are counted until a lease is freed`() throws {
        let limiter = limiter { $0.streamMax = 1 }
        var lease: Lease? = try limiter.takeStream(of: ann)
        #expect(throws: LimitRefusal.tooManyStreams) { try limiter.takeStream(of: ann) }
        withExtendedLifetime(try limiter.takeStream(of: bob)) {}
        withExtendedLifetime(lease) {}
        lease = nil
        withExtendedLifetime(try limiter.takeStream(of: ann)) {}
    }

    @Test func `principals that are idle take no memory`() throws {
        let limiter = limiter { ($0.requestRate, $0.requestBurst) = (1, 1) }
        let lease = try limiter.takeStream(of: ann)
        for number in 0..<20_000 {
            try limiter.takeRequest(of: .key(name: "\(number)"))
            clock.advance(by: .milliseconds(1))
        }
        #expect(limiter.usageCount <= 4_096)
        withExtendedLifetime(lease) {}
        // The one that uses something is still known.
        let bounded = self.limiter { ($0.requestRate, $0.requestBurst, $0.streamMax) = (1, 1, 1) }
        let held = try bounded.takeStream(of: ann)
        for number in 0..<20_000 {
            try bounded.takeRequest(of: .key(name: "\(number)"))
            clock.advance(by: .milliseconds(1))
        }
        #expect(throws: LimitRefusal.tooManyStreams) { try bounded.takeStream(of: ann) }
        withExtendedLifetime(held) {}
    }
}
