internal import GRDB
public import GodwitStore
internal import GodwitTree

extension WriteTransaction {
    /// Records an operation, in the transaction that changes the objects it is about.
    ///
    /// ```swift
    /// try await store.write { transaction in
    ///     try transaction.set(customer, for: "7", in: customers)
    ///     let first = try transaction.enqueue(UploadCustomer(id: "7"))
    ///     try transaction.enqueue(UploadOrder(id: "12"), after: [first])
    /// }
    /// ```
    ///
    /// It is started when, and only when, the transaction is committed.
    ///
    /// - Parameters:
    ///   - operation: What is to be done.
    ///   - dependencies: What has to be completed before; more can be said in the placement.
    ///   - placement: The pipeline, the priority, and what else is known about the operation.
    /// - Returns: The operation's name, for dependencies and receipts.
    /// - Throws: ``QueueError``; the transaction must then be rolled back.
    @discardableResult
    public borrowing func enqueue<Work: PushOperation>(
        _ operation: Work,
        after dependencies: [OperationID] = [],
        _ placement: Placement = Placement()
    ) throws -> OperationID {
        let journal = journal()
        let number = try nextNumber()
        let id = placement.id ?? OperationID(launch: journal.launch, number: number)
        if placement.id != nil { try refuseDuplicate(id) }
        let pipeline = journal.pipeline(placement.pipeline)
        try mention(pipeline)
        var queued = QueuedOperation(
            id: id,
            number: number,
            commit: try graph(placement.commit, in: pipeline),
            pipeline: pipeline,
            kind: Work.kind,
            state: .waiting,
            priority: placement.priority,
            host: operation.host,
            attempts: 0,
            mayHaveRun: false,
            reason: nil,
            idempotencyKey: placement.idempotencyKey ?? id.description,
            userInfo: placement.userInfo,
            body: try ValueEncoder().encode(operation)
        )
        let all = dependencies.map { Dependency.on($0) } + placement.dependencies
        let footprint = try footprint(of: operation, as: queued)
        let mayMerge = placement.mayMerge && placement.idempotencyKey == nil
        if all.isEmpty, mayMerge, try merge(queued, operation, touching: footprint) { return id }
        let touched = try touch(
            footprint.rows(for: queued.host),
            as: queued,
            ignoring: ignored(of: all)
        )
        // What is known now need not be written to its row later.
        if touched != nil { queued.parts.insert(.footprint) }
        if touched?.needs?.isEmpty == false { queued.parts.insert(.needs) }
        if operation.effect != nil { queued.parts.insert(.effect) }
        try inStep {
            try OperationTable.insert(queued, touching: touched?.record, in: connection)
        }
        if let effect = operation.effect { try set(effect, of: number, mayMerge: mayMerge) }
        let (explicit, consequences) = try connect(queued, to: all)
        let derived = try connect(queued, by: touched)
        let needs = explicit + derived.needs.filter { !explicit.contains($0) }
        let early = try tell(of: queued, needing: needs, operation.objects)
        for dependent in derived.dependents { try noteNeeds(of: dependent) }
        try connect(early, to: number)
        // A new operation is in a circle only if another one could wait for it already.
        if !early.isEmpty || queued.commit < commit { try refuseCircle(through: number) }
        try carryOut(consequences)
        return id
    }

    /// - Throws: ``QueueError/tooManyOperations(limit:)``.
    private borrowing func nextNumber() throws -> OperationNumber {
        let index = try journal().update(in: self) { draft in
            defer { draft.operationCount += 1 }
            return draft.operationCount
        }
        guard index < OperationNumber.countMax else {
            throw QueueError.tooManyOperations(limit: OperationNumber.countMax)
        }
        return OperationNumber(commit: commit, index: index)
    }

    borrowing func set(
        _ effect: Effect,
        of operation: OperationNumber,
        mayMerge: Bool
    ) throws {
        let row = EffectTable.Row(operation: operation, effect: effect, mayMerge: mayMerge)
        try EffectTable.set(row, in: connection)
        try OperationTable.add(.effect, to: operation, in: connection)
    }

