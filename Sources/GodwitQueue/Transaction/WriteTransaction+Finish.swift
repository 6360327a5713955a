public import GodwitStore

extension WriteTransaction {
    /// Takes an operation out of the queue as done, whether it was started or not.
    ///
    /// The transaction is the place to write down what is known now, a new tag for instance.
    /// Without such an operation nothing happens.
    public borrowing func completeOperation(_ id: OperationID) throws {
        guard let number = try OperationTable.number(of: id, in: connection) else { return }
        try finish(number, .completed)
    }

    /// Takes an operation out of the queue as not needed; if it runs, it is cancelled.
    ///
    /// What depends on it is let go, unless its dependency says otherwise. Without such an
    /// operation nothing happens.
    public borrowing func skipOperation(_ id: OperationID, reason: String? = nil) throws {
        guard let number = try OperationTable.number(of: id, in: connection) else { return }
        try finish(number, .skipped(reason: reason))
    }

    /// Skips all operations for which `test` is true, those of this transaction included.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline of the operations; nil for all of them.
    ///   - reason: Why they are not needed.
    ///   - test: Whether an operation is skipped.
    /// - Returns: How many.
    @discardableResult
    public borrowing func skipOperations(
        in pipeline: String? = nil,
        reason: String? = nil,
        where test: (QueuedOperation) throws -> Bool
    ) throws -> Int {
        var found: [OperationNumber] = []
        try forEachOperation(in: pipeline) { operation in
            if try test(operation) { found.append(operation.number) }
            return true
        }
        for number in found { try finish(number, .skipped(reason: reason)) }
        return found.count
    }
}

// MARK: - What follows from it

extension WriteTransaction {
    /// Takes an operation out of the queue, and does to those that depend on it what they said.
    borrowing func finish(_ number: OperationNumber, _ fate: OperationResult) throws {
        try carryOut([(number, .finish(fate))])
    }

    /// Does what the ends of operations mean for those that depend on them: a chain may be long.
    borrowing func carryOut(_ consequences: [(OperationNumber, Cascade)]) throws {
        var left = consequences
        while let (number, cascade) = left.popLast() {
            switch cascade {
            case .finish(let fate): left += try finishOne(number, fate)
            case .refuse(let reason): left += try refuseOne(number, reason, .deadLetter)
            }
        }
    }

    /// Puts an operation among the dead letters.
    ///
    /// - Parameter mayHaveRun: Whether an attempt of it has ended without an answer.
    borrowing func refuse(
        _ number: OperationNumber,
        reason: String,
        as state: QueuedOperation.State = .deadLetter,
        mayHaveRun: Bool = false
    ) throws {
        try carryOut(refuseOne(number, reason, state, mayHaveRun: mayHaveRun))
    }

    private borrowing func finishOne(
        _ number: OperationNumber,
        _ fate: OperationResult
    ) throws -> [(OperationNumber, Cascade)] {
        guard let operation = try OperationTable.head(number, in: connection) else { return [] }
        let edges =
            operation.parts.mayHaveDependents
            ? try DependencyTable.dependents(of: number, in: connection) : []
        try passOn(operation, edges)
        if case .skipped = fate { try passOnBases(of: operation) }
        try releaseNextSuspect(after: operation)
        try removeRows(of: operation)
        try ResultTable.add(fate, of: operation, in: connection)
        if let countMax = journal().countFate() {
            try ResultTable.trim(to: countMax, in: connection)
        }
        try note(.finished(number, operation.id, fate))
        return edges.compactMap { edge in
            Cascade(of: edge.policy, whenFinished: fate, need: operation.id).map {
                (edge.operation, $0)
            }
        }
    }

    private borrowing func refuseOne(
        _ number: OperationNumber,
        _ reason: String,
        _ state: QueuedOperation.State,
        mayHaveRun: Bool = false
    ) throws -> [(OperationNumber, Cascade)] {
        guard let operation = try OperationTable.operation(number, in: connection),
            !operation.state.isDeadLetter
        else { return [] }
        let verdict = OperationTable.Verdict(
            state: state,
            attempts: operation.attempts,
            mayHaveRun: operation.mayHaveRun || mayHaveRun,
            reason: reason
        )
        try OperationTable.record(verdict, of: number, in: connection)
        try passOnBases(of: operation)
        if operation.parts.contains(.holds) { try HoldTable.remove(number, in: connection) }
        try note(.stopped(number, state))
        try releaseNextSuspect(after: operation)
        var next: [(OperationNumber, Cascade)] = []
        for edge in try DependencyTable.dependents(of: number, in: connection) {
            if edge.policy == .ignore { try ignore(number, for: edge.operation) }
            // A newer version of the app may read it, and do it after all.
            guard state != .unreadable else { continue }
            if let cascade = Cascade(ofRefusal: edge.policy, need: operation.id) {
                next.append((edge.operation, cascade))
            }
        }
        return next
    }

