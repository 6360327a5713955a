// Who needs whom, in one array: each edge lies in two lists, that of what it needs and that of
// the operation that needs it. The first one to go marks its side; the second one frees the edge.

struct Edges {
    static let none: Int32 = -1

    private struct Edge {
        var needed: Int32
        var dependent: Int32
        /// The next edge of the same needed operation.
        var nextDependent: Int32
        /// The next edge of the same dependent operation.
        var nextNeed: Int32
    }

    private var edges: [Edge] = []
    private var free: [Int32] = []

    mutating func add(
        needed: Int32,
        dependent: Int32,
        nextDependent: Int32,
        nextNeed: Int32
    ) -> Int32 {
        let edge = Edge(
            needed: needed,
            dependent: dependent,
            nextDependent: nextDependent,
            nextNeed: nextNeed
        )
        if let index = free.popLast() {
            edges[Int(index)] = edge
            return index
        }
        edges.append(edge)
        return Int32(edges.count - 1)
    }

    /// What an edge needs is finished.
    ///
    /// - Returns: The operation that waits for it, if one still does, and the next edge of the same need.
    mutating func finishNeed(_ index: Int32) -> (dependent: Int32, next: Int32) {
        let edge = edges[Int(index)]
        edges[Int(index)].needed = Self.none
        if edge.dependent == Self.none { free.append(index) }
        return (edge.dependent, edge.nextDependent)
    }

    /// Takes the edges of an operation away that itself goes, or needs others from now on.
    ///
    /// - Returns: How many of its needs were unfinished.
    @discardableResult
    mutating func removeNeeds(startingAt first: Int32) -> Int32 {
        var (next, unmet) = (first, Int32(0))
        while next != Self.none {
            let edge = edges[Int(next)]
            edges[Int(next)].dependent = Self.none
            if edge.needed == Self.none { free.append(next) } else { unmet += 1 }
            next = edge.nextNeed
        }
        return unmet
    }

    /// The places of an operation's unfinished needs.
    func unmetNeeds(startingAt first: Int32) -> [Int32] {
        var (next, needs) = (first, [Int32]())
        while next != Self.none {
            let edge = edges[Int(next)]
            if edge.needed != Self.none { needs.append(edge.needed) }
            next = edge.nextNeed
        }
        return needs
    }

    /// The places of those that wait for an operation.
    func dependents(startingAt first: Int32) -> [Int32] {
        var (next, dependents) = (first, [Int32]())
        while next != Self.none {
            let edge = edges[Int(next)]
            if edge.dependent != Self.none { dependents.append(edge.dependent) }
            next = edge.nextDependent
        }
        return dependents
    }
}
