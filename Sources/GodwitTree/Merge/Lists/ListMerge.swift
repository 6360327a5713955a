// The order of the items of a merged list.
//
// Base items are identities. Each side says of every base item whether it stays, is edited, moves
// or goes, and puts new items somewhere between them.
//
//   (1) A base item goes when both sides remove it, or one does and the other does not edit it.
//       Otherwise it occurs once. A move alone does not save an item: sorting a list must not
//       bring back what was removed from it.
//   (2) A base item that neither side moved stands where the base has it. One that a side moved is
//       placed by that side; by ours when both moved it. If both sides moved items, each two stand as
//       a side has turned them, where that makes one order (`JointOrder`).
//   (3) An item that a side places hangs after its left neighbour in that side's own order: the
//       nearest item that is placed by this side or by the base. An item that the other side places
//       is no neighbour to hang on, so the anchors form a forest (compare M. Weidner and M.
//       Kleppmann, "The Art of the Fugue", 2023; moves: M. Kleppmann, "Moving Elements in List
//       CRDTs", 2020).
//   (4) The result reads the forest depth first, base items in base order, ours before theirs:
//       what one side inserted together stays together, unless an order of the whole list says
//       which comes first. A base item that theirs places comes before what ours put in behind it.
//   (5) New items of both sides that are one stand where ours has them; what theirs put directly
//       before or behind such an item stays there, if both have it at the same place of the base.

struct ListMerge {
    enum Item {
        case base(Int)
        /// A new item, by its place on each side that has it.
        case new(Sides<Int?>)
    }

    let segments: ListSegments
    let ours: ListSide
    let theirs: ListSide
    /// The place of ours for each place of theirs that is the same new item.
    private var twins: [Int: Int] = [:]
    private let bothMove: Bool
    /// The segment before each one, of those that both sides have; empty where a side has moved nothing.
    private var commonNeighbours: Sides<[Int?]> = Sides(both: [])
    /// Whether of two moves of one item theirs counts.
    var prefersTheirMoves = false

    init(_ recipes: Sides<ListRecipe>) {
        segments = ListSegments(recipes.ours, recipes.theirs)
        ours = ListSide(recipes.ours, segments)
        theirs = ListSide(recipes.theirs, segments)
        bothMove = ours.isMoved.contains(true) && theirs.isMoved.contains(true)
        if bothMove {
            commonNeighbours = Sides(
                ours: ours.neighbours(on: theirs),
                theirs: theirs.neighbours(on: ours)
            )
        }
    }

    func side(_ side: Side) -> ListSide { side == .ours ? ours : theirs }

    /// Makes one item of two new ones.
    mutating func unite(ours: Int, theirs: Int) { twins[theirs] = ours }

    /// Makes one item of two new ones each, which are counted among the new ones of their side.
    mutating func unite(_ pairs: [Sides<Int>]) {
        let places = Sides(ours: ours, theirs: theirs).map { $0.inserted.map(\.place) }
        for pair in pairs where Side.allCases.allSatisfy({ pair[$0] < places[$0].count }) {
            unite(ours: places.ours[pair.ours], theirs: places.theirs[pair.theirs])
        }
    }

    /// Makes one item of each new one that both sides, which are the same, have in the same place.
    mutating func uniteAll() {
        for (place, _) in ours.inserted { twins[place] = place }
    }

    /// The items of the merged list, up to the tail; `isDead` says which base items go.
    func order(isDead: (Int) -> Bool) -> [Item] {
        let nodeCount = 1 + segments.count + ours.items.count + theirs.items.count
        var forest = InsertionForest(nodeCount: nodeCount)
        let joint = bothMove ? jointOrder(isDead: isDead)?.segments : nil
        let placed = joint.map(Set.init)
        hang(ours, on: &forest, isOurs: true, placed)
        hang(theirs, on: &forest, isOurs: false, placed)

        let twinOfOurs = Dictionary(uniqueKeysWithValues: twins.map { ($0.value, $0.key) })
        let roots = joint ?? (0..<segments.count).filter { owner(of: $0) == nil }
        return forest.readOut(roots: [0] + roots.map { $0 + 1 }).compactMap { node in
            if node == 0 { return nil }
            if node <= segments.count { return isDead(node - 1) ? nil : .base(node - 1) }
            let place = node - 1 - segments.count
            guard place < ours.items.count else {
                return .new(Sides(ours: nil, theirs: place - ours.items.count))
            }
            return .new(Sides(ours: place, theirs: twinOfOurs[place]))
        }
    }

    private func jointOrder(isDead: (Int) -> Bool) -> JointOrder? {
        JointOrder(
            // One that both sides have stands in one place, though it goes: new items hang on it once.
            of: (0..<segments.count).filter { segment in
                !isDead(segment) || !ours.isRemoved(segment) && !theirs.isRemoved(segment)
            },
            Sides(ours: ours.places, theirs: theirs.places),
            leaning: prefersTheirMoves ? .theirs : .ours,
            isContested: areMovedApart
        )
    }

