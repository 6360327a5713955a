internal import GRDB
internal import GodwitStore

/// Makes the order of commits hold in a pipeline whose operations were enqueued without it.
struct CommitOrder {
    let database: Database
    /// The pipelines that keep the order of commits.
    let ordered: Set<String>
    /// The operations that wait for others than before.
    private(set) var changed: Set<OperationNumber> = []

    init(database: Database, ordered: Set<String>) {
        (self.database, self.ordered) = (database, ordered)
    }

    /// Takes back what is against the order; those behind it keep their place.
    mutating func restore(in pipeline: String) throws {
        let keepsOrder = ordered.contains(pipeline)
        let against = try DependencyTable.needsOfLaterCommits(
            in: pipeline,
            keepsOrder: keepsOrder,
            database
        )
        while try handOn(against, in: pipeline) {}
        for edge in against { try remove(edge.need, from: edge.operation) }
        guard keepsOrder else { return }
        try breakCircles(through: pipeline)
    }

    /// Has what waits for the first of two wait for the second one, too: until now that followed.
    ///
    /// - Returns: Whether there was something to do.
    private mutating func handOn(
        _ edges: [DependencyTable.Edge],
        in pipeline: String
    ) throws -> Bool {
        var hasChanged = false
        for edge in edges where edge.isDerived {
            guard let need = try OperationTable.outline(edge.need, in: database) else { continue }
            for heir in try DependencyTable.dependents(of: edge.operation, in: database)
            where heir.isDerived && heir.operation != edge.need {
                let outline = try OperationTable.outline(heir.operation, in: database)
                let isEarlier = outline.map { $0.pipeline == pipeline && $0.commit < need.commit }
                let needs = try DependencyTable.derivedNeeds(of: heir.operation, in: database)
                guard isEarlier == false, !needs.contains(edge.need) else { continue }
                let new = DependencyTable.Edge(
                    operation: heir.operation,
                    need: edge.need,
                    policy: .wait,
                    origin: .footprint
                )
                try DependencyTable.add(new, in: database)
                changed.insert(heir.operation)
                hasChanged = true
            }
        }
        return hasChanged
    }

    /// An operation that waits, through other pipelines, for a later commit of its own would wait for ever.
    private mutating func breakCircles(through pipeline: String) throws {
        let graph = LiveGraph(database: database, ordered: ordered)
        for number in try DependencyTable.operations(of: pipeline, waitingForOthersIn: database) {
            while let next = try graph.circle(through: number)?.dropFirst().first,
                let need = try OperationTable.number(of: next, in: database),
                try isNeeded(need, by: number)
            {
                try remove(need, from: number)
            }
        }
    }

    private func isNeeded(
        _ need: OperationNumber,
        by operation: OperationNumber
    ) throws -> Bool {
        try DependencyTable.needs(of: operation, in: database).contains { $0.need == need }
    }

    private mutating func remove(_ need: OperationNumber, from operation: OperationNumber) throws {
        try DependencyTable.remove(need, from: operation, in: database)
        changed.insert(operation)
    }
}
