/// Two changes that could not both stay as they were.
///
/// A merge always decides. A conflict says what it had to choose between, so that an app or a
/// person can choose otherwise.
public struct Conflict: Hashable, Sendable {
    public enum Reason: String, Hashable, Sendable {
        /// Both sides put different values in one place.
        case bothSet
        /// One side replaced what the other changed inside.
        case replacedAndEdited
        /// One side removed what the other changed; it stays.
        case removedAndEdited
        /// Both sides moved one item to different places.
        case bothMoved
    }

    public enum Side: String, Hashable, Sendable {
        case ours, theirs
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
    public let chosen: Side
}

extension Conflict: CustomStringConvertible {
    public var description: String {
        let sides = [("base", base), ("ours", ours), ("theirs", theirs)].map { name, value in
            "\(name) \(value?.ednText() ?? "removed")"
        }
        let what =
            switch reason {
            case .bothSet: "both sides set it"
            case .replacedAndEdited: "one side replaced it, the other changed it inside"
            case .removedAndEdited: "one side removed it, the other changed it"
            case .bothMoved: "both sides moved it"
            }
        return "\(path): \(what); took \(chosen) (\(sides.joined(separator: ", ")))"
    }
}
