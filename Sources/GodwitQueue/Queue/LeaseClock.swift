internal import Foundation

/// A clock that all processes of one machine share, and that no change of the calendar moves.
///
/// It tells how long the lease of the process that runs a queue lasts.
public struct LeaseClock: Sendable {
    /// Changes when the machine is started: what the clock showed before means nothing then.
    public let boot: String
    /// Milliseconds since the machine was started, sleep included.
    public let milliseconds: @Sendable () -> Int64

    public init(boot: String, milliseconds: @escaping @Sendable () -> Int64) {
        self.boot = boot
        self.milliseconds = milliseconds
    }

    public static let system = LeaseClock(boot: systemBoot) {
        var time = timespec()
        #if canImport(Darwin)
        clock_gettime(CLOCK_MONOTONIC, &time)
        #else
        clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static var systemBoot: String {
        #if canImport(Darwin)
        var size = 64
        var bytes = [UInt8](repeating: 0, count: size)
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return "" }
        return String(decoding: bytes.prefix(size).prefix { $0 != 0 }, as: UTF8.self)
        #else
        let path = "/proc/sys/kernel/random/boot_id"
        let text = try? String(contentsOfFile: path, encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        #endif
    }
}
