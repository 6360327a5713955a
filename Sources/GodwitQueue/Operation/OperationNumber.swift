public import GodwitStore

/// An operation's place among all that were ever enqueued: the commit and the place within it.
///
/// Numbers are one device's own; ``OperationID`` is the name that leaves it.
public struct OperationNumber: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// - Parameter index: Counted from 0.
    init(commit: CommitNumber, index: Int) {
        rawValue = commit.rawValue << Self.indexBits | Int64(index)
    }

    /// The commit that enqueued it.
    public var commit: CommitNumber { CommitNumber(rawValue: rawValue >> Self.indexBits) }

    private static let indexBits: Int64 = 20
    /// How many operations one commit can enqueue.
    static let countMax = 1 << indexBits

    /// The numbers that a commit can give.
    static func numbers(of commit: CommitNumber) -> Range<Int64> {
        (commit.rawValue << indexBits)..<(commit.rawValue + 1) << indexBits
    }
}

extension OperationNumber: Comparable {
    public static func < (left: OperationNumber, right: OperationNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension OperationNumber: CustomStringConvertible {
    public var description: String {
        "\(commit).\(rawValue & Int64(Self.countMax - 1) + 1)"
    }

    /// Reads what ``description`` writes.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let commit = Int64(parts[0]), let place = Int64(parts[1]),
            (0..<1 << (63 - Self.indexBits)).contains(commit),
            (1...Int64(Self.countMax)).contains(place)
        else { return nil }
        self.init(commit: CommitNumber(rawValue: commit), index: Int(place - 1))
    }
}
