extension FootprintIndex {
    /// A touch of another operation that has an order with a row.
    struct Conflict {
        /// The place of the row among those that were searched for.
        fileprivate let row: Int
        /// What the row does.
        let intent: Footprint.Intent
        let operation: OperationNumber
        /// Whether the row hides the touch from later searches.
        let isSuperfluous: Bool
        let touch: Int32
    }

    /// The touches that have an order with some rows.
    ///
    /// - Parameters:
    ///   - rows: In their order.
    ///   - operation: Whose rows they are; touches of its own are left out.
    ///   - withHidden: Whether those count that are hidden.
    func conflicts(
        with rows: [FootprintRow],
        of operation: OperationNumber,
        withHidden: Bool
    ) -> [Conflict] {
        var conflicts: [Conflict] = []
        if withHidden {
            // Each row by itself: what is hidden may have an order with one of them alone.
            for row in rows.indices {
                search(rows, row..<row + 1, behind: Self.view) { conflicts.append($0) }
            }
            conflicts += hidden(rows, behind: conflicts)
        } else {
            search(rows, rows.indices, behind: Self.view) { conflicts.append($0) }
        }
        return conflicts.contains { $0.operation == operation }
            ? conflicts.filter { $0.operation != operation } : conflicts
    }

    /// The hidden touches: those behind the operations that were found, and those behind these.
    private func hidden(_ rows: [FootprintRow], behind conflicts: [Conflict]) -> [Conflict] {
        struct Search: Hashable {
            let row: Int
            let operation: OperationNumber
        }
        var (left, seen, hidden) = (conflicts, Set<Search>(), [Conflict]())
        while let conflict = left.popLast() {
            // By (3), a row has an order with what an operation hides only if it has one with the
            // operation itself.
            let (row, operation) = (conflict.row, conflict.operation)
            guard owners[operation]?.firstShelf ?? Self.none != Self.none,
                seen.insert(Search(row: row, operation: operation)).inserted
            else { continue }
            search(rows, row..<row + 1, behind: operation) { found in
                hidden.append(found)
                left.append(found)
            }
        }
        return hidden
    }

    private func search(
        _ rows: [FootprintRow],
        _ places: Range<Int>,
        behind hider: OperationNumber,
        _ body: (Conflict) -> Void
    ) {
        // Of the folders around, what is written meets more than what is read. The rows are sorted, so
        // that the folders which two of them share lie around those between them, too.
        var (written, read): (ArraySlice<Int32>, ArraySlice<Int32>) = ([], [])
        for place in places {
            let (key, intent) = (rows[place].key, rows[place].intent)
            let path = tree.path(to: key)
            let isThere = path.count == key.steps.count
            let folders = isThere ? path.dropLast() : path[...]
            let above = intent.conflictsAbove
            for (depth, node) in folders.enumerated() where !above.isEmpty {
                let seen = intent.isWriting ? written : read
                guard depth >= seen.count || seen[depth] != node else { continue }
                find(above, at: node, behind: hider, for: place, intent, isInside: false, body)
            }
            if intent.isWriting { written = folders }
            if intent.isReading { read = folders }
            guard isThere, let node = path.last else { continue }
            find(intent.conflicts, at: node, behind: hider, for: place, intent, body)
            guard key.isPath, !intent.conflictsBelow.isEmpty else { continue }
            forEachNode(below: node, behind: hider, with: intent.conflictsBelow) { inner in
                find(intent.conflictsBelow, at: inner, behind: hider, for: place, intent, body)
            }
        }
    }

    /// Calls `body` with the nodes below one that may have touches of some intents.
    private func forEachNode(
        below node: Int32,
        behind hider: OperationNumber,
        with intents: [Footprint.Intent],
        _ body: (Int32) -> Void
    ) {
        guard hider != Self.view else {
            let onlyWritten = intents.allSatisfy(\.isWriting)
            return tree.forEachNode(below: node, onlyWritten: onlyWritten, body)
        }
        var next = owners[hider]?.firstShelf ?? Self.none
        while next != Self.none {
            let shelf = shelves[next]
            if tree.isBelow(shelf.node, node) { body(shelf.node) }
            next = shelf.next
        }
    }

    /// - Parameters:
    ///   - intents: Of the touches that are looked for.
    ///   - intent: Of the row.
    ///   - isInside: Whether the node is the row's, or lies below it.
    private func find(
        _ intents: [Footprint.Intent],
        at node: Int32,
        behind hider: OperationNumber,
        for row: Int,
        _ intent: Footprint.Intent,
        isInside: Bool = true,
        _ body: (Conflict) -> Void
    ) {
        let shelf = existingShelf(behind: hider, at: node)
        guard shelf != Self.none else { return }
        let heads = shelves[shelf].heads
        for other in intents {
            let isSuperfluous = isInside && intent.shadows.contains(other)
            forEachTouch(from: heads[other.place]) { touch, operation in
                body(
                    Conflict(
                        row: row,
                        intent: intent,
                        operation: operation,
                        isSuperfluous: isSuperfluous,
                        touch: touch
                    )
                )
            }
        }
    }
}

extension Footprint.Intent {
    /// The touches of a folder around a path with which this one has an order.
    fileprivate var conflictsAbove: [Self] {
        switch self {
        case .read, .readBelow, .readTree: [.writeTree]
        case .write, .writeBelow, .writeTree: [.readTree, .writeTree]
        case .ahead, .behind: []
        }
    }
}
