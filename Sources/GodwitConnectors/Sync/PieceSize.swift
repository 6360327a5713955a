/// How many bytes of objects one exchange brings or fetches.
///
/// The connector begins with little and takes twice as much after a quick exchange, so that a connection
/// that is slow, or cut all the time, still comes to an end.
struct PieceSize: Sendable {
    private static let smallest = 16 << 10
    private static let largest = 8 << 20
    /// After an exchange that takes longer, the next one is smaller.
    private static let slow = Duration.seconds(4)
    /// After an exchange that takes less time, the next one may be larger.
    private static let quick = Duration.seconds(1)

    private(set) var value = 64 << 10

    mutating func noteAnswer(after time: Duration) {
        if time > Self.slow { value = max(Self.smallest, value / 2) }
        if time < Self.quick { value = min(Self.largest, value * 2) }
    }

    /// A failure at once says nothing about the connection: there was none.
    mutating func noteFailure(after time: Duration) {
        if time > Self.quick { value = max(Self.smallest, value / 2) }
    }
}
