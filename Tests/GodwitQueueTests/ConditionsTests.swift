import Foundation
import GodwitTestKit
import Testing

@testable import GodwitQueue

#if os(Linux)
/// What Linux says about network and power, in files of a test's own.
@Suite struct ConditionsTests {
    let folder: TemporaryFolder
    private let clock = ManualClock()
    private let routes = AsyncStream.makeStream(of: Void.self)

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, to path: String) throws {
        let url = URL(filePath: folder.path(path))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try text.write(to: url, atomically: true, encoding: .utf8)
    }

    private func monitor(root: String = "") -> SystemConditions {
        let routes = routes
        return SystemConditions(
            root: folder.path(root),
            routeChanges: { routes.stream },
            clock: clock
        )
    }

    private let header = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n"

    @Test func `a route of a device is a network, and the kernel tells when it comes and goes`()
        async throws
    {
        let monitor = monitor()
        try write("", to: "sys/class/net/eth0/address")
        try write(header, to: "proc/net/route")
        var conditions = monitor.conditions().makeAsyncIterator()
        #expect(await conditions.next()?.isOnline == false)
        let zeros = String(repeating: "0", count: 32)
        let local6 = "fe80" + zeros.dropFirst(4)
        let steps: [(file: String, line: String, isOnline: Bool, Comment)] = [
            ("route", "eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\n", true, "a default"),
            (
                "route", "eth0\t00000000\t0100A8C0\t0203\t0\t0\t0\t00000000\t0\n", false,
                "it refuses"
            ),
            (
                "route", "eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\n", true,
                "a local one"
            ),
            (
                "route", "lo\t0000007F\t00000000\t0001\t0\t0\t0\t000000FF\t0\n", false,
                "the loopback"
            ),
            (
                "ipv6_route", "\(zeros) 00 \(zeros) 00 \(zeros) 400 1 0 00000003 eth0\n", true,
                "a default"
            ),
            ("ipv6_route", "\(zeros) 00 \(zeros) 00 \(zeros) 400 1 0 00200200 lo\n", false, "none"),
            (
                "ipv6_route", "\(local6) 40 \(zeros) 00 \(zeros) 100 1 0 00000001 eth0\n", false,
                "a link's"
            ),
        ]
        for (file, line, isOnline, comment) in steps {
            try write(header + (file == "route" ? line : ""), to: "proc/net/route")
            try write(file == "ipv6_route" ? line : "", to: "proc/net/ipv6_route")
            routes.continuation.yield()
            #expect(await conditions.next()?.isOnline == isOnline, comment)
        }
    }

    @Test func `a machine that has no device but the loopback, or does not tell, is online`()
        async throws
    {
        for isSilent in [true, false] {
            if !isSilent { try write("", to: "sys/class/net/lo/address") }
            var conditions = monitor().conditions().makeAsyncIterator()
            #expect(await conditions.next()?.isOnline == true)
        }
    }

    @Test func `a battery that is not charged is looked at again and again`() async throws {
        let routes = routes
        try write("Battery\n", to: "sys/class/power_supply/BAT0/type")
        try write("Mains\n", to: "sys/class/power_supply/AC/type")
        try write("0\n", to: "sys/class/power_supply/AC/online")
        let monitor = SystemConditions(
            root: folder.path(""),
            routeChanges: { routes.stream },
            clock: clock
        )
        var conditions = monitor.conditions().makeAsyncIterator()
        #expect(await conditions.next()?.isOnExternalPower == false)
        try write("1\n", to: "sys/class/power_supply/AC/online")
        let delay = await clock.nextDelay()
        clock.advance(by: delay)
        #expect(await conditions.next()?.isOnExternalPower == true)
    }

    @Test func `a machine without a battery is on external power`() async {
        var conditions = monitor(root: "nowhere").conditions().makeAsyncIterator()
        let first = await conditions.next()
        #expect(first == Conditions(isOnline: true, isMetered: false, isOnExternalPower: true))
    }

    @Test func `this machine's own conditions can be read`() async {
        var conditions = SystemConditions().conditions().makeAsyncIterator()
        #expect(await conditions.next() != nil)
    }
}
#endif
