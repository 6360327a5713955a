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
    /// The largest object that the way to the server lets through.
    private(set) var objectMax = Int.max
    private var valueMax = Self.largest

    mutating func noteAnswer(after time: Duration) {
        if time > Self.slow { value = max(Self.smallest, value / 2) }
        if time < Self.quick { value = min(valueMax, value * 2) }
    }

    /// A failure at once says nothing about the connection: there was none.
    ///
    /// - Returns: Whether a message of that size is too large for such a connection.
    mutating func noteFailure(after time: Duration, of sizeInBytes: Int) -> Bool {
        guard time > Self.quick else { return false }
        value = max(Self.smallest, value / 2)
        return sizeInBytes > 2 * value
    }

    /// A server, or a proxy before it, refuses a message because of its size.
    ///
    /// - Parameter objectSize: The size of the object, if the message brings only one.
    mutating func noteRefusal(of sizeInBytes: Int, objectSize: Int?) {
        valueMax = max(Self.smallest, min(valueMax, sizeInBytes / 2))
        value = min(value, valueMax)
        if let objectSize { objectMax = min(objectMax, objectSize - 1) }
    }
}
