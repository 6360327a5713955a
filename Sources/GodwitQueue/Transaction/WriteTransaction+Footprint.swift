internal import GRDB
internal import GodwitStore

extension WriteTransaction {
    /// Puts an operation in its place among those that touch what it touches.
    ///
    /// Those edges that follow from others are left out. An edge to an earlier operation never
    /// closes a circle. One to an operation that goes ahead of earlier ones may: then the order of
    /// enqueuing counts.
    ///
    /// - Parameter isLast: Whether everything else was enqueued before it.
    /// - Returns: What it waits for, and what waits for it from now on: the caller notes that when the
    ///   operation itself is noted.
    borrowing func connect(
        _ operation: QueuedOperation,
        by footprint: Footprint,
        isLast: Bool? = nil
    ) throws -> FootprintPlace {
        guard !footprint.touches.isEmpty else { return FootprintPlace() }
        var isLast = isLast ?? (operation.commit == operation.number.commit)
        let touches = footprint.inSpace(of: operation)
        var others = try relations(of: operation, to: touches, withShadowed: !isLast)
        if isLast, others.values.contains(.behind) {
            // What comes after this one must not be hidden by it, nor hide others from it.
            isLast = false
            others = try relations(of: operation, to: touches, withShadowed: true)
        }
        let place = try order(operation, among: others)
        for touch in touches {
            if isLast { try FootprintTable.shadow(by: touch, of: operation.number, in: database) }
            try FootprintTable.add(touch, of: operation.number, in: database)
        }
        try OperationTable.add(.footprint, to: operation.number, in: database)
        return place
    }

    private borrowing func relations(
        of operation: QueuedOperation,
        to touches: [Footprint.Touch],
        withShadowed: Bool
    ) throws -> [OperationNumber: Relation] {
        var others: [OperationNumber: Relation] = [:]
        for touch in touches {
            let found = try FootprintTable.conflicts(
                with: touch,
                withShadowed: withShadowed,
                in: database
            )
            for number in found where number != operation.number {
                others[number, default: []].formUnion(Relation(of: touch.intent))
            }
        }
        return others
    }

    /// The operations that have an order with one that touches this.
    borrowing func conflicts(
        with footprint: Footprint,
        of operation: QueuedOperation,
        withShadowed: Bool
    ) throws -> Set<OperationNumber> {
        let touches = footprint.inSpace(of: operation)
        return Set(try relations(of: operation, to: touches, withShadowed: withShadowed).keys)
    }

    /// All that an operation touches: by its own account, by its effect, and by the app's rules.
    borrowing func footprint(
        of work: any Operation,
        as operation: QueuedOperation
    ) throws -> Footprint {
        var footprint = work.footprint
        if let effect = work.effect { footprint = footprint + effect.footprint }
        for rule in journal().rules(of: operation.pipeline) {
            footprint = footprint + rule.touches(work, operation)
        }
        return footprint
    }

    /// Puts an operation in its place among those that it has an order with: the earlier commit
    /// goes first, and of one commit what was enqueued first.
    private borrowing func order(
        _ operation: QueuedOperation,
        among others: [OperationNumber: Relation]
    ) throws -> FootprintPlace {
        var (before, after) = ([QueuedOperation](), [OperationNumber]())
        var overtaken: [QueuedOperation] = []
        for (number, relation) in others.sorted(by: { $0.key < $1.key }) {
            guard let other = try OperationTable.operation(number, in: database) else { continue }
            // In commit order the commits do it.
            if try isOrderedByCommit(operation, other) { continue }
            let isEarlier =
                (other.commit, other.number) < (operation.commit, operation.number)
            switch relation {
            case .ahead: before.append(other)
            case .behind:
                after.append(number)
                if isEarlier { overtaken.append(other) }
            case _ where isEarlier || other.state == .running: before.append(other)
            default: after.append(number)
            }
        }
        let needs = try reduced(before)
        for need in needs {
            try connect(operation.number, to: need, .wait, origin: .footprint)
        }
        for number in after { try connect(number, to: operation.number, .wait, origin: .footprint) }
        guard !overtaken.isEmpty, try isInCircle(operation.number) else {
            return FootprintPlace(needs: needs, dependents: after)
        }
        return try giveWay(
            operation,
            to: overtaken,
            FootprintPlace(needs: needs, dependents: after)
        )
    }

    /// Has an operation come after those that it would have overtaken: other dependencies want that.
    private borrowing func giveWay(
        _ operation: QueuedOperation,
        to overtaken: [QueuedOperation],
        _ place: FootprintPlace
    ) throws -> FootprintPlace {
        var place = place
        for other in overtaken {
            try DependencyTable.remove(operation.number, from: other.number, in: database)
            place.dependents.removeAll { $0 == other.number }
        }
        for need in try reduced(overtaken) where !place.needs.contains(need) {
            try connect(operation.number, to: need, .wait, origin: .footprint)
            place.needs.append(need)
        }
        return place
    }

    borrowing func isOrderedByCommit(
        _ operation: QueuedOperation,
        _ other: QueuedOperation
    ) throws -> Bool {
        guard operation.pipeline == other.pipeline, operation.commit != other.commit else {
            return false
        }
        return operation.keepsOrder || journal().orderedPipelines.contains(operation.pipeline)
    }

    /// Leaves out those that another one of them waits for, directly or not.
    private borrowing func reduced(_ operations: [QueuedOperation]) throws -> [OperationNumber] {
        let numbers = Set(operations.map(\.number))
        guard numbers.count > 1, let first = numbers.min() else { return numbers.sorted() }
        var (superfluous, seen) = (Set<OperationNumber>(), Set<OperationNumber>())
        var left = operations.filter { $0.parts.contains(.needs) }.map(\.number)
        while let number = left.popLast(), seen.count < Self.reachMax + numbers.count {
            for edge in try DependencyTable.needs(of: number, in: database) {
                if numbers.contains(edge.need) { superfluous.insert(edge.need) }
                // What lies before all of them leads to none of them.
                if edge.need >= first, seen.insert(edge.need).inserted { left.append(edge.need) }
            }
        }
        return numbers.subtracting(superfluous).sorted()
    }

    /// How many operations are looked at besides: an edge too many costs less than a long search.
    private static var reachMax: Int { 64 }
}

/// What an operation waits for by its footprint, and what waits for it.
struct FootprintPlace {
    var needs: [OperationNumber] = []
    var dependents: [OperationNumber] = []
}

/// Where another operation stands to a new one that touches the same things; what was enqueued first
/// goes first if it is neither, or both.
private struct Relation: OptionSet {
    let rawValue: Int

    /// The other one goes first.
    static let ahead = Relation(rawValue: 1)
    /// The other one goes later.
    static let behind = Relation(rawValue: 2)

    init(rawValue: Int) { self.rawValue = rawValue }

    init(of intent: Footprint.Intent) {
        self =
            switch intent {
            case .ahead: .behind
            case .behind: .ahead
            default: []
            }
    }
}

extension Footprint {
    /// Paths of different hosts have nothing to do with each other; what goes ahead of what has no
    /// host.
    func inSpace(of operation: QueuedOperation) -> [Touch] {
        let touches = touches.sorted()
        guard let host = operation.host else { return touches }
        return touches.map { touch in
            guard touch.intent != .ahead, touch.intent != .behind else { return touch }
            return Touch(resource: "\(host) \(touch.resource)", intent: touch.intent)
        }
    }
}
