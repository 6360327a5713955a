/// The number of a commit: it only grows, across launches too.
///
/// A write transaction that changes nothing is no commit and takes no number.
public struct CommitNumber: Hashable, Comparable, Sendable, Codable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The number of a store without a commit.
    public static let none = CommitNumber(rawValue: 0)

    public var next: CommitNumber { CommitNumber(rawValue: rawValue + 1) }

    var previous: CommitNumber { CommitNumber(rawValue: rawValue - 1) }

    public static func < (left: CommitNumber, right: CommitNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension CommitNumber: CustomStringConvertible {
    public var description: String { String(rawValue) }
}
