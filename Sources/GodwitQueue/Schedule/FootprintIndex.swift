// What the unfinished operations touch, in memory, so that a new operation finds those that it has an
// order with.
//
//   (1) A touch says what an operation does to one thing. What it does below a folder follows from the
//       paths in it, and has no touch of its own.
//   (2) An operation on a whole folder meets those on things inside by a walk below one node, and those
//       on folders around by a look at each of them.
//   (3) A later touch that makes another one superfluous hides it: a search finds only those that it
//       needs. What the hidden one has an order with, the later one has an order with, too, and comes
//       after it. An operation in commit order hides touches of its own pipeline alone: those of the
//       pipeline that come later wait for no edge, and would inherit nothing from it.
//   (4) An operation may hide touches if all that it has an order with was enqueued before it. It hides
//       only touches of other such operations, with lower numbers. So the database need not know which
//       touches are hidden, and an index that is read from it is as good as the one that was lost.
//   (5) A shelf has the touches at one node that one operation hides, or those in view, apart by intent.
//       So a search at one node costs as little among hidden touches as among those in view.

struct FootprintIndex {
    static let none: Int32 = -1
    /// Stands for the operation that hides what is in view.
    static let view = OperationNumber(rawValue: 0)

    struct Touch {
        let operation: OperationNumber
        let intent: Footprint.Intent
        /// The next one of the same operation.
        let nextOwn: Int32
        var shelf = none
        var next = none
        var previous = none
    }

    struct Shelf {
        let hider: OperationNumber
        let node: Int32
        var heads = SIMD8<Int32>(repeating: none)
        var count: Int32 = 0
        /// Its neighbours among the shelves behind the same operation.
        var next = none
        var previous = none
    }

    struct Place: Hashable {
        let hider: OperationNumber
        let node: Int32
    }

    struct Owner {
        let record: Int
        /// Which pipeline keeps it in the order of commits; nil if none does.
        let line: String?
        let mayHide: Bool
        /// What it waited for because of footprints when it was enqueued; nil to read the database.
        var needs: [OperationNumber]?
        var firstTouch = none
        /// The first shelf that it hides.
        var firstShelf = none
    }

    private(set) var tree = FootprintTree()
    private(set) var touches = Slots<Touch>()
    private(set) var shelves = Slots<Shelf>()
    private(set) var places: [Place: Int32] = [:]
    private(set) var owners: [OperationNumber: Owner] = [:]
    /// The highest number that was ever there.
    private var last = OperationNumber(rawValue: 0)
    /// The operations that have come or gone since ``takeChanged()`` was called.
    private var changed: Set<OperationNumber> = []

    var isEmpty: Bool { owners.isEmpty && places.isEmpty && tree.isEmpty }
}

// MARK: - Operations

extension FootprintIndex {
    /// Adds an operation, which hides the conflicts that it makes superfluous.
    ///
    /// O((rows + conflicts) · depth).
    mutating func insert(
        _ record: FootprintRecord,
        of operation: OperationNumber,
        in line: String? = nil,
        hiding conflicts: [Conflict],
        needs: [OperationNumber]? = nil
    ) {
        remove(operation)
        changed.insert(operation)
        last = max(last, operation)
        let owner = Owner(
            record: record.hashForMemory,
            line: line,
            mayHide: record.mayHide,
            needs: needs
        )
        owners[operation] = owner
        for conflict in conflicts where conflict.isSuperfluous {
            if self.owner(owner, of: operation, hides: conflict.operation) {
                move(conflict.touch, behind: operation)
            }
        }
        var first = Self.none
        for row in record.rows {
            let touch = Touch(operation: operation, intent: row.intent, nextOwn: first)
            first = touches.insert(touch)
            put(first, on: shelf(behind: Self.view, at: tree.node(of: row.key)))
        }
        owners[operation]?.firstTouch = first
    }

    private func owner(
        _ owner: Owner,
        of operation: OperationNumber,
        hides other: OperationNumber
    ) -> Bool {
        guard owner.mayHide, other < operation, let hidden = owners[other], hidden.mayHide else {
            return false
        }
        return owner.line == nil || owner.line == hidden.line
    }

    /// Returns the operations that have come or gone since the last call.
    mutating func takeChanged() -> Set<OperationNumber> {
        defer { changed = [] }
        return changed
    }

