// In which order the items of a merged list stand.
//
// Base items are identities. Each side says of every base item whether it stays, is edited, moves
// or goes, and puts new items somewhere between them.
//
//   (1) A base item goes when both sides remove it, or one does and the other does not edit it.
//       Otherwise it occurs once. A move alone does not save an item: sorting a list must not
//       bring back what was removed from it.
//   (2) A base item that nobody moved stands where the base has it. One that a side moved is
//       placed by that side; by ours when both moved it.
//   (3) Whatever a side places hangs after its left neighbour in that side's own order: the
//       nearest item that is placed by this side or by the base. An item that the other side
//       places is no neighbour to hang on, so the anchors form a forest.
//   (4) The result reads the forest depth first, base items in base order, ours before theirs:
//       what one side inserted together stays together, unless an order of the whole list says
//       which comes first.
//   (5) New items with one identity are one, where ours has it; what theirs put directly before
//       or behind such an item stays there.

struct ListMerge {
    enum Item {
        case base(Int)
        /// A new item, by its place on its side.
        case ours(Int, Value)
        case theirs(Int, Value)
        /// One new item that both sides brought, each with its own content.
        case twin(ours: (place: Int, value: Value), theirs: (place: Int, value: Value))
    }

    let segments: ListSegments
    let ours: ListSide
    let theirs: ListSide
    /// The place of ours for each place of theirs that is the same new item.
    private var twins: [Int: Int] = [:]
    /// Whether of two moves of one item theirs counts.
    var prefersTheirMoves = false

    init(ours: ListRecipe, theirs: ListRecipe) {
        segments = ListSegments(ours, theirs)
        self.ours = ListSide(ours, segments)
        self.theirs = ListSide(theirs, segments)
    }

    /// Makes one item of each new one that both sides, which are the same, have in the same place.
    mutating func uniteAll() {
        for (place, _) in ours.inserted { twins[place] = place }
    }

    /// Makes one item of new ones that have the same name.
    mutating func unite(by name: (Value) -> Value?) {
        let (our, their) = (ours.inserted, theirs.inserted)
        guard !our.isEmpty, !their.isEmpty else { return }
        let ourNames = ItemIdentity.uniquePositions(of: our.map { name($0.value) })
        guard !ourNames.isEmpty else { return }
        for (name, index) in ItemIdentity.uniquePositions(of: their.map({ name($0.value) })) {
            if let twin = ourNames[name] { twins[their[index].place] = our[twin].place }
        }
    }

    /// The items of the merged list, up to the tail; `isDead` says which base items go.
    func order(isDead: (Int) -> Bool) -> [Item] {
        let nodeCount = 1 + segments.count + ours.items.count + theirs.items.count
        var forest = AnchorForest(nodeCount: nodeCount)
        hang(ours, on: &forest, isOurs: true)
        hang(theirs, on: &forest, isOurs: false)

        let twinOfOurs = Dictionary(uniqueKeysWithValues: twins.map { ($0.value, $0.key) })
        let stationary = (0..<segments.count).filter { owner(of: $0) == nil }
        return forest.readOut(roots: [0] + stationary.map { $0 + 1 }).compactMap { node in
            if node == 0 { return nil }
            if node <= segments.count { return isDead(node - 1) ? nil : .base(node - 1) }
            let place = node - 1 - segments.count
            guard place < ours.items.count else {
                let place = place - ours.items.count
                return theirs.newValue(at: place).map { .theirs(place, $0) }
            }
            guard let value = ours.newValue(at: place) else { return nil }
            if let twin = twinOfOurs[place], let theirValue = theirs.newValue(at: twin) {
                return .twin(ours: (place, value), theirs: (twin, theirValue))
            }
            return .ours(place, value)
        }
    }

    /// Whether both sides moved a segment, and not to the same neighbour.
    func areMovedApart(_ segment: Int) -> Bool {
        guard ours.isMoved[segment], theirs.isMoved[segment] else { return false }
        return ours.neighbour(of: segment) != theirs.neighbour(of: segment)
    }

    private func hang(_ side: ListSide, on forest: inout AnchorForest, isOurs: Bool) {
        var left = 0
        var run: [Int] = []
        for (place, item) in side.items.enumerated() {
            switch item {
            case .new:
                if !isOurs, let twin = twins[place] {
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
                if isOwn { forest.hang(segment + 1, after: left, isOurs: isOurs) }
                if owner == nil || isOwn { (left, run) = (segment + 1, []) }
            }
        }
    }

    private enum Owner {
        case ours, theirs
    }

    /// The side that places a segment; nil for the base itself.
    private func owner(of segment: Int) -> Owner? {
        switch (ours.isMoved[segment], theirs.isMoved[segment]) {
        case (true, true): return prefersTheirMoves ? .theirs : .ours
        case (true, false): return .ours
        case (false, true): return .theirs
        case (false, false): return nil
        }
    }
}

/// Which node hangs after which.
private struct AnchorForest {
    private var ours: [[Int]]
    private var theirs: [[Int]]
    private var before: [[Int]]
    /// Which nodes hang before another, and no longer after one.
    private var isBefore: Set<Int> = []

    init(nodeCount: Int) {
        ours = Array(repeating: [], count: nodeCount)
        theirs = Array(repeating: [], count: nodeCount)
        before = Array(repeating: [], count: nodeCount)
    }

    mutating func hang(_ node: Int, after left: Int, isOurs: Bool) {
        if isOurs { ours[left].append(node) } else { theirs[left].append(node) }
    }

    /// Takes a node from where it hangs, with what hangs on it.
    mutating func hang(_ node: Int, before right: Int) {
        before[right].append(node)
        isBefore.insert(node)
    }

    /// All nodes, each between what hangs before it and what hangs after it.
    func readOut(roots: [Int]) -> [Int] {
        var order: [Int] = []
        var stack = roots.reversed().map { (node: $0, isOpen: false) }
        while let (node, isOpen) = stack.popLast() {
            if isOpen || before[node].isEmpty {
                order.append(node)
                let after = ours[node] + theirs[node].filter { !isBefore.contains($0) }
                stack += after.reversed().map { ($0, false) }
            } else {
                stack.append((node, true))
                stack += before[node].reversed().map { ($0, false) }
            }
        }
        return order
    }
}
