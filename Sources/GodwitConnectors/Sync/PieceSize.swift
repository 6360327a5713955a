/// How many bytes of objects one exchange brings or fetches.
///
/// The connector begins with little and takes twice as much after a quick exchange of that much, so that
/// a connection that is slow, or cut all the time, still comes to an end. An exchange of a few bytes says
/// nothing about the next one.
struct PieceSize: Sendable {
    private static let smallest = 16 << 10
    private static let largest = 8 << 20
    /// After an exchange that takes longer, the next one is smaller.
    private static let slow = Duration.seconds(4)
    /// After an exchange that takes less time, the next one may be larger.
    private static let quick = Duration.seconds(1)

    private(set) var value = 64 << 10
    private var valueMax = Self.largest
    /// How many connections in a row have ended at once.
    private var blipCount = 0

    /// - Parameters:
    ///   - sizeInBytes: That of both messages, which are compressed.
    ///   - wasFull: Whether the exchange brought as many objects as it may, and others follow.
    mutating func noteAnswer(after time: Duration, of sizeInBytes: Int, wasFull: Bool) {
        blipCount = 0
        if time > Self.slow { value = max(Self.smallest, value / 2) }
        if time < Self.quick, wasFull || sizeInBytes >= value / 8 {
            value = min(valueMax, value * 2)
        }
    }

    /// A connection ended before the answer came.
    ///
    /// One that ends at once says nothing the first time: a server may have been started anew.
    ///
    /// - Parameter sizeInBytes: That of the changes; nil if there were none, and the answer may have been
    ///   too large. No failure at once says anything then.
    /// - Returns: Whether smaller batches may get through.
    mutating func noteInterruption(after time: Duration, of sizeInBytes: Int?) -> Bool {
        blipCount = time < Self.quick ? blipCount + 1 : 0
        if blipCount == 1 || blipCount > 0 && sizeInBytes == nil { return false }
        value = max(Self.smallest, min(value, sizeInBytes ?? value) / 2)
        return sizeInBytes.map { $0 > value } ?? false
    }

    /// A server, or a proxy before it, refuses a message because of its size.
    mutating func noteRefusal(of sizeInBytes: Int) {
        valueMax = max(Self.smallest, min(valueMax, sizeInBytes / 2))
        value = min(value, valueMax)
    }
}