    /// Takes in an operation as the database has it.
    ///
    /// - Parameter line: Which pipeline keeps it in the order of commits; nil if none does.
    /// - Returns: Whether the index is as one that was read now. It is not if the operation touches something
    ///   else than before, or would come before others: these may hide what it would hide.
    mutating func load(
        _ record: FootprintRecord,
        of operation: OperationNumber,
        in line: String? = nil
    ) -> Bool {
        if let owner = owners[operation] {
            forgetNeeds(of: operation)
            return owner.record == record.hashForMemory && owner.line == line
        }
        guard !record.rows.isEmpty else { return true }
        guard operation > last else { return false }
        let found =
            record.mayHide ? conflicts(with: record.rows, of: operation, withHidden: false) : []
        insert(record, of: operation, in: line, hiding: found)
        return true
    }

    /// Forgets an operation.
    ///
    /// The touches that it hid come in view again, or go behind the operation that hides its own.
    ///
    /// O(touches of its own, and of those that it hides).
    mutating func remove(_ operation: OperationNumber) {
        guard let owner = owners[operation] else { return }
        changed.insert(operation)
        let covers = covers(of: owner)
        var next = owner.firstShelf
        while next != Self.none {
            let shelf = shelves[next]
            next = shelf.next
            for intent in Footprint.Intent.allCases {
                var touch = shelf.heads[intent.place]
                while touch != Self.none {
                    let following = touches[touch].next
                    move(touch, behind: hider(of: intent, at: shelf.node, among: covers))
                    touch = following
                }
            }
        }
        next = owner.firstTouch
        while next != Self.none {
            let touch = next
            next = touches[touch].nextOwn
            take(touch)
            touches.remove(touch)
        }
        owners[operation] = nil
    }

    /// The operations that an operation hides, in their order.
    func hidden(behind operation: OperationNumber) -> [OperationNumber] {
        var (found, next) = (Set<OperationNumber>(), owners[operation]?.firstShelf ?? Self.none)
        while next != Self.none {
            let shelf = shelves[next]
            for intent in Footprint.Intent.allCases {
                forEachTouch(from: shelf.heads[intent.place]) { found.insert($1) }
            }
            next = shelf.next
        }
        return found.sorted()
    }

    /// Leaves out those operations that another one of them waits for because of footprints, directly
    /// or not: when that one leaves, others inherit this from it.
    ///
    /// - Parameters:
    ///   - operations: In their order, each once.
    ///   - read: Reads from the database what an operation waits for.
    func reduced(
        _ operations: [OperationNumber],
        _ read: (OperationNumber) throws -> [OperationNumber]
    ) rethrows -> [OperationNumber] {
        guard operations.count > 1, let first = operations.first else { return operations }
        var isSuperfluous = [Bool](repeating: false, count: operations.count)
        var (left, seen) = (operations, Set<OperationNumber>())
        while let number = left.popLast(), seen.count < Self.reachMax {
            // What lies before all of them leads to none of them, but for merged operations: those cost
            // an edge.
            guard number > first else { continue }
            for need in try owners[number]?.needs ?? read(number) where need >= first {
                if let place = operations.place(of: need) {
                    isSuperfluous[place] = true
                } else if seen.insert(need).inserted {
                    left.append(need)
                }
            }
        }
        return operations.indices.filter { !isSuperfluous[$0] }.map { operations[$0] }
    }

    /// How many operations are looked at besides: an edge too many costs less than a long search.
    private static let reachMax = 16

    /// Has what an operation waits for be read again.
    mutating func forgetNeeds(of operation: OperationNumber) { owners[operation]?.needs = nil }

    /// A touch of an operation that goes, and the one that hides it.
    private struct Cover: Hashable {
        let node: Int32
        let intent: Footprint.Intent
    }

    private func covers(of owner: Owner) -> [Cover: OperationNumber] {
        var covers: [Cover: OperationNumber] = [:]
        forEachTouch(ofOwner: owner) { touch in
            let shelf = shelves[touch.shelf]
            guard shelf.hider != Self.view, !touch.intent.shadows.isEmpty else { return }
            covers[Cover(node: shelf.node, intent: touch.intent)] = shelf.hider
        }
        return covers
    }

    /// Where a touch goes whose hider goes: behind the operation that hides the hider's own touch.
    private func hider(
        of intent: Footprint.Intent,
        at node: Int32,
        among covers: [Cover: OperationNumber]
    ) -> OperationNumber {
        guard !covers.isEmpty else { return Self.view }
        if Footprint.Intent.write.shadows.contains(intent),
            let hider = covers[Cover(node: node, intent: .write)]
        {
            return hider
        }
        var place = node
        while place >= 0 {
            if let hider = covers[Cover(node: place, intent: .writeTree)] { return hider }
            place = tree.parent(of: place)
        }
        return Self.view
    }
}

