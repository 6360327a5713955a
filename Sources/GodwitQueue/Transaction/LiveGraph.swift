internal import GRDB
internal import GodwitStore

// Whether operations wait for each other in a circle.
//
// One walk over what an operation waits for, directly or not, without recursion: each operation
// and each closed commit is visited once, so that it takes time in proportion to the part of the
// graph it sees (R. E. Tarjan, "Depth-first search and linear graph algorithms", 1972). In a
// pipeline that keeps the order of commits an operation waits for all those of earlier commits.

struct LiveGraph {
    let database: Database
    /// The pipelines that keep the order of commits.
    let ordered: Set<String>

    private enum Node: Hashable {
        case operation(OperationNumber)
        /// All operations of a pipeline before a commit.
        case before(CommitNumber, pipeline: String)
    }

    /// The names of the operations in a circle, or nil; an operation needs the one after it.
    ///
    /// A dead letter keeps nothing waiting, but `start` is about to be in line again.
    func circle(through start: OperationNumber) throws -> [OperationID]? {
        try path(from: start, to: start)
    }

    /// The names of the operations on a way to another one, that one left out; nil if there is none.
    func path(
        from start: OperationNumber,
        to target: OperationNumber
    ) throws -> [OperationID]? {
        // What it waits for may be very much, and leads to the target only if something waits for that.
        guard try mayBeNeeded(target) else { return nil }
        var path: [Node] = [.operation(start)]
        var open = [try needs(of: .operation(start), target)]
        var seen: Set<Node> = []
        // Up to which commit of a pipeline everything is seen, or lies before us.
        var expanded: [String: CommitNumber] = [:]
        while var needs = open.popLast() {
            guard let next = needs.popLast() else {
                path.removeLast()
                continue
            }
            open.append(needs)
            if next == .operation(target) { return try names(path) }
            guard seen.insert(next).inserted else { continue }
            var first = CommitNumber.none
            if case .before(let commit, let pipeline) = next {
                first = expanded[pipeline] ?? .none
                guard commit > first else { continue }
                expanded[pipeline] = commit
            }
            path.append(next)
            open.append(try self.needs(of: next, from: first, target))
        }
        return nil
    }

    /// Whether something waits for an operation, or may do so because its commit is later.
    private func mayBeNeeded(_ number: OperationNumber) throws -> Bool {
        guard let own = try OperationTable.outline(number, in: database) else { return false }
        if try !DependencyTable.dependents(of: number, in: database).isEmpty { return true }
        return try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM godwit_operation
                    WHERE number >= ? AND pipeline = ? AND commit_number > ?)
                """,
            arguments: [
                OperationNumber.numbers(of: own.commit).upperBound, own.pipeline,
                own.commit.rawValue,
            ]
        ) ?? false
    }

    /// - Parameter first: The commit before which everything is known, for a row of commits.
    private func needs(
        of node: Node,
        from first: CommitNumber = .none,
        _ start: OperationNumber
    ) throws -> [Node] {
        switch node {
        case .operation(let number):
            var needs = try DependencyTable.needs(of: number, in: database)
                .map { Node.operation($0.need) }
            if let (commit, pipeline) = try place(of: number) {
                needs.append(.before(commit, pipeline: pipeline))
            }
            return needs
        case .before(let commit, let pipeline):
            return try Int64.fetchAll(
                database,
                sql: """
                    SELECT number FROM godwit_operation
                    WHERE pipeline = ? AND commit_number >= ? AND commit_number < ?
                        AND (state IN (\(QueuedOperation.State.inLine)) OR number = ?)
                        AND (keeps_order OR ?)
                    """,
                arguments: [
                    pipeline, first.rawValue, commit.rawValue, start.rawValue,
                    ordered.contains(pipeline),
                ]
            ).map { .operation(OperationNumber(rawValue: $0)) }
        }
    }

    /// An operation's commit and pipeline, if it keeps the order of commits.
    private func place(of number: OperationNumber) throws -> (CommitNumber, String)? {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT commit_number, pipeline, keeps_order FROM godwit_operation WHERE number = ?
                """,
            arguments: [number.rawValue]
        )
        guard let row else { return nil }
        let pipeline: String = try row.cell(1)
        guard try row.cell(2) || ordered.contains(pipeline) else { return nil }
        return (CommitNumber(rawValue: try row.cell(0)), pipeline)
    }

    private func names(_ path: [Node]) throws -> [OperationID] {
        try path.compactMap { node in
            guard case .operation(let number) = node else { return nil }
            return try OperationTable.operation(number, in: database)?.id
        }
    }
}
