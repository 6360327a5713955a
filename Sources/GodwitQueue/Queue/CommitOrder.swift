internal import GRDB
internal import GodwitStore

/// Makes the order of commits hold in pipelines whose operations were enqueued without it.
struct CommitOrder {
    private let database: Database
    /// The pipelines that keep the order of commits.
    private let ordered: Set<String>
    /// The operations that wait for others than before.
    private(set) var changed: Set<OperationNumber> = []

    init(database: Database, ordered: Set<String>) {
        (self.database, self.ordered) = (database, ordered)
    }

    /// Takes back what is against the order, and what would wait in a circle; others keep their place.
    mutating func restore(in pipelines: Set<String>) throws {
        for name in pipelines.sorted() {
            let against = try DependencyTable.needsOfLaterCommits(
                in: name,
                keepsOrder: ordered.contains(name),
                database
            )
            for edge in against where edge.isDerived { try handOn(edge) }
            for edge in against { try remove(edge.need, from: edge.operation) }
        }
        while let edge = try edgeInCircle() {
            try remove(edge.need, from: edge.operation)
            if edge.isDerived { try handOn(edge) }
        }
    }

    private mutating func remove(_ need: OperationNumber, from operation: OperationNumber) throws {
        try DependencyTable.remove(need, from: operation, in: database)
        changed.insert(operation)
    }
}

// MARK: - Against the order

extension CommitOrder {
    /// Has what waits for the first of two wait for the second one, too: until now that followed.
    private mutating func handOn(_ edge: DependencyTable.Edge) throws {
        guard let need = try OperationTable.outline(edge.need, in: database) else { return }
        let graph = LiveGraph(database: database, ordered: ordered)
        for heir in try heirs(of: edge.operation, behind: need) {
            let known = try DependencyTable.derivedNeeds(of: heir, in: database)
            guard !known.contains(need.number) else { continue }
            let new = DependencyTable.Edge(
                operation: heir,
                need: need.number,
                policy: .wait,
                origin: .footprint
            )
            try DependencyTable.add(new, in: database)
            // The second one may wait for it by another way.
            if try graph.circle(through: heir) != nil {
                try DependencyTable.remove(need.number, from: heir, in: database)
            }
            changed.insert(heir)
        }
    }

    /// What waits for an operation because of footprints, through those that come before another one.
    private func heirs(
        of operation: OperationNumber,
        behind need: OperationTable.Outline
    ) throws -> [OperationNumber] {
        var (left, seen, heirs) = ([operation], Set([operation, need.number]), [OperationNumber]())
        while let number = left.popLast() {
            for edge in try DependencyTable.dependents(of: number, in: database)
            where edge.isDerived && seen.insert(edge.operation).inserted {
                guard let heir = try OperationTable.outline(edge.operation, in: database) else {
                    continue
                }
                let isOrdered =
                    ordered.contains(need.pipeline) || heir.keepsOrder && need.keepsOrder
                if isOrdered, heir.pipeline == need.pipeline, heir.commit < need.commit {
                    left.append(heir.number)
                } else {
                    heirs.append(heir.number)
                }
            }
        }
        return heirs
    }
}

// MARK: - Circles

extension CommitOrder {
    private enum Node: Hashable {
        case operation(OperationNumber)
        /// All operations of a pipeline before a commit, the first one left out.
        case before(CommitNumber, pipeline: String)
    }

    /// An edge of a circle: an operation that waits, through others, for a later commit of its own pipeline
    /// would wait for ever.
    private func edgeInCircle() throws -> DependencyTable.Edge? {
        let stuck = try stuckOperations()
        guard !stuck.isEmpty else { return nil }
        let graph = LiveGraph(database: database, ordered: ordered)
        for number in stuck.sorted() {
            guard let next = try graph.circle(through: number)?.dropFirst().first,
                let need = try OperationTable.number(of: next, in: database),
                let edge = try DependencyTable.needs(of: number, in: database)
                    .first(where: { $0.need == need })
            else { continue }
            return edge
        }
        return nil
    }

    /// The operations that wait in circles, or between two of them.
    ///
    /// What waits for nothing is left out, again and again, and then what nothing waits for (A. B. Kahn,
    /// "Topological sorting of large networks", 1962). O(operations + edges).
    private func stuckOperations() throws -> Set<OperationNumber> {
        let edges = try edges()
        let left = Self.peeled(edges)
        let inverse = left.map { (from: $0.to, to: $0.from) }
        var stuck: Set<OperationNumber> = []
        for edge in Self.peeled(inverse) {
            if case .operation(let number) = edge.from { stuck.insert(number) }
        }
        return stuck
    }

    /// The edges that are left when nodes without edges to others go, with the edges to them.
    private static func peeled(_ edges: [(from: Node, to: Node)]) -> [(from: Node, to: Node)] {
        var (counts, dependents) = ([Node: Int](), [Node: [Node]]())
        for edge in edges {
            counts[edge.from, default: 0] += 1
            counts[edge.to, default: 0] += 0
            dependents[edge.to, default: []].append(edge.from)
        }
        var free = counts.filter { $0.value == 0 }.map(\.key)
        while let node = free.popLast() {
            counts[node] = nil
            for dependent in dependents[node] ?? [] {
                counts[dependent]? -= 1
                if counts[dependent] == 0 { free.append(dependent) }
            }
        }
        return edges.filter { counts[$0.from] != nil && counts[$0.to] != nil }
    }

    /// What waits for what: by dependencies, and by the order of commits.
    private func edges() throws -> [(from: Node, to: Node)] {
        var edges: [(from: Node, to: Node)] = []
        try DependencyTable.forEachEdge(in: database) { operation, need in
            edges.append((.operation(operation), .operation(need)))
        }
        var lines: [String: [OperationTable.Outline]] = [:]
        try OperationTable.forEachOutline(in: database) { outline in
            guard outline.keepsOrder || ordered.contains(outline.pipeline) else { return }
            lines[outline.pipeline, default: []].append(outline)
        }
        for (pipeline, line) in lines {
            var (previous, last): ([OperationTable.Outline], Node?) = ([], nil)
            let commits = Dictionary(grouping: line, by: \.commit).sorted { $0.key < $1.key }
            for (commit, operations) in commits {
                if !previous.isEmpty || last != nil {
                    let node = Node.before(commit, pipeline: pipeline)
                    edges += previous.map { (node, .operation($0.number)) }
                    if let last { edges.append((node, last)) }
                    edges += operations.map { (.operation($0.number), node) }
                    last = node
                }
                // A dead letter waits for its turn, and keeps nothing waiting.
                previous = operations.filter { $0.state?.isDeadLetter != true }
            }
        }
        return edges
    }
}
