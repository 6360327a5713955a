public import GodwitStore

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
    /// When the transaction is rolled back, nothing was enqueued. A dependency that the queue does
    /// not hold counts as completed: that is how operations leave it.
    ///
    /// - Parameter id: An identifier of the app's choice, so that operations may be named before
    ///   they are enqueued.
    /// - Throws: ``QueueError``; the transaction must then be rolled back.
    @discardableResult
    public borrowing func enqueue<Work: Operation>(
        _ operation: Work,
        after dependencies: Set<OperationID> = [],
        priority: Int32 = 0,
        pipeline: String = Pipeline.defaultName,
        id: OperationID? = nil
    ) throws -> OperationID {
        let id = id ?? OperationID(newIdentifier())
        guard try !OperationTable.contains(id, in: database) else {
            throw QueueError.duplicateOperation(id)
        }
        let queued = QueuedOperation(
            id: id,
            commit: commit,
            pipeline: pipeline,
            kind: Work.kind,
            dependencies: dependencies,
            priority: priority,
            attempts: 0,
            lastError: nil,
            sequence: 0,
            body: try ValueEncoder().encode(operation)
        )
        try OperationTable.insert(queued, in: database)
        if let circle = try circle(through: id) { throw QueueError.circularDependency(circle) }
        touch()
        return id
    }

    /// The operations that wait for each other in a circle with this one, which was just added.
    ///
    /// Only an operation that others already wait for can close a circle; the usual case costs
    /// one look into an index.
    private borrowing func circle(through id: OperationID) throws -> [OperationID]? {
        guard try OperationTable.isNeeded(id, in: database) else { return nil }
        var path: [OperationID] = [id]
        var open = [try OperationTable.dependencies(of: id, in: database)]
        var seen: Set<OperationID> = []
        while let next = open.last {
            guard let needed = next.first else {
                open.removeLast()
                path.removeLast()
                continue
            }
            open[open.count - 1].removeFirst()
            if needed == id { return path }
            guard seen.insert(needed).inserted else { continue }
            path.append(needed)
            open.append(try OperationTable.dependencies(of: needed, in: database))
        }
        return nil
    }
}
