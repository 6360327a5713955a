internal import GRDB
internal import GodwitStore
internal import GodwitTree

extension WriteTransaction {
    /// Has an operation that waits on the same thing do the work of a new one too.
    ///
    /// It may, if that makes no difference: it was never started, no operation waits for it, and
    /// whatever has an order with the new one comes before it anyway. The merged operation keeps
    /// the place, the name and the oldest old values of the earlier one.
    ///
    /// - Returns: Whether the new one need not be stored.
    borrowing func merge(
        _ new: QueuedOperation,
        _ work: some PushOperation,
        touching footprint: Footprint
    ) throws -> Bool {
        guard let effect = work.effect, new.commit == new.number.commit,
            try journal().update(in: self, { $0.unresolved[new.id] == nil }),
            let last = try EffectTable.last(
                on: effect.thing,
                of: effect.collection,
                in: connection
            ), last.mayMerge,
            let old = try OperationTable.operation(last.operation, in: connection),
            old.body != .null, old.mayTakeOver(new),
            try isOutOfTheWay(old, for: new, touching: footprint)
        else { return false }
        switch last.effect.then(effect) {
        case .two: return false
        case .nothing:
            guard try isNext(new, after: old) else { return false }
            let reason = "\(new.id) has undone it before it was started"
            try finish(old.number, .skipped(reason: reason))
        case .one(let sum):
            guard try replace(old, last.effect, by: new, work, sum) else { return false }
        }
        try ResultTable.add(.merged(into: old.id), of: new, successor: old.number, in: connection)
        try note(.finished(new.number, new.id, .merged(into: old.id)))
        return true
    }

    private borrowing func replace(
        _ old: QueuedOperation,
        _ effect: Effect,
        by new: QueuedOperation,
        _ work: some PushOperation,
        _ sum: Effect
    ) throws -> Bool {
        if sum != effect {
            guard try isNext(new, after: old), let merged = try merged(old, new, work, sum) else {
                return false
            }
            try put(merged, sum, in: old, new)
        } else if sum == work.effect {
            // Two kinds of writing the same thing may be two different works.
            guard new.kind == old.kind else { return false }
            try put(work, sum, in: old, new)
        } else {
            try put(nil, sum, in: old, new)
        }
        let objects = work.objects
        try journal().update(in: self) { draft in
            if !objects.isEmpty { draft.unrecorded[old.number, default: []] += objects }
        }
        return true
    }

    /// The operation that has the effect of both.
    private borrowing func merged(
        _ old: QueuedOperation,
        _ new: QueuedOperation,
        _ work: some PushOperation,
        _ sum: Effect
    ) throws -> (any PushOperation)? {
        if sum == work.effect { return work }
        guard let merged = try work.merged(with: old, as: sum), merged.host == old.host else {
            return nil
        }
        precondition(merged.effect == sum, "It has another effect than it was asked for")
        return merged
    }

    /// Puts other work in the place of an operation that waits.
    ///
    /// - Parameter work: nil to leave what is there.
    private borrowing func put(
        _ work: (any PushOperation)?,
        _ effect: Effect,
        in old: QueuedOperation,
        _ new: QueuedOperation
    ) throws {
        var merged = old
        merged.priority = max(old.priority, new.priority)
        if new.userInfo != .null { merged.userInfo = new.userInfo }
        if let work {
            merged.kind = type(of: work).kind
            merged.body = try ValueEncoder().encode(work)
        }
        try OperationTable.update(merged, in: connection)
        if merged.priority != old.priority { try note(.reprioritized(old.number, merged.priority)) }
        guard let work else { return }
        let row = EffectTable.Row(operation: old.number, effect: effect, mayMerge: true)
        try EffectTable.set(row, in: connection)
        let rows = try footprint(of: work, as: merged).rows(for: merged.host)
        let known = try OperationTable.footprint(of: old.number, in: connection)
        guard rows != known?.record.rows ?? [] else { return }
        // Nothing that it has an order with came after it.
        try replaceFootprint(of: merged, with: rows, isLast: true)
    }
}

// MARK: - When a merge makes no difference

extension WriteTransaction {
    /// Whether nothing that was enqueued between two operations has an order with either.
    private borrowing func isOutOfTheWay(
        _ old: QueuedOperation,
        for new: QueuedOperation,
        touching footprint: Footprint
    ) throws -> Bool {
        guard try DependencyTable.dependents(of: old.number, in: connection).isEmpty else {
            return false
        }
        let edges = try DependencyTable.needs(of: old.number, in: connection)
        // The old one may go with what it needs, and would take the new one along.
        guard edges.allSatisfy({ $0.policy == .wait || $0.policy == .ignore }) else { return false }
        let needs = Set(edges.map(\.need))
        for number in try conflicts(with: footprint, of: new)
        where number != old.number && !needs.contains(number) {
            guard let other = try OperationTable.outline(number, in: connection) else { continue }
            let isBefore =
                try other.commit < old.commit && isOrderedByCommit(.init(old), other)
            guard isBefore else { return false }
        }
        return true
    }

    /// Whether, in commit order, the new operation could run right after the old one: the cloud
    /// must not see half of a commit before its turn.
    private borrowing func isNext(
        _ new: QueuedOperation,
        after old: QueuedOperation
    ) throws -> Bool {
        guard try isOrderedByCommit(.init(new), .init(old)) else { return true }
        let hasJoined = try journal().update(in: self) { $0.hasJoinedEarlier }
        guard !hasJoined else { return false }
        return try !OperationTable.hasOther(
            than: old.number,
            in: old.pipeline,
            from: old.commit,
            before: new.commit,
            connection
        )
    }
}

extension QueuedOperation {
    /// Whether it is untouched, and meant for the same pipeline and host.
    fileprivate func mayTakeOver(_ new: QueuedOperation) -> Bool {
        state == .waiting && attempts == 0 && !mayHaveRun && pipeline == new.pipeline
            && host == new.host && idempotencyKey == id.description
    }
}
