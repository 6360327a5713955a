internal import GRDB
internal import GodwitStore

extension WriteTransaction {
    /// Notes what an operation touches, and finds the others that it has an order with.
    ///
    /// - Parameters:
    ///   - rows: What it touches, sorted, each once.
    ///   - isLast: Whether everything else was enqueued before it.
    ///   - ignored: What it does not wait for, because the app says so.
    /// - Returns: nil when it touches nothing.
    borrowing func touch(
        _ rows: [FootprintRow],
        as operation: QueuedOperation,
        isLast: Bool? = nil,
        ignoring ignored: Set<OperationNumber> = []
    ) throws -> Touched? {
        let number = operation.number
        guard !rows.isEmpty else { return nil }
        let line = try line(of: operation)
        // It hides nothing that it does not wait for.
        var isLast = isLast ?? (operation.commit == number.commit && ignored.isEmpty)
        return try footprints().update(in: self) { index in
            var conflicts = index.conflicts(with: rows, of: number, withHidden: !isLast)
            if isLast, conflicts.contains(where: { $0.intent == .ahead }) {
                // What comes after this one must not be hidden by it, nor hide others from it.
                isLast = false
                conflicts = index.conflicts(with: rows, of: number, withHidden: true)
            }
            conflicts.removeAll { ignored.contains($0.operation) }
            // One that takes in the work of a later one may come after operations of higher numbers.
            let mayHide = isLast && conflicts.allSatisfy { $0.operation < number }
            let record = FootprintRecord(rows, mayHide: mayHide)
            var touched = Touched(record: record, conflicts: conflicts, isLast: isLast)
            if isLast, line == nil {
                // All others come before it, and no order of commits keeps them there.
                let others = conflicts.map(\.operation).inOrder
                touched.needs = try index.reduced(others) { other in
                    try DependencyTable.derivedNeeds(of: other, in: connection)
                }
            }
            index.insert(record, of: number, in: line, hiding: conflicts, needs: touched.needs)
            return touched
        }
    }

    /// Which pipeline keeps an operation in the order of commits; nil if none does.
    private borrowing func line(of operation: QueuedOperation) throws -> String? {
        let keepsOrder = try operation.keepsOrder || keepsOrder(operation.pipeline)
        return keepsOrder ? operation.pipeline : nil
    }

    /// Puts an operation in its place among those that touch what it touches.
    ///
    /// Those edges that follow from others are left out. An edge to an earlier operation never
    /// closes a circle. One to an operation that goes ahead of earlier ones may: then the order of
    /// enqueuing counts.
    ///
    /// - Returns: What it waits for, and what waits for it from now on: the caller notes that when the
    ///   operation itself is noted.
    borrowing func connect(
        _ operation: QueuedOperation,
        by touched: Touched?
    ) throws -> FootprintPlace {
        guard let touched, !touched.conflicts.isEmpty else { return FootprintPlace() }
        let place =
            try follow(touched.needs, of: operation.number)
            ?? order(OperationTable.Outline(operation), among: touched)
        if !place.needs.isEmpty, !operation.parts.contains(.needs) {
            try OperationTable.add(.needs, to: operation.number, in: connection)
        }
        return place
    }

    /// Adds the edges that the index has found; the operation need not be in the database yet.
    ///
    /// - Returns: nil if the index has not looked for them.
    private borrowing func follow(
        _ needs: [OperationNumber]?,
        of operation: OperationNumber
    ) throws -> FootprintPlace? {
        guard let needs else { return nil }
        for need in needs { try connect(operation, to: need) }
        return FootprintPlace(needs: needs)
    }

    /// The operations that have an order with one that touches this.
    borrowing func conflicts(
        with footprint: Footprint,
        of operation: QueuedOperation
    ) throws -> Set<OperationNumber> {
        guard !footprint.touches.isEmpty else { return [] }
        let (rows, number) = (footprint.rows(for: operation.host), operation.number)
        let found = try footprints().update(in: self) { index in
            index.conflicts(with: rows, of: number, withHidden: false)
        }
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
        among touched: Touched
    ) throws -> FootprintPlace {
        var others: [OperationNumber: Relation] = [:]
        for conflict in touched.conflicts {
            others[conflict.operation, default: []].formUnion(Relation(of: conflict.intent))
        }
        var (before, after) = ([OperationTable.Outline](), [OperationTable.Outline]())
        for (number, relation) in others.sorted(by: { $0.key < $1.key }) {
            guard let other = try OperationTable.outline(number, in: connection) else { continue }
            // In commit order the commits do it.
            if try isOrderedByCommit(operation, other) { continue }
            switch relation {
            case .ahead: before.append(other)
            case .behind: after.append(other)
            case _
            where touched.isLast || other.isEarlier(than: operation) || other.state == .running:
                before.append(other)
            default: after.append(other)
            }
        }
        let needs = try reduced(before.map(\.number))
        for need in needs { try connect(operation.number, to: need) }
        for dependent in after {
            try connect(dependent.number, to: operation.number, .wait, origin: .footprint)
        }
        let place = FootprintPlace(needs: needs, dependents: after.map(\.number))
        let overtaken = after.filter { $0.isEarlier(than: operation) }
        guard !overtaken.isEmpty, try isInCircle(operation.number) else { return place }
        return try giveWay(operation, to: overtaken, place)
    }

    /// Adds an edge; the caller notes on the operation that it needs others.
    ///
    /// The other one has a footprint, and so may have dependents: its row is not written for that.
    private borrowing func connect(
        _ operation: OperationNumber,
        to need: OperationNumber
    ) throws {
        let edge = DependencyTable.Edge(
            operation: operation,
            need: need,
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
            let edges = try DependencyTable.needs(of: other.number, in: connection)
            // What the app has asked for stays: the circle is refused.
            guard edges.first(where: { $0.need == operation.number })?.origin != .app else {
                continue
            }
            try DependencyTable.remove(operation.number, from: other.number, in: connection)
            // It may have waited for this operation before.
            try noteNeeds(of: other.number)
            place.dependents.removeAll { $0 == other.number }
        }
        for need in try reduced(overtaken.map(\.number)) where !place.needs.contains(need) {
            try connect(operation.number, to: need)
            place.needs.append(need)
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
        // One that was made for another order of its pipeline keeps it among those like it.
        if operation.keepsOrder, other.keepsOrder { return true }
        return try keepsOrder(operation.pipeline)
    }

    private borrowing func reduced(_ operations: [OperationNumber]) throws -> [OperationNumber] {
        guard operations.count > 1 else { return operations }
        return try footprints().update(in: self) { index in
            try index.reduced(operations.inOrder) { other in
                try DependencyTable.derivedNeeds(of: other, in: connection)
            }
        }
    }
}

/// What an operation touches, and the touches of others that it has an order with.
struct Touched {
    let record: FootprintRecord
    let conflicts: [FootprintIndex.Conflict]
    /// Whether all others come before it.
    let isLast: Bool
    /// What it waits for; nil if that depends on the commits and states of the others.
    var needs: [OperationNumber]?
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
