internal import Foundation

/// How long the long tests are: `make soak` sets it, `make test` leaves it at 1.
public enum Soak {
    public static let factor: Int =
        ProcessInfo.processInfo.environment["GODWIT_SOAK"].flatMap { Int($0) } ?? 1
}