    /// Writes what the index of footprints has already, or has the index be read again.
    borrowing func inStep<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            footprints().forget()
            throw error
        }
    }

    /// Notes a pipeline that the database may not know.
    private borrowing func mention(_ pipeline: String) throws {
        guard let keepsOrder = journal().unstoredPipeline(pipeline),
            try journal().update(in: self, { $0.mentioned.insert(pipeline).inserted })
        else { return }
        try PipelineTable.mention(pipeline, keepsOrder: keepsOrder, in: connection)
    }

    private borrowing func refuseDuplicate(_ id: OperationID) throws {
        let isKnown =
            try OperationTable.number(of: id, in: connection) != nil
            || ResultTable.result(of: id, in: connection) != nil
        guard !isKnown else { throw QueueError.duplicateOperation(id) }
    }

    /// The commit whose graph an operation belongs to.
    private borrowing func graph(
        _ earlier: CommitNumber?,
        in pipeline: String
    ) throws -> CommitNumber {
        guard let earlier, earlier < commit else { return commit }
        let isThere = try OperationTable.hasOperations(of: earlier, in: pipeline, connection)
        guard isThere else { return commit }
        try journal().update(in: self) { $0.hasJoinedEarlier = true }
        return earlier
    }

    /// Notes a new operation in the journal.
    ///
    /// - Returns: Those that named it before it was enqueued.
    private borrowing func tell(
        of operation: QueuedOperation,
        needing needs: [OperationNumber],
        _ objects: [ObjectKey]
    ) throws -> [QueueJournal.Dependent] {
        let outline = OperationTable.Outline(operation)
        return try journal().update(in: self) { draft in
            draft.entry.changes.append(
                .enqueued(.init(outline: outline, id: operation.id, needs: needs))
            )
            if !objects.isEmpty { draft.unrecorded[operation.number] = objects }
            guard !draft.unresolved.isEmpty else { return [] }
            return draft.unresolved.removeValue(forKey: operation.id) ?? []
        }
    }

    private borrowing func connect(
        _ dependents: [QueueJournal.Dependent],
        to operation: OperationNumber
    ) throws {
        for dependent in dependents {
            try connect(dependent.operation, to: operation, dependent.policy)
            try noteNeeds(of: dependent.operation)
        }
    }
}

// MARK: - Dependencies

extension WriteTransaction {
    /// - Returns: The unfinished operations that are needed, and what follows from those that became
    ///   dead letters, or were skipped, before.
    borrowing func connect(
        _ operation: QueuedOperation,
        to dependencies: [Dependency]
    ) throws -> (needs: [OperationNumber], consequences: [(OperationNumber, Cascade)]) {
        var needs: [OperationNumber] = []
        var cascades: [(need: OperationID, Cascade)] = []
        for dependency in dependencies where dependency.id != operation.id {
            let policy = dependency.policy
            guard let need = try doer(of: dependency.id), need != operation.number else {
                let fate = try miss(dependency, for: operation)
                if let fate,
                    let cascade = Cascade(of: policy, whenFinished: fate, need: dependency.id)
                {
                    cascades.append((dependency.id, cascade))
                }
                continue
            }
            if policy != .wait, try isDeadLetter(need) {
                let cascade = Cascade(ofRefusal: policy, need: dependency.id)
                guard let cascade else {
                    // Of several words about one, the last one counts.
                    needs.removeAll { $0 == need }
                    cascades.removeAll { $0.need == dependency.id }
                    try ignore(need, for: operation.number)
                    continue
                }
                cascades.append((dependency.id, cascade))
            }
            try connect(operation.number, to: need, policy)
            needs.append(need)
        }
        return (needs, cascades.prefix(1).map { (operation.number, $0.1) })
    }