    /// Whether both sides moved a segment, and not to the same neighbour, of all items or of those that both have.
    func areMovedApart(_ segment: Int) -> Bool {
        guard ours.isMoved[segment], theirs.isMoved[segment] else { return false }
        return ours.neighbour(of: segment) != theirs.neighbour(of: segment)
            && commonNeighbours.ours[segment] != commonNeighbours.theirs[segment]
    }

    /// How many segments that both sides left in their place stand before each item of a side.
    var depths: Sides<[Int]> {
        Sides(ours: ours, theirs: theirs).map { side in
            var depth = 0
            return side.items.map { item in
                if case .base(let segment) = item, isStationary(segment) { depth += 1 }
                return depth
            }
        }
    }

    private func isStationary(_ segment: Int) -> Bool {
        [ours, theirs].allSatisfy { !$0.isRemoved(segment) && !$0.isMoved[segment] }
    }

    /// - Parameter placed: The base items that have their order, and need not hang; nil where sides place them.
    private func hang(
        _ side: ListSide,
        on forest: inout InsertionForest,
        isOurs: Bool,
        _ placed: Set<Int>?
    ) {
        var left = 0
        var run: [Int] = []
        let depths = isOurs || twins.isEmpty ? Sides(both: []) : depths
        for (place, item) in side.items.enumerated() {
            switch item {
            case .new:
                if !isOurs, let twin = twins[place] {
                    guard depths.ours[twin] == depths.theirs[place] else { continue }
                    left = 1 + segments.count + twin
                    if let first = run.first { forest.hang(first, before: left) }
                    run = []
                    continue
                }
                let node = 1 + segments.count + (isOurs ? 0 : ours.items.count) + place
                forest.hang(node, after: left, isOurs: isOurs)
                run.append(node)
                left = node
            case .base(let segment):
                let owner = owner(of: segment)
                let isOwn = isOurs ? owner == .ours : owner == .theirs
                let isGone = placed?.contains(segment) == false
                if isOwn && placed == nil || isGone {
                    if !isOurs, stood(segment, beforeAll: forest.new(after: left)) {
                        forest.hang(segment + 1, firstAfter: left)
                    } else {
                        forest.hang(segment + 1, after: left, isOurs: isOurs)
                    }
                }
                if owner == nil || isOwn || isGone { (left, run) = (segment + 1, []) }
            }
        }
    }

    /// Whether ours has a segment before some nodes, all of which it has put in.
    private func stood(_ segment: Int, beforeAll nodes: [Int]) -> Bool {
        guard let place = ours.places[segment], !nodes.isEmpty else { return false }
        return nodes.allSatisfy { $0 - 1 - segments.count > place }
    }

    /// The side that places a segment; nil for the base itself.
    private func owner(of segment: Int) -> Side? {
        switch (ours.isMoved[segment], theirs.isMoved[segment]) {
        case (true, true): return prefersTheirMoves ? .theirs : .ours
        case (true, false): return .ours
        case (false, true): return .theirs
        case (false, false): return nil
        }
    }
}

/// The nodes of a merged list, each of which hangs after or before another.
private struct InsertionForest {
    private var first: [[Int]]
    private var ours: [[Int]]
    private var theirs: [[Int]]
    private var before: [[Int]]
    /// The nodes that hang before another, and no longer after one.
    private var isBefore: Set<Int> = []

    init(nodeCount: Int) {
        first = Array(repeating: [], count: nodeCount)
        ours = Array(repeating: [], count: nodeCount)
        theirs = Array(repeating: [], count: nodeCount)
        before = Array(repeating: [], count: nodeCount)
    }

    mutating func hang(_ node: Int, after left: Int, isOurs: Bool) {
        if isOurs { ours[left].append(node) } else { theirs[left].append(node) }
    }

    /// Hangs a node before those of ours.
    mutating func hang(_ node: Int, firstAfter left: Int) { first[left].append(node) }

    /// The nodes that ours has hung after another.
    func new(after left: Int) -> [Int] { ours[left] }

    /// Takes a node from where it hangs, with the nodes that hang on it.
    mutating func hang(_ node: Int, before right: Int) {
        before[right].append(node)
        isBefore.insert(node)
    }

    /// All nodes, each between those that hang before it and those that hang after it.
    func readOut(roots: [Int]) -> [Int] {
        var order: [Int] = []
        var stack = roots.reversed().map { (node: $0, isOpen: false) }
        while let (node, isOpen) = stack.popLast() {
            if isOpen || before[node].isEmpty {
                order.append(node)
                let theirs = theirs[node].filter { !isBefore.contains($0) }
                let after = first[node] + ours[node] + theirs
                stack += after.reversed().map { ($0, false) }
            } else {
                stack.append((node, true))
                stack += before[node].reversed().map { ($0, false) }
            }
        }
        return order
    }
}
