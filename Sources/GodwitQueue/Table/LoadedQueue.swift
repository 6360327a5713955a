internal import GRDB
internal import GodwitStore

/// A whole queue, handed over piece by piece as a transaction reads it: a million operations are
/// never in memory twice.
struct LoadedQueue {
    /// What a piece is.
    enum Piece {
        /// How many operations there are, so that room is made once.
        case count(Int)
        case operations([OperationTable.Outline])
        case needs([(operation: OperationNumber, need: OperationNumber)])
        case rest(holds: [HoldTable.Row], suspensions: [(pipeline: String, reason: String)])
    }

    private static let pieceSize = 4_096

    /// Calls `body` with the operations, then with what they need, then with the rest.
    static func read(
        _ database: Database,
        _ body: (Piece) -> Void
    ) throws {
        body(.count(try OperationTable.count(in: database)))
        var outlines: [OperationTable.Outline] = []
        try OperationTable.forEachOutline(in: database) { outline in
            outlines.append(outline)
            guard outlines.count == pieceSize else { return }
            body(.operations(outlines))
            outlines.removeAll(keepingCapacity: true)
        }
        body(.operations(outlines))
        var edges: [(operation: OperationNumber, need: OperationNumber)] = []
        try DependencyTable.forEachEdge(in: database) { operation, need in
            edges.append((operation, need))
            guard edges.count == pieceSize else { return }
            body(.needs(edges))
            edges.removeAll(keepingCapacity: true)
        }
        body(.needs(edges))
        body(
            .rest(
                holds: try HoldTable.rows(in: database),
                suspensions: try SuspensionTable.all(in: database)
            )
        )
    }
}