    /// When one steps out of a row before its turn, those behind it wait for those before it, as
    /// far as footprints have put them in a row.
    borrowing func passOn(
        _ operation: QueuedOperation,
        _ dependents: [DependencyTable.Edge]
    ) throws {
        let heirs = dependents.filter(\.isDerived).map(\.operation)
        guard !heirs.isEmpty else { return }
        var needs: Set<OperationNumber> = []
        if operation.parts.contains(.needs) {
            let edges = try DependencyTable.needs(of: operation.number, in: connection)
            needs.formUnion(edges.filter(\.isDerived).map(\.need))
        }
        var earlier: [OperationTable.Outline] = []
        // Commit order alone may have kept the operation behind those that it hides.
        if operation.parts.contains(.footprint), try mayKeepOrder(operation) {
            let number = operation.number
            let numbers = try footprints().update(in: self) { $0.hidden(behind: number) }
            earlier = try numbers.compactMap { try OperationTable.outline($0, in: connection) }
        }
        for heir in heirs {
            // Some heirs are behind them by that order, too.
            let outline = try OperationTable.outline(heir, in: connection)
            let others = try earlier.filter { other in
                try other.number != heir
                    && outline.map { try !isOrderedByCommit($0, other) } ?? false
            }
            let all = needs.union(others.map(\.number))
            for need in all.sorted() {
                try connect(heir, to: need, .wait, origin: .footprint)
            }
            if !all.isEmpty { try noteNeedsAtEnd(of: heir) }
        }
    }

    /// Has an operation wait for a dead letter no longer, and those behind it wait in its place.
    borrowing func ignore(_ need: OperationNumber, for operation: OperationNumber) throws {
        let edge = try DependencyTable.needs(of: operation, in: connection)
            .first { $0.need == need }
        guard let edge else { return }
        if edge.isDerived {
            try passOn(need, from: operation)
            try stopHiding(operation)
        }
        try DependencyTable.remove(need, from: operation, in: connection)
        try noteNeeds(of: operation)
    }

    /// Whether the order of commits may have kept an operation behind others.
    ///
    /// Until the queue takes the lease, the database knows the order of the launch before.
    private borrowing func mayKeepOrder(_ operation: QueuedOperation) throws -> Bool {
        let pipeline = operation.pipeline
        if try operation.keepsOrder || keepsOrder(pipeline) { return true }
        return try PipelineTable.keepsOrder(pipeline, in: connection)
    }

    /// Has those that are behind an operation in a row wait for what it waits for no longer.
    private borrowing func passOn(
        _ need: OperationNumber,
        from operation: OperationNumber
    ) throws {
        let heirs = try DependencyTable.dependents(of: operation, in: connection)
        for heir in heirs where heir.isDerived {
            try connect(heir.operation, to: need, .wait, origin: .footprint)
            try noteNeeds(of: heir.operation)
        }
    }

    /// The cloud does not have what an operation would have pushed: later operations on the same
    /// objects are built on what this one was built on.
    private borrowing func passOnBases(of operation: QueuedOperation) throws {
        guard operation.parts.contains(.objects) else { return }
        for row in try ObjectRecordTable.rows(of: operation.number, in: connection) {
            for other in try ObjectRecordTable.operations(pushing: row.key, in: connection)
            where other > operation.number {
                try ObjectRecordTable.setBase(row.old, of: row.key, for: other, in: connection)
            }
        }
    }

    private borrowing func removeRows(of operation: QueuedOperation) throws {
        let (number, parts) = (operation.number, operation.parts)
        if parts.mayHaveDependents {
            try DependencyTable.removeDependents(of: number, in: connection)
        }
        if parts.contains(.needs) { try DependencyTable.removeNeeds(of: number, in: connection) }
        if parts.contains(.holds) { try HoldTable.remove(number, in: connection) }
        if parts.contains(.attempts) { try AttemptTable.remove(number, in: connection) }
        if parts.contains(.objects) { try ObjectRecordTable.remove(number, in: connection) }
        if parts.contains(.conflict) { try ConflictTable.remove(number, in: connection) }
        if parts.contains(.effect) { try EffectTable.remove(number, in: connection) }
        try journal().update(in: self) { $0.unrecorded[number] = nil }
        try OperationTable.remove(number, in: connection)
        // Last: what fails before leaves the index in step.
        if parts.contains(.footprint) { try footprints().remove(number, in: self) }
    }
}

/// What the end of an operation means for one that depends on it.
enum Cascade {
    case finish(OperationResult)
    case refuse(reason: String)

    init?(of policy: Dependency.Policy, whenFinished fate: OperationResult, need: OperationID) {
        guard case .skipped = fate else { return nil }
        self.init(ofRefusal: policy, need: need)
    }

    init?(ofRefusal policy: Dependency.Policy, need: OperationID) {
        switch policy {
        case .wait, .ignore: return nil
        case .skip: self = .finish(.skipped(reason: "it depends on \(need)"))
        case .fail: self = .refuse(reason: "it depends on \(need)")
        }
    }
}
