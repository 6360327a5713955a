/// One of the two changes that a merge brings together.
enum Side: Hashable, Sendable, CaseIterable {
    case ours, theirs

    var other: Side { self == .ours ? .theirs : .ours }
}

/// One thing for each side of a merge.
struct Sides<Element> {
    var ours: Element
    var theirs: Element

    init(ours: Element, theirs: Element) {
        self.ours = ours
        self.theirs = theirs
    }

    /// The same thing for both sides.
    init(both element: Element) { self.init(ours: element, theirs: element) }

    subscript(side: Side) -> Element {
        get { side == .ours ? ours : theirs }
        // In place: an array that is appended to must not be copied for it.
        _modify { if side == .ours { yield &ours } else { yield &theirs } }
    }

    func map<Result, Failure: Error>(
        _ transform: (Element) throws(Failure) -> Result
    ) throws(Failure) -> Sides<Result> {
        Sides<Result>(ours: try transform(ours), theirs: try transform(theirs))
    }
}

extension Sides: Equatable where Element: Equatable {}
extension Sides: Sendable where Element: Sendable {}
