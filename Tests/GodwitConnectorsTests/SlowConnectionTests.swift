import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// Connections that are slow, and that do not last.
@Suite struct SlowConnectionTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

    /// 20 KB a second, and no connection that lasts longer than ten seconds.
    @Test func `much comes through a slow connection that does not last`() async throws {
        let clock = SlowClock()
        let slow = SlowTransport(network, clock)
        func peer() async throws -> CardDevice {
            var options = Store.Options()
            options.clock = StoreClock(elapsed: { clock.elapsed }, now: { .distantPast })
            return try await CardDevice(try Store(.memory, options: options), name, slow)
        }
        let (phone, tablet) = (try await peer(), try await peer())
        var random = Seeded(seed: 1)
        let texts = (0..<300).map { _ in (0..<250).map { _ in String(random.next(), radix: 36) } }
        try await phone.store.write { [cards] transaction in
            for (number, text) in texts.enumerated() {
                try transaction.set(.string(Key(text.joined())), for: "\(number)", in: cards)
            }
        }
        for device in [phone, tablet] {
            // Each failure is tried again, as a running connector does.
            for _ in 0..<4_000 {
                if (try? await device.synchronize()) != nil { break }
            }
        }
        let count = try await tablet.store.read { [cards] in try $0.count(in: cards) }
        #expect(count == texts.count)
        // 900 KB each way take 45 seconds at least.
        #expect(clock.elapsed < .seconds(600))
        print("\(slow.cutCount) connections cut, \(clock.elapsed) for 900 KB and back")
    }

    @Test func `a batch that was made for a quick connection is cut anew for a slow one`()
        async throws
    {
        let clock = SlowClock()
        let slow = SlowTransport(network, clock)
        var options = Store.Options()
        options.clock = StoreClock(elapsed: { clock.elapsed }, now: { .distantPast })
        let phone = try await CardDevice(Store(.memory, options: options), name, slow)
        // Small exchanges, however quick, say nothing about large ones.
        for number in 1...10 {
            try await phone.set(number, 1)
            try await phone.synchronize()
        }
        try await phone.fill(300, of: 3_000)
        // All of it is under way in one batch, which no connection of ten seconds carries.
        let (store, replica) = (phone.store, phone.replica)
        let large = try await store.write { try replica.nextRequest(in: $0) }
        #expect(large.batchCount == 300)
        for _ in 0..<4_000 {
            if (try? await phone.synchronize()) != nil { break }
        }
        #expect(try await !replica.status().isDirty)
        let tablet = try await device()
        try await tablet.synchronize()
        #expect(try await tablet.keys().count == 310)
    }

    @Test func `a proxy that refuses large messages gets smaller ones, and one object is told`()
        async throws
    {
        let strict = StrictTransport(network, sizeMax: 50_000)
        let phone = try await CardDevice(Store(.memory), name, strict)
        try await phone.fill(300, of: 1_000)
        try await phone.fill(1, of: 200_000, named: "large")
        for _ in 0..<100 {
            if (try? await phone.synchronize()) != nil { break }
        }
        let tablet = try await device()
        try await tablet.synchronize()
        #expect(try await tablet.keys().count == 300)
        let status = try await phone.replica.status()
        #expect(status.rejections.keys.map(\.key) == ["large0"])
        #expect(!status.isDirty)
        #expect(strict.refusedCount < 20, "it does not ask for the same again and again")

        // A large edit of an object that the server has holds up no other one, either.
        try await phone.store.write { [cards] in try $0.set(["id": 1], for: "known", in: cards) }
        try await phone.synchronize()
        let text = try #require(try await phone.value("large0"))
        try await phone.store.write { [cards] transaction in
            try transaction.edit("known", in: cards) { $0.note = text }
            try transaction.set(["id": 2], for: "other", in: cards)
        }
        for _ in 0..<100 {
            if (try? await phone.synchronize()) != nil { break }
        }
        try await tablet.synchronize()
        #expect(try await tablet.keys().count == 302)
        #expect(try await phone.replica.status().rejections.count == 2)

        // Where the object gets small enough, it is sent.
        try await phone.store.write { [cards] in try $0.set(["id": 7], for: "large0", in: cards) }
        try await phone.synchronize()
        try await tablet.synchronize()
        #expect(try await tablet.keys().count == 303)
    }

    @Test func `an object that no connection carries holds up no other one`() async throws {
        let clock = SlowClock()
        let slow = SlowTransport(network, clock)
        var options = Store.Options()
        options.clock = StoreClock(elapsed: { clock.elapsed }, now: { .distantPast })
        let phone = try await CardDevice(Store(.memory, options: options), name, slow)
        // Ten seconds carry 200,000 bytes.
        try await phone.fill(1, of: 400_000, named: "large")
        try await phone.fill(20, of: 500, named: "small")
        let tablet = try await device()
        for _ in 0..<100 where try await tablet.keys().count < 20 {
            _ = try? await phone.synchronize()
            try await tablet.synchronize()
        }
        #expect(try await tablet.keys().count == 20)
        // So do changes that come later, while it is under way.
        try await phone.fill(5, of: 500, named: "later")
        for _ in 0..<100 where try await tablet.keys().count < 25 {
            _ = try? await phone.synchronize()
            try await tablet.synchronize()
        }
        #expect(try await tablet.keys().count == 25)
        #expect(try await phone.replica.status().isDirty, "it is still to be sent")
        // And it gets through where a connection lasts.
        slow.longest.withLock { $0 = .seconds(60) }
        try await phone.synchronize()
        try await tablet.synchronize()
        #expect(try await tablet.keys().count == 26)
    }

    @Test func `an object that gets small while a proxy refuses it is sent`() async throws {
        let phone = try await device()
        try await phone.fill(1, of: 200_000)
        let (store, replica) = (phone.store, phone.replica)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        try await store.write { [cards] in try $0.set(["id": 7], for: "n0", in: cards) }
        try await store.write { transaction in
            try replica.distrust(in: transaction)
            try replica.keepTooLarge(request, in: transaction)
        }
        try await phone.synchronize()
        #expect(try await replica.status().rejections.isEmpty)
        let tablet = try await device()
        try await tablet.synchronize()
        #expect(try await tablet.value("n0") == ["id": 7])
    }

    /// - Parameter isLossy: Whether the first request after each comparison is lost.
    @Test(arguments: [false, true])
    func `a slow device beside busy ones is heard`(isLossy: Bool) async throws {
        let (phone, tablet) = (try await device(), try await device())
        for device in [phone, tablet] { try await device.synchronize() }
        try await phone.set(0, 1)
        let (store, replica) = (phone.store, phone.replica)
        var (requestCount, isAfterComparison) = (0, false)
        while try await replica.status().isDirty, requestCount < 100 {
            requestCount += 1
            let number = requestCount
            try await tablet.store.write { [cards] transaction in
                for key in 1...20 {
                    try transaction.set(["id": .int(Int64(number))], for: "c\(key)", in: cards)
                }
            }
            try await tablet.synchronize()
            let request = try await store.write { try replica.nextRequest(sizeMax: 1, in: $0) }
            let isLost = isLossy && isAfterComparison && !request.isComparison
            isAfterComparison = request.isComparison
            if isLost { continue }
            let answer = try await network.exchange(
                request.bytes,
                replica: name,
                client: request.client
            )
            try await store.write { try replica.receive(answer, to: request, in: $0) }
        }
        #expect(requestCount < 100)
        try await tablet.synchronize()
        #expect(try await tablet.number(0) == 1)
    }

    @Test func `a slow device catches up, though much has changed since it compared`() async throws
    {
        let (phone, tablet) = (try await device(), try await device())
        for device in [phone, tablet] { try await device.synchronize() }
        let (store, replica) = (phone.store, phone.replica)
        try await store.write { try replica.distrust(in: $0) }
        let text = Value.string(Key(String(repeating: "x", count: 10_000)))
        var (requestCount, hasCompared, isBehind) = (0, false, true)
        while isBehind, requestCount < 100 {
            requestCount += 1
            let request = try await store.write { try replica.nextRequest(sizeMax: 1, in: $0) }
            if hasCompared, !request.isComparison, try await tablet.number(1) == nil {
                try await tablet.store.write { [cards] transaction in
                    for key in 1...30 {
                        try transaction.set(["id": 1, "text": text], for: "c\(key)", in: cards)
                    }
                }
                try await tablet.synchronize()
            }
            hasCompared = hasCompared || request.isComparison
            let answer = try await network.exchange(
                request.bytes,
                replica: name,
                client: request.client
            )
            // The connection does not last long enough for more.
            guard answer.count < 100_000 else { continue }
            isBehind = try await store.write { try replica.receive(answer, to: request, in: $0) }
        }
        #expect(requestCount < 100)
        #expect(try await phone.keys().count == 30)
    }
}

