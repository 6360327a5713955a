/// A value that at least one side removed from where the base has it.
final class Departure {
    let base: Value
    let place: MergePlace
    /// The choice in its old place, where one side removed it and the other edited it; nil where
    /// both removed it.
    let choice: MergeChoice?
    /// The value around this one, if a side removed that one as a whole.
    ///
    /// It is not owned, because it has this one among its parts; the merger keeps it.
    unowned let container: Departure?
    /// The values in it that the other side edited; nil if that side did more than that.
    var editedParts: [Departure]?
    /// Whether it is one of those: its container decides what becomes of the edit.
    var isEditedPart = false
    /// Where the sides put it, as far as that is found.
    var arrivals = Sides<ArrivedItem?>(both: nil)

    init(
        _ base: Value,
        _ place: MergePlace,
        _ choice: MergeChoice? = nil,
        in container: Departure? = nil
    ) {
        (self.base, self.place) = (base, place)
        (self.choice, self.container) = (choice, container)
    }

    func isRemoved(by side: Side) -> Bool { choice?.editor != side }

    /// Whether it is found on each side that removed it.
    var isComplete: Bool {
        Side.allCases.allSatisfy { !isRemoved(by: $0) || arrivals[$0] != nil }
    }

    /// Whether it, or the value around it, is found in another place.
    var isFound: Bool {
        arrivals.ours != nil || arrivals.theirs != nil || container?.isFound == true
    }
}

/// Where a side put a value that it removed elsewhere.
struct ArrivedItem {
    /// The new value of that side in which it is.
    let insertion: Insertion
    /// The way to it in there.
    let path: [ValuePath.Step]
    /// The value as that side has it.
    let value: Value
}
