internal import GRDB
internal import GodwitStore

extension WriteTransaction {
    /// Has a new operation wait for the last of those that touch what it touches.
    ///
    /// Those edges that follow from others are left out. An edge to an earlier operation never
    /// closes a circle; where one that is `ahead` came late, it may.
    ///
    /// - Parameter isLast: Whether everything else was enqueued before it.
    /// - Returns: What it waits for.
    /// - Throws: ``QueueError/circularDependency(_:)``.
    borrowing func connect(
        _ operation: QueuedOperation,
        by footprint: Footprint,
        isLast: Bool? = nil
    ) throws -> [OperationNumber] {
        guard !footprint.touches.isEmpty else { return [] }
        let isLast = isLast ?? (operation.commit == operation.number.commit)
        let touches = footprint.inSpace(of: operation)
        var others: [OperationNumber: Relation] = [:]
        for touch in touches {
            let relation = Relation(of: touch.intent)
            let found = try FootprintTable.conflicts(
                with: touch,
                withShadowed: !isLast,
                in: database
            )
            for number in found where number != operation.number {
                others[number] = relation.combined(with: others[number])
            }
        }
        let (needs, hasDependents) = try order(operation, among: others)
        for touch in touches {
            if isLast { try FootprintTable.shadow(by: touch, of: operation.number, in: database) }
            try FootprintTable.add(touch, of: operation.number, in: database)
        }
        try OperationTable.add(.footprint, to: operation.number, in: database)
        if hasDependents { try refuseCircle(through: operation.number) }
        return needs
    }

    /// The operations that have an order with one that touches this.
    borrowing func conflicts(
        with footprint: Footprint,
        of operation: QueuedOperation,
        withShadowed: Bool
    ) throws -> Set<OperationNumber> {
        var found: Set<OperationNumber> = []
        for touch in footprint.inSpace(of: operation) {
            found.formUnion(
                try FootprintTable.conflicts(with: touch, withShadowed: withShadowed, in: database)
            )
        }
        found.remove(operation.number)
        return found
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
    ///
    /// - Returns: What it waits for, and whether others wait for it by their own account now.
    private borrowing func order(
        _ operation: QueuedOperation,
        among others: [OperationNumber: Relation]
    ) throws -> (needs: [OperationNumber], hasDependents: Bool) {
        var before: [QueuedOperation] = []
        var hasDependents = false
        for (number, relation) in others {
            guard let other = try OperationTable.operation(number, in: database) else { continue }
            // In commit order the commits do it.
            if try isOrderedByCommit(operation, other) { continue }
            let isEarlier =
                (other.commit, other.number) < (operation.commit, operation.number)
            switch relation {
            case .ahead: before.append(other)
            case .enqueued where isEarlier || other.state == .running: before.append(other)
            case .behind where other.state == .running: continue
            case .enqueued, .behind:
                try connect(number, to: operation.number, .wait, origin: .footprint)
                try noteNeeds(of: number)
                hasDependents = hasDependents || relation == .behind
            }
        }
        let needs = try reduced(before)
        for need in needs {
            try connect(operation.number, to: need, .wait, origin: .footprint)
        }
        return (needs, hasDependents)
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

/// Where another operation stands to a new one that touches the same thing.
private enum Relation {
    /// What was enqueued first goes first.
    case enqueued
    /// The other one goes first.
    case ahead
    /// The other one goes later.
    case behind

    init(of intent: Footprint.Intent) {
        self =
            switch intent {
            case .ahead: .behind
            case .behind: .ahead
            default: .enqueued
            }
    }

    /// An order that was asked for outweighs the one of enqueuing, and two contrary ones are none.
    func combined(with other: Relation?) -> Relation {
        guard let other, other != self else { return self }
        if self == .enqueued { return other }
        return other == .enqueued ? self : .enqueued
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
