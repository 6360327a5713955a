#if canImport(Network)
internal import Foundation
internal import Network

/// What the system says about network and power.
///
/// A device that is not in Low Power Mode counts as on external power: the system tells no more to
/// code that draws no screen. An app that needs to know hands in a monitor of its own.
public struct SystemConditions: ConditionsMonitor {
    public init() {}

    public func conditions() -> AsyncStream<Conditions> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Conditions.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in
            continuation.yield(
                Conditions(
                    isOnline: path.status == .satisfied,
                    isMetered: path.isExpensive || path.isConstrained,
                    isOnExternalPower: !ProcessInfo.processInfo.isLowPowerModeEnabled
                )
            )
        }
        monitor.start(queue: DispatchQueue(label: "godwit.conditions"))
        continuation.onTermination = { _ in monitor.cancel() }
        return stream
    }
}
#else
internal import Foundation

/// What the system says about network and power.
///
/// On Linux there is a network if a device other than the loopback has a route, and it costs nothing;
/// the kernel tells when its routes change (rtnetlink(7)). A machine that has no such device, or does
/// not tell, counts as online. Power is what `/sys/class/power_supply` says: a
/// machine without a battery is on external power.
public struct SystemConditions: ConditionsMonitor {
    private let root: String
    private let routeChanges: @Sendable () -> AsyncStream<Void>
    private let clock: any Clock<Duration>

    public init() {
        self.init(root: "/", routeChanges: { RouteSocket.changes() }, clock: ContinuousClock())
    }

    /// - Parameters:
    ///   - root: Where `proc` and `sys` are.
    ///   - clock: Measures the time between two looks at the power, which does not report when it
    ///     changes.
    init(
        root: String,
        routeChanges: @escaping @Sendable () -> AsyncStream<Void>,
        clock: any Clock<Duration>
    ) {
        self.root = root
        self.routeChanges = routeChanges
        self.clock = clock
    }

    private static let lookInterval = Duration.seconds(30)

    public func conditions() -> AsyncStream<Conditions> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Conditions.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let (copy, changes) = (self, routeChanges())
        let task = Task {
            await withDiscardingTaskGroup { group in
                continuation.yield(copy.current)
                group.addTask { for await _ in changes { continuation.yield(copy.current) } }
                group.addTask {
                    while (try? await copy.clock.sleep(for: Self.lookInterval)) != nil {
                        continuation.yield(copy.current)
                    }
                }
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private var current: Conditions {
        Conditions(
            isOnline: hasRoute || !hasNetworkDevice,
            isMetered: false,
            isOnExternalPower: isOnExternalPower
        )
    }

    private var hasRoute: Bool {
        // A route that refuses (flag 0x200) is none, and neither is one that every link has by itself.
        let has4 = lines(of: "proc/net/route").dropFirst().contains { line in
            let fields = line.split(separator: "\t")
            return fields.count > 7 && fields[0] != "lo" && !Self.isRefusing(fields[3])
        }
        let has6 = lines(of: "proc/net/ipv6_route").contains { line in
            let fields = line.split(separator: " ")
            return fields.count > 9 && !fields[0].hasPrefix("fe80") && !fields[0].hasPrefix("ff")
                && !Self.isRefusing(fields[8]) && fields[9] != "lo"
        }
        return has4 || has6
    }

    private var hasNetworkDevice: Bool {
        let devices = try? FileManager.default.contentsOfDirectory(atPath: root + "/sys/class/net")
        return devices?.contains { $0 != "lo" } ?? false
    }

    private static func isRefusing(_ flags: Substring) -> Bool {
        (UInt32(flags, radix: 16) ?? 0) & 0x200 != 0
    }

    private var isOnExternalPower: Bool {
        let folder = root + "/sys/class/power_supply"
        let supplies = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let types = supplies.map {
            (name: $0, type: lines(of: "sys/class/power_supply/\($0)/type"))
        }
        guard types.contains(where: { $0.type.first == "Battery" }) else { return true }
        return types.contains { supply in
            supply.type.first != "Battery"
                && lines(of: "sys/class/power_supply/\(supply.name)/online").first == "1"
        }
    }

    private func lines(of path: String) -> [Substring] {
        // A file handle, because String(contentsOfFile:) leaks a page for each look at an empty file.
        guard let file = FileHandle(forReadingAtPath: root + "/" + path) else { return [] }
        defer { try? file.close() }
        let bytes = (try? file.readToEnd()) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}

/// Hears from the kernel that links, addresses or routes have changed.
enum RouteSocket {
    // From linux/netlink.h and linux/rtnetlink.h, which Swift's modules leave out.
    private struct Address {
        var family = UInt16(16)
        var padding = UInt16(0)
        var port = UInt32(0)
        /// Links, addresses and routes of both protocols.
        var groups = UInt32(0x1 | 0x10 | 0x40 | 0x100 | 0x400)
    }

    static func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let flags = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(16, flags, 0)
        var address = Address()
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
        guard descriptor >= 0, isBound else {
            if descriptor >= 0 { close(descriptor) }
            continuation.finish()
            return stream
        }
        // Unsafe no more than its type lets on, because any thread may cancel a source.
        nonisolated(unsafe) let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor,
            queue: DispatchQueue(label: "godwit.conditions")
        )
        source.setEventHandler {
            var buffer = [UInt8](repeating: 0, count: 8_192)
            // What they say does not matter: the routes are read anew.
            while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
            continuation.yield()
        }
        source.setCancelHandler { close(descriptor) }
        continuation.onTermination = { _ in source.cancel() }
        source.resume()
        return stream
    }
}
#endif
