extension FootprintIndex {
    /// A touch of another operation that has an order with a row.
    struct Conflict {
        let row: FootprintRow
        let operation: OperationNumber
        /// Whether the row hides the touch from later searches.
        let isSuperfluous: Bool
        let touch: Int32
    }

    /// The touches that have an order with some rows.
    ///
    /// - Parameters:
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
            for row in rows { search([row], behind: Self.view) { conflicts.append($0) } }
            conflicts += hidden(behind: conflicts)
        } else {
            search(rows, behind: Self.view) { conflicts.append($0) }
        }
        return conflicts.filter { $0.operation != operation }
    }

    /// The hidden touches: those behind the operations that were found, and those behind these.
    private func hidden(behind conflicts: [Conflict]) -> [Conflict] {
        struct Search: Hashable {
            let row: FootprintRow
            let operation: OperationNumber
        }
        var (left, seen, hidden) = (conflicts, Set<Search>(), [Conflict]())
        while let conflict = left.popLast() {
            // By (3), a row has an order with what an operation hides only if it has one with the
            // operation itself.
            let search = Search(row: conflict.row, operation: conflict.operation)
            guard owners[search.operation]?.firstShelf ?? Self.none != Self.none,
                seen.insert(search).inserted
            else { continue }
            self.search([search.row], behind: search.operation) { found in
                hidden.append(found)
                left.append(found)
            }
        }
        return hidden
    }

    private func search(
        _ rows: [FootprintRow],
        behind hider: OperationNumber,
        _ body: (Conflict) -> Void
    ) {
        // Of the folders around, what is written meets more than what is read. The rows are sorted, so
        // that the folders which two of them share lie around those between them, too.
        var (written, read): (ArraySlice<Int32>, ArraySlice<Int32>) = ([], [])
        for row in rows {
            let path = tree.path(to: row.key)
            let isThere = path.count == row.key.steps.count
            let folders = isThere ? path.dropLast() : path[...]
            let above = row.intent.conflictsAbove
            for (depth, node) in folders.enumerated() where !above.isEmpty {
                let seen = row.intent.isWriting ? written : read
                guard depth >= seen.count || seen[depth] != node else { continue }
                find(above, at: node, behind: hider, for: row, isInside: false, body)
            }
            if row.intent.isWriting { written = folders }
            if row.intent.isReading { read = folders }
            guard isThere, let node = path.last else { continue }
            find(row.intent.conflicts, at: node, behind: hider, for: row, body)
            searchBelow(node, behind: hider, for: row, body)
        }
    }

    private func searchBelow(
        _ node: Int32,
        behind hider: OperationNumber,
        for row: FootprintRow,
        _ body: (Conflict) -> Void
    ) {
        let intents = row.intent.conflictsBelow
        guard row.key.isPath, !intents.isEmpty else { return }
        guard hider != Self.view else {
            let onlyWritten = intents.allSatisfy(\.isWriting)
            return tree.forEachNode(below: node, onlyWritten: onlyWritten) { inner in
                find(intents, at: inner, behind: hider, for: row, body)
            }
        }
        var next = owners[hider]?.firstShelf ?? Self.none
        while next != Self.none {
            let shelf = shelves[next]
            if tree.isBelow(shelf.node, node) {
                find(intents, at: shelf.node, behind: hider, for: row, body)
            }
            next = shelf.next
        }
    }

    /// - Parameter isInside: Whether the node is the row's, or lies below it.
    private func find(
        _ intents: [Footprint.Intent],
        at node: Int32,
        behind hider: OperationNumber,
        for row: FootprintRow,
        isInside: Bool = true,
        _ body: (Conflict) -> Void
    ) {
        let shelf = existingShelf(behind: hider, at: node)
        guard shelf != Self.none else { return }
        let heads = shelves[shelf].heads
        for intent in intents {
            forEachTouch(from: heads[intent.place]) { place, touch in
                body(
                    Conflict(
                        row: row,
                        operation: touch.operation,
                        isSuperfluous: isInside && row.intent.shadows.contains(intent),
                        touch: place
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
