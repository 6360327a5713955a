internal import GRDB
internal import GodwitStore

/// The whole queue as a transaction shows it, without the operations' bodies.
struct LoadedQueue: Sendable {
    let commit: CommitNumber
    var outlines: [OperationTable.Outline] = []
    var edges: [(operation: OperationNumber, need: OperationNumber)] = []
    var holds: [HoldTable.Row] = []
    var suspensions: [(pipeline: String, reason: String)] = []

    init(_ database: Database, through commit: CommitNumber) throws {
        self.commit = commit
        try OperationTable.forEachOutline(in: database) { outlines.append($0) }
        try DependencyTable.forEachEdge(in: database) { edges.append(($0, need: $1)) }
        holds = try HoldTable.rows(in: database)
        suspensions = try SuspensionTable.all(in: database)
    }
}