    /// The dead letters that an operation does not wait for, whatever both touch: the app says so.
    private borrowing func ignored(
        of dependencies: [Dependency]
    ) throws -> Set<OperationNumber> {
        var ignored: Set<OperationNumber> = []
        for dependency in dependencies where dependency.policy == .ignore {
            guard let need = try doer(of: dependency.id), try isDeadLetter(need) else { continue }
            ignored.insert(need)
        }
        return ignored
    }

    private borrowing func isDeadLetter(_ number: OperationNumber) throws -> Bool {
        try OperationTable.outline(number, in: connection)?.state.isDeadLetter ?? false
    }

    /// The unfinished operation of this name, or the one that does its work.
    borrowing func doer(of id: OperationID) throws -> OperationNumber? {
        var id = id
        while true {
            if let number = try OperationTable.number(of: id, in: connection) { return number }
            guard case .merged(let doer)? = try ResultTable.result(of: id, in: connection) else {
                return nil
            }
            id = doer
        }
    }

    /// What an operation needs is not in the queue.
    ///
    /// - Returns: What has become of it.
    private borrowing func miss(
        _ dependency: Dependency,
        for operation: QueuedOperation
    ) throws -> OperationResult? {
        if let fate = try ResultTable.result(of: dependency.id, in: connection) { return fate }
        guard !dependency.isOptional else { return nil }
        try journal().update(in: self) { draft in
            draft.unresolved[dependency.id, default: []].append(
                QueueJournal.Dependent(operation: operation.number, policy: dependency.policy)
            )
        }
        return nil
    }

    borrowing func connect(
        _ operation: OperationNumber,
        to need: OperationNumber,
        _ policy: Dependency.Policy,
        origin: DependencyTable.Origin = .app
    ) throws {
        let edge = DependencyTable.Edge(
            operation: operation,
            need: need,
            policy: policy,
            origin: origin
        )
        try DependencyTable.add(edge, in: connection)
    }

    borrowing func noteNeeds(of operation: OperationNumber) throws {
        let needs = try DependencyTable.needs(of: operation, in: connection).map(\.need)
        footprints().forgetNeeds(of: operation)
        try note(.needsChanged(operation, needs))
    }

    /// Notes what an operation waits for when the transaction has changed all it will: many may have left
    /// that it waited for.
    borrowing func noteNeedsAtEnd(of operation: OperationNumber) throws {
        footprints().forgetNeeds(of: operation)
        _ = try journal().update(in: self) { $0.heirs.insert(operation) }
    }

    /// The pipelines that keep the order of commits: in this process, or else at their last launch.
    private borrowing func orderedPipelines() throws -> Set<String> {
        let stored = try PipelineTable.pipelines(in: connection).keys
        return Set(try stored.filter { try keepsOrder($0) }).union(journal().orderedPipelines)
    }

    /// Whether a pipeline keeps the order of commits; a process that has no queue, or none yet, asks
    /// the database.
    borrowing func keepsOrder(_ pipeline: String) throws -> Bool {
        try journal().keepsOrder(pipeline)
            ?? PipelineTable.keepsOrder(pipeline, in: connection)
    }

    borrowing func isInCircle(_ operation: OperationNumber) throws -> Bool {
        try LiveGraph(database: connection, ordered: orderedPipelines())
            .circle(through: operation) != nil
    }

    /// - Throws: ``QueueError/circularDependency(_:)``.
    borrowing func refuseCircle(through operation: OperationNumber) throws {
        let graph = try LiveGraph(database: connection, ordered: orderedPipelines())
        guard let circle = try graph.circle(through: operation) else { return }
        throw QueueError.circularDependency(circle)
    }
}

extension OperationTable.Outline {
    init(_ operation: QueuedOperation) {
        self.init(
            number: operation.number,
            commit: operation.commit,
            pipeline: operation.pipeline,
            state: operation.state,
            priority: operation.priority,
            keepsOrder: operation.keepsOrder,
            host: operation.host,
            parts: operation.parts
        )
    }
}
