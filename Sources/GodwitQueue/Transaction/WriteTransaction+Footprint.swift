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
        let number = operation.number
        let rows = footprint.rows(for: operation.host)
        var conflicts = try conflicts(of: number, with: rows, withShadowed: !isLast)
        if isLast, conflicts.contains(where: { $0.row.intent == .ahead }) {
            // What comes after this one must not be hidden by it, nor hide others from it.
            isLast = false
            conflicts = try self.conflicts(of: number, with: rows, withShadowed: true)
        }
        let place = try order(OperationTable.Outline(operation), among: conflicts)
        for conflict in conflicts where isLast && conflict.isSuperfluous {
            try FootprintTable.shadow(conflict.other, by: number, in: connection)
        }
        for row in rows { try FootprintTable.add(row, of: number, in: connection) }
        let parts: OperationParts = place.needs.isEmpty ? .footprint : [.footprint, .needs]
        if !operation.parts.isSuperset(of: parts) {
            try OperationTable.add(parts, to: number, in: connection)
        }
        return place
    }

    /// The rows of others that have an order with an operation's.
    private borrowing func conflicts(
        of operation: OperationNumber,
        with rows: [FootprintTable.Row],
        withShadowed: Bool
    ) throws -> [FootprintTable.Conflict] {
        let found = try FootprintTable.conflicts(
            with: rows,
            withShadowed: withShadowed,
            in: connection
        )
        return found.filter { $0.operation != operation }
    }

    /// The operations that have an order with one that touches this.
    borrowing func conflicts(
        with footprint: Footprint,
        of operation: QueuedOperation,
        withShadowed: Bool
    ) throws -> Set<OperationNumber> {
        let rows = footprint.rows(for: operation.host)
        let found = try conflicts(of: operation.number, with: rows, withShadowed: withShadowed)
        return Set(found.map(\.operation))
    }

    /// All that an operation touches: by its own account, by its effect, and by the app's rules.
    borrowing func footprint(
        of work: any PushOperation,
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
        _ operation: OperationTable.Outline,
        among conflicts: [FootprintTable.Conflict]
    ) throws -> FootprintPlace {
        var others: [OperationNumber: Relation] = [:]
        for conflict in conflicts {
            others[conflict.operation, default: []].formUnion(Relation(of: conflict.row.intent))
        }
        var (before, after) = ([OperationTable.Outline](), [OperationTable.Outline]())
        for (number, relation) in others.sorted(by: { $0.key < $1.key }) {
            guard let other = try OperationTable.outline(number, in: connection) else { continue }
            // In commit order the commits do it.
            if try isOrderedByCommit(operation, other) { continue }
            switch relation {
            case .ahead: before.append(other)
            case .behind: after.append(other)
            case _ where other.isEarlier(than: operation) || other.state == .running:
                before.append(other)
            default: after.append(other)
            }
        }
        let needs = try reduced(before)
        for need in needs { try connect(operation.number, to: need) }
        for dependent in after {
            try connect(dependent.number, to: operation.number, .wait, origin: .footprint)
        }
        let place = FootprintPlace(needs: needs.map(\.number), dependents: after.map(\.number))
        let overtaken = after.filter { $0.isEarlier(than: operation) }
        guard !overtaken.isEmpty, try isInCircle(operation.number) else { return place }
        return try giveWay(operation, to: overtaken, place)
    }

    /// Adds an edge; the caller notes on the operation that it needs others.
    ///
    /// The other one has a footprint, and so may have dependents: its row is not written for that.
    private borrowing func connect(
        _ operation: OperationNumber,
        to need: OperationTable.Outline
    ) throws {
        let edge = DependencyTable.Edge(
            operation: operation,
            need: need.number,
            policy: .wait,
            origin: .footprint
        )
        try DependencyTable.insert(edge, in: connection)
    }

    /// Has an operation come after those that it would have overtaken: other dependencies want that.
    private borrowing func giveWay(
        _ operation: OperationTable.Outline,
        to overtaken: [OperationTable.Outline],
        _ place: FootprintPlace
    ) throws -> FootprintPlace {
        var place = place
        for other in overtaken {
            try DependencyTable.remove(operation.number, from: other.number, in: connection)
            place.dependents.removeAll { $0 == other.number }
        }
        for need in try reduced(overtaken) where !place.needs.contains(need.number) {
            try connect(operation.number, to: need)
            place.needs.append(need.number)
        }
        return place
    }

    borrowing func isOrderedByCommit(
        _ operation: OperationTable.Outline,
        _ other: OperationTable.Outline
    ) throws -> Bool {
        guard operation.pipeline == other.pipeline, operation.commit != other.commit else {
            return false
        }
        return try operation.keepsOrder || keepsOrder(operation.pipeline)
    }

    /// Leaves out those that another one of them waits for, directly or not.
    ///
    /// Only what footprints want counts: when an operation leaves, others inherit that from it.
    private borrowing func reduced(
        _ operations: [OperationTable.Outline]
    ) throws -> [OperationTable.Outline] {
        let numbers = Set(operations.map(\.number))
        guard numbers.count > 1, let first = numbers.min() else { return operations }
        var (superfluous, seen) = (Set<OperationNumber>(), Set<OperationNumber>())
        var left = operations.filter { $0.parts.contains(.needs) }.map(\.number)
        while let number = left.popLast(), seen.count < Self.reachMax + numbers.count {
            for need in try DependencyTable.derivedNeeds(of: number, in: connection) {
                if numbers.contains(need) { superfluous.insert(need) }
                // What lies before all of them leads to none of them.
                if need >= first, seen.insert(need).inserted { left.append(need) }
            }
        }
        return operations.filter { !superfluous.contains($0.number) }
    }

    /// How many operations are looked at besides: an edge too many costs less than a long search.
    private static var reachMax: Int { 16 }
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

extension OperationTable.Outline {
    fileprivate func isEarlier(than other: Self) -> Bool {
        (commit, number) < (other.commit, other.number)
    }
}

extension Footprint {
    /// The rows of this, sorted.
    ///
    /// Paths of different hosts have nothing to do with each other; what goes ahead of what has no
    /// host.
    func rows(for host: String?) -> [FootprintTable.Row] {
        let rows = touches.map { touch in
            let key = FootprintKey(touch.resource, on: touch.intent.isOnPath ? host : nil)
            return FootprintTable.Row(key, touch.intent)
        }
        return rows.sorted()
    }
}