// MARK: - Shelves

extension FootprintIndex {
    private mutating func shelf(behind hider: OperationNumber, at node: Int32) -> Int32 {
        let known = existingShelf(behind: hider, at: node)
        guard known == Self.none else { return known }
        tree.retain(node)
        let new = shelves.insert(Shelf(hider: hider, node: node))
        guard hider != Self.view else {
            tree.setShelf(new, at: node)
            return new
        }
        places[Place(hider: hider, node: node)] = new
        let next = owners[hider]?.firstShelf ?? Self.none
        shelves[new].next = next
        if next != Self.none { shelves[next].previous = new }
        owners[hider]?.firstShelf = new
        return new
    }

    func existingShelf(behind hider: OperationNumber, at node: Int32) -> Int32 {
        hider == Self.view
            ? tree.shelf(at: node) : places[Place(hider: hider, node: node)] ?? Self.none
    }

    private mutating func put(_ touch: Int32, on place: Int32) {
        let intent = touches[touch].intent
        let next = shelves[place].heads[intent.place]
        touches[touch].shelf = place
        touches[touch].next = next
        touches[touch].previous = Self.none
        if next != Self.none { touches[next].previous = touch }
        shelves[place].heads[intent.place] = touch
        shelves[place].count += 1
        if shelves[place].hider == Self.view {
            tree.count(1, isWriting: intent.isWriting, at: shelves[place].node)
        }
    }

    /// Takes a touch from its shelf, which goes when it is empty.
    private mutating func take(_ place: Int32) {
        let touch = touches[place]
        if touch.next != Self.none { touches[touch.next].previous = touch.previous }
        if touch.previous != Self.none {
            touches[touch.previous].next = touch.next
        } else {
            shelves[touch.shelf].heads[touch.intent.place] = touch.next
        }
        shelves[touch.shelf].count -= 1
        let shelf = shelves[touch.shelf]
        if shelf.hider == Self.view {
            tree.count(-1, isWriting: touch.intent.isWriting, at: shelf.node)
        }
        if shelf.count == 0 { remove(shelf, at: touch.shelf) }
    }

    private mutating func remove(_ shelf: Shelf, at place: Int32) {
        if shelf.hider == Self.view {
            tree.setShelf(Self.none, at: shelf.node)
        } else {
            places[Place(hider: shelf.hider, node: shelf.node)] = nil
            if shelf.next != Self.none { shelves[shelf.next].previous = shelf.previous }
            if shelf.previous != Self.none {
                shelves[shelf.previous].next = shelf.next
            } else {
                owners[shelf.hider]?.firstShelf = shelf.next
            }
        }
        shelves.remove(place)
        tree.release(shelf.node)
    }

    private mutating func move(_ touch: Int32, behind hider: OperationNumber) {
        let old = shelves[touches[touch].shelf]
        guard old.hider != hider else { return }
        // The new shelf comes first: it keeps the node.
        let shelf = shelf(behind: hider, at: old.node)
        take(touch)
        put(touch, on: shelf)
    }

    func forEachTouch(from first: Int32, _ body: (Int32, OperationNumber) -> Void) {
        var place = first
        while place != Self.none {
            body(place, touches[place].operation)
            place = touches[place].next
        }
    }

    private func forEachTouch(ofOwner owner: Owner, _ body: (Touch) -> Void) {
        var next = owner.firstTouch
        while next != Self.none {
            let touch = touches[next]
            body(touch)
            next = touch.nextOwn
        }
    }
}

extension Footprint.Intent {
    /// Where it is among the heads of a shelf.
    var place: Int { Int(rawValue) - 1 }
}

extension FootprintRecord {
    /// Tells this from other footprints of one operation.
    fileprivate var hashForMemory: Int {
        var hasher = Hasher()
        hasher.combine(mayHide)
        hasher.combine(rows)
        return hasher.finalize()
    }
}

extension [OperationNumber] {
    /// Where a number is in this, which is sorted; nil when it is not there.
    fileprivate func place(of number: OperationNumber) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low] == number ? low : nil
    }

    /// This, sorted, each once.
    var inOrder: [OperationNumber] {
        guard count > 1 else { return self }
        let sorted = sorted()
        return sorted.indices.filter { $0 == 0 || sorted[$0] != sorted[$0 - 1] }.map { sorted[$0] }
    }
}