extension CardDevice {
    fileprivate func value(_ key: String) async throws -> Value? {
        try await store.read { try $0.get(key, in: CardServer.cards) }
    }

    /// Writes objects of so many random characters.
    fileprivate func fill(_ count: Int, of size: Int, named name: String = "n") async throws {
        var random = Seeded(seed: 1)
        let texts = (0..<count).map { _ in
            let bytes = (0..<size).map { _ in UInt8.random(in: 33...126, using: &random) }
            return String(decoding: bytes, as: UTF8.self)
        }
        try await store.write { transaction in
            for (number, text) in texts.enumerated() {
                try transaction.set(
                    .string(Key(text)),
                    for: "\(name)\(number)",
                    in: CardServer.cards
                )
            }
        }
    }
}

/// A proxy that lets no large message through, as nginx does by default.
private final class StrictTransport: ForwardingTransport {
    let network: SimulatedNetwork
    private let sizeMax: Int
    private let refused = Mutex(0)

    init(_ network: SimulatedNetwork, sizeMax: Int) {
        (self.network, self.sizeMax) = (network, sizeMax)
    }

    var refusedCount: Int { refused.withLock(\.self) }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        guard body.count <= sizeMax else {
            refused.withLock { $0 += 1 }
            throw ConnectorError.refused(status: 413, code: "", message: "Request Entity Too Large")
        }
        return try await network.exchange(body, replica: replica, client: client)
    }
}

private final class SlowClock: Sendable {
    private let time = Mutex(Duration.zero)

    var elapsed: Duration { time.withLock(\.self) }
    func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

/// A connection with 20,000 bytes a second that is cut after ten seconds.
private final class SlowTransport: ForwardingTransport {
    let longest = Mutex(Duration.seconds(10))

    let network: SimulatedNetwork
    private let clock: SlowClock
    private let cuts = Mutex(0)

    init(_ network: SimulatedNetwork, _ clock: SlowClock) {
        (self.network, self.clock) = (network, clock)
    }

    var cutCount: Int { cuts.withLock(\.self) }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        try carry(body.count)
        let answer = try await network.exchange(body, replica: replica, client: client)
        try carry(answer.count)
        return answer
    }

    private func carry(_ size: Int) throws {
        let (time, longest) = (Duration.milliseconds(size / 20), longest.withLock(\.self))
        clock.advance(by: min(time, longest))
        guard time <= longest else {
            cuts.withLock { $0 += 1 }
            throw ConnectorError.interrupted(reason: "the connection is cut")
        }
    }
}
