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
//       what one side inserted together stays together.
//   (5) New items with the same declared identity are one, where ours has it.

struct ListMerge {
    enum Item: Hashable {
        case base(Int)
        case new(Value)
        /// One new item that both sides brought, each with its own content.
        case twin(ours: Value, theirs: Value)
    }

    let ours: ListSide
    let theirs: ListSide
    /// How many base items, from the first, the merge had to look at.
    let count: Int
    private var twins: [Int: Int] = [:]

    init(ours: ListRecipe, theirs: ListRecipe) {
        let count = max(ours.tail, theirs.tail)
        self.count = count
        self.ours = ListSide(ours, count: count)
        self.theirs = ListSide(theirs, count: count)
        let known = self.ours.newIdentities
        for (identity, index) in self.theirs.newIdentities {
            if let twin = known[identity] { twins[index] = twin }
        }
    }

    /// The items of the merged list, up to the tail.
    var order: [Item] {
        var forest = AnchorForest(nodeCount: 1 + count + ours.items.count + theirs.items.count)
        hang(ours, on: &forest, side: .ours)
        hang(theirs, on: &forest, side: .theirs)

        let twinOfOurs = Dictionary(uniqueKeysWithValues: twins.map { ($0.value, $0.key) })
        let stationary = (0..<count).filter { owner(of: $0) == nil }
        return forest.readOut(roots: [0] + stationary.map { $0 + 1 }).compactMap { node in
            if node == 0 { return nil }
            if node <= count { return isDead(node - 1) ? nil : .base(node - 1) }
            let index = node - 1 - count
            guard index < ours.items.count else {
                return theirs.newValue(at: index - ours.items.count).map(Item.new)
            }
            guard let value = ours.newValue(at: index) else { return nil }
            let twin = twinOfOurs[index].flatMap { theirs.newValue(at: $0) }
            return twin.map { .twin(ours: value, theirs: $0) } ?? .new(value)
        }
    }

    /// Whether both sides moved an item, and not to the same neighbour.
    func areMovedApart(_ position: Int) -> Bool {
        guard ours.isMoved[position], theirs.isMoved[position] else { return false }
        return ours.neighbour(of: position) != theirs.neighbour(of: position)
    }

    private func hang(_ side: ListSide, on forest: inout AnchorForest, side name: Conflict.Side) {
        var left = 0
        for (index, item) in side.items.enumerated() {
            switch item {
            case .new:
                if name == .theirs, twins[index] != nil { continue }
                let offset = name == .ours ? 0 : ours.items.count
                let node = 1 + count + offset + index
                forest.hang(node, after: left, side: name)
                left = node
            case .base(let position, _):
                let owner = owner(of: position)
                if owner == name { forest.hang(position + 1, after: left, side: name) }
                if owner == nil || owner == name { left = position + 1 }
            }
        }
    }

    /// The side that places a base item; nil for the base itself.
    private func owner(of position: Int) -> Conflict.Side? {
        if ours.isMoved[position] { return .ours }
        return theirs.isMoved[position] ? .theirs : nil
    }

    private func isDead(_ position: Int) -> Bool {
        switch (ours.isRemoved[position], theirs.isRemoved[position]) {
        case (true, true): true
        case (true, false): theirs.edit(of: position) == .keep
        case (false, true): ours.edit(of: position) == .keep
        case (false, false): false
        }
    }
}

/// One side's list, item by item, up to the tail.
struct ListSide {
    enum Item {
        case base(Int, Delta)
        case new(Value)
    }

    let items: [Item]
    let isMoved: [Bool]
    let isRemoved: [Bool]
    private let edits: [Int: Delta]
    private let places: [Int: Int]

    init(_ recipe: ListRecipe, count: Int) {
        var items: [Item] = []
        for run in recipe.runs {
            switch run {
            case .kept(let range): items += range.map { .base($0, .keep) }
            case .edited(let position, let delta): items.append(.base(position, delta))
            case .new(let value): items.append(.new(value))
            }
        }
        items += (recipe.tail..<max(recipe.tail, count)).map { .base($0, .keep) }

        var isMoved = [Bool](repeating: false, count: count)
        for move in recipe.delta.moves { isMoved[move.source] = true }
        var isRemoved = [Bool](repeating: true, count: count)
        var edits: [Int: Delta] = [:]
        var places: [Int: Int] = [:]
        for (place, item) in items.enumerated() {
            guard case .base(let position, let delta) = item else { continue }
            isRemoved[position] = false
            places[position] = place
            if delta != .keep { edits[position] = delta }
        }
        self.items = items
        self.isMoved = isMoved
        self.isRemoved = isRemoved
        self.edits = edits
        self.places = places
    }

    func edit(of position: Int) -> Delta { edits[position] ?? .keep }

    func newValue(at index: Int) -> Value? {
        if case .new(let value) = items[index] { value } else { nil }
    }

    /// What this side made of a base item; nil when it removed it.
    func wish(for position: Int, _ base: Value) -> Value? {
        isRemoved[position] ? nil : (try? edit(of: position).applied(to: base)) ?? base
    }

    /// The base item, or the new value, directly before a base item.
    func neighbour(of position: Int) -> ListMerge.Item? {
        guard let place = places[position], place > 0 else { return nil }
        switch items[place - 1] {
        case .base(let neighbour, _): return .base(neighbour)
        case .new(let value): return .new(value)
        }
    }

    /// The places of new items, by an identity that occurs once among them.
    var newIdentities: [Value: Int] {
        var places: [Value: Int?] = [:]
        for (place, item) in items.enumerated() {
            guard case .new(let value) = item, let identity = value.identity else { continue }
            places[identity] = places.keys.contains(identity) ? .some(nil) : place
        }
        return places.compactMapValues { $0 }
    }
}

/// Which node hangs after which.
private struct AnchorForest {
    private var ours: [[Int]]
    private var theirs: [[Int]]

    init(nodeCount: Int) {
        ours = Array(repeating: [], count: nodeCount)
        theirs = Array(repeating: [], count: nodeCount)
    }

    mutating func hang(_ node: Int, after left: Int, side: Conflict.Side) {
        switch side {
        case .ours: ours[left].append(node)
        case .theirs: theirs[left].append(node)
        }
    }

    /// All nodes, each before what hangs after it.
    func readOut(roots: [Int]) -> [Int] {
        var order: [Int] = []
        var stack = Array(roots.reversed())
        while let node = stack.popLast() {
            order.append(node)
            stack += theirs[node].reversed()
            stack += ours[node].reversed()
        }
        return order
    }
}
