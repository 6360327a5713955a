/// Two changes that could not both stay as they were.
///
/// A conflict records both changes and the reason for the decision, so that an app or a person can
/// choose otherwise. A decision by a rule of a ``MergePolicy`` is no conflict.
public struct Conflict: Hashable, Sendable {
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// Both sides put different values in one place; two records that each put in the place of one
        /// are both there.
        case bothSet
        /// One side replaced a value that the other changed inside.
        case replacedAndEdited
        /// One side removed a value that the other changed, or moved to another container or key.
        case removedAndEdited
        /// Both sides moved one item to different places, or put a new one in at different places, gave
        /// a key two new names, or made one value a field of two new records, or put it in two cells of a
        /// grid, which both have it then.
        case bothMoved
        /// Both sides changed the same lines or words of a text; words that both changed are those
        /// of one side.
        case bothRewrote
        /// Both sides changed much of one record; it is taken whole from one side.
        case takenWhole
        /// Both sides changed different fields of one small record; both changes are there.
        case bothChangedRecord
        /// Both sides gave the same number or name to different new items; both items are there.
        case sameIdentity
    }

    public enum Choice: String, Hashable, Sendable {
        case ours, theirs
        /// Both changes are in the result.
        case both
    }

    /// Where: in the base; where the base has nothing (``base`` is nil), in ours.
    public let path: ValuePath
    public let reason: Reason
    public let base: Value?
    /// The value that our side wanted; nil when it removed the value.
    public let ours: Value?
    /// The value that their side wanted; nil when it removed the value.
    public let theirs: Value?
    /// The side whose change the merge kept.
    public let choice: Choice

    /// A decision between two changes that was made outside of a ``Merge``.
    public init(
        path: ValuePath,
        reason: Reason,
        base: Value?,
        ours: Value?,
        theirs: Value?,
        choice: Choice
    ) {
        self.path = path
        self.reason = reason
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.choice = choice
    }
}

extension Conflict {
    /// Whether nothing of either side is lost: both changes are there as they were made, or a new item
    /// that both sides put in at different places is there once or twice.
    ///
    /// A person may want to look at them: the tool prints a notice, and its exit code is that of a
    /// merge without conflicts.
    public var isNotice: Bool {
        switch reason {
        case .bothChangedRecord: true
        case .bothMoved: base == nil
        default: false
        }
    }
}

extension Conflict {
    /// The reason and the decision, as a sentence for people.
    public var explanation: String {
        switch (reason, choice) {
        case (.bothSet, .both): "both sides put another record in its place; both are there"
        case (.bothSet, _): "both sides set it; one value is taken"
        case (.replacedAndEdited, _):
            "one side replaced it, the other changed it inside; the new one stays"
        case (.removedAndEdited, .ours) where ours == nil,
            (.removedAndEdited, .theirs) where theirs == nil:
            "one side removed it, the other changed it; it is gone"
        case (.removedAndEdited, _): "one side removed it, the other changed it; it stays"
        case (.bothMoved, .both) where base == nil:
            "both sides put it in, in the places of different items; it is there twice"
        case (.bothMoved, .both): "both sides moved it, to different places; it is in both"
        case (.bothMoved, .ours) where base == nil:
            "both sides put it in, at different places; it is there once, where ours has it"
        case (.bothMoved, .ours): "both sides moved it; it is where ours put it"
        case (.bothMoved, .theirs): "both sides moved it; it is where theirs put it"
        case (.bothRewrote, .both):
            "both sides changed the text side by side; both changes are in it, check them"
        case (.bothRewrote, _): "both sides changed the same lines; check the text"
        case (.takenWhole, _):
            "both sides changed much of it; one side's record is taken whole"
        case (.bothChangedRecord, _): "both sides changed this record; both changes are kept"
        case (.sameIdentity, _):
            "both sides added a different item with this identity; both are kept"
        }
    }
}

extension Conflict: CustomStringConvertible {
    public var description: String {
        let sides = [("base", base), ("ours", ours), ("theirs", theirs)].map { name, value in
            "\(name) \(value?.ednText() ?? "absent")"
        }
        return "\(path): \(explanation) (\(sides.joined(separator: ", ")))"
    }
}
