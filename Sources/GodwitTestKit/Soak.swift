internal import Foundation

/// How long the long tests are: `make soak` sets it, `make test` leaves it at 1.
public enum Soak {
    public static let factor: Int =
        ProcessInfo.processInfo.environment["GODWIT_SOAK"].flatMap { Int($0) } ?? 1

    /// The seed of tests with random moments: another one each time, unless `GODWIT_SEED` has one.
    ///
    /// A test that fails names it.
    public static let seed: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_SEED"].flatMap { UInt64($0) }
        ?? .random(in: 0..<1_000_000)

    /// After how many minutes a test that waits is given up.
    ///
    /// It shares the machine with all others, and in a soak they take hours.
    public static let minutesMax = factor == 1 ? 10 : 24 * 60
}
