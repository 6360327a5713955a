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
        var against: [DependencyTable.Edge] = []
        for name in pipelines {
            against += try DependencyTable.needsOfLaterCommits(
                in: name,
                keepsOrder: ordered.contains(name),
                database
            )
        }
        try remove(against)
        while let edge = try edgeInCircle() { try remove([edge]) }
    }
}

// MARK: - Edges that go

extension CommitOrder {
    private typealias Dependents = [OperationNumber: [OperationNumber]]

    /// Takes edges back; what has waited for the second operation of one through the first waits for it still.
    private mutating func remove(_ edges: [DependencyTable.Edge]) throws {
        guard !edges.isEmpty else { return }
        let derived = try DependencyTable.all(in: database).filter(\.isDerived)
        let dependents = Dictionary(grouping: derived, by: \.need)
            .mapValues { $0.map(\.operation) }
        for edge in edges {
            try DependencyTable.remove(edge.need, from: edge.operation, in: database)
            changed.insert(edge.operation)
        }
        for edge in edges where edge.isDerived { try handOn(edge, to: dependents) }
    }

    /// - Parameter all: What waited for each operation because of footprints.
    private mutating func handOn(
        _ edge: DependencyTable.Edge,
        to all: Dependents
    ) throws {
        guard let need = try OperationTable.outline(edge.need, in: database) else { return }
        let graph = LiveGraph(database: database, ordered: ordered)
        var (left, seen) = ([edge.operation], Set([edge.operation, edge.need]))
        while let number = left.popLast() {
            for heir in all[number] ?? [] where seen.insert(heir).inserted {
                guard let outline = try OperationTable.outline(heir, in: database) else { continue }
                // One that comes before it, by the order of commits or by another way, cannot wait for it;
                // those behind that one can.
                if try comes(outline, before: need)
                    || graph.path(from: need.number, to: heir) != nil
                {
                    left.append(heir)
                } else {
                    try connect(heir, to: need.number)
                }
            }
        }
    }

    private func comes(
        _ operation: OperationTable.Outline,
        before other: OperationTable.Outline
    ) -> Bool {
        let isOrdered =
            ordered.contains(other.pipeline) || operation.keepsOrder && other.keepsOrder
        return isOrdered && operation.pipeline == other.pipeline && operation.commit < other.commit
    }

    private mutating func connect(_ heir: OperationNumber, to need: OperationNumber) throws {
        let edge = DependencyTable.Edge(
            operation: heir,
            need: need,
            policy: .wait,
            origin: .footprint
        )
        try DependencyTable.add(edge, in: database)
        changed.insert(heir)
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
                previous = operations.filter { !$0.state.isDeadLetter }
            }
        }
        return edges
    }
}
