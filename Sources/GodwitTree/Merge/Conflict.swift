/// Two changes that could not both stay as they were.
///
/// A merge always decides. A conflict says what it had to choose between, and why it chose as it
/// did, so that an app or a person can choose otherwise. What a rule of a ``MergePolicy`` decides
/// is no conflict.
public struct Conflict: Hashable, Sendable {
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// Both sides put different values in one place.
        case bothSet
        /// One side replaced what the other changed inside.
        case replacedAndEdited
        /// One side removed what the other changed.
        case removedAndEdited
        /// Both sides moved one item to different places.
        case bothMoved
        /// Both sides changed the same words of a text; what both wrote stands there.
        case bothRewrote
    }

    public enum Choice: String, Hashable, Sendable {
        case ours, theirs
        /// Something of both.
        case both
    }

    /// Where, in the base.
    public let path: Path
    public let reason: Reason
    public let base: Value?
    /// What our side wanted; nil when it removed the value.
    public let ours: Value?
    /// What their side wanted; nil when it removed the value.
    public let theirs: Value?
    /// Whose wish was granted.
    public let choice: Choice
}

extension Conflict.Reason {
    /// What happened, and what the merge does then, for people.
    public var explanation: String {
        switch self {
        case .bothSet: "both sides set it; theirs is taken, or the greater of two versions or dates"
        case .replacedAndEdited:
            "one side replaced it, the other changed it inside; the new one stays"
        case .removedAndEdited: "one side removed it, the other changed it; it stays"
        case .bothMoved: "both sides moved it; the first move, ours, counts"
        case .bothRewrote: "both sides changed the same words; both versions stand there"
        }
    }
}

extension Conflict: CustomStringConvertible {
    public var description: String {
        let sides = [("base", base), ("ours", ours), ("theirs", theirs)].map { name, value in
            "\(name) \(value?.ednText() ?? "absent")"
        }
        return "\(path): \(reason.explanation) (\(sides.joined(separator: ", ")))"
    }
}
