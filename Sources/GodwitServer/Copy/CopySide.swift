#if Server && PostgreSQL
internal import GodwitReplication

/// Where a copy of a server reads, or writes.
protocol CopySide: Sendable {
    /// Makes the tables, where they are not there.
    func prepare() async throws

    /// - Throws: ``ServerCopyError/noServer``, and where the tables are of another version.
    func requireServer() async throws

    func names() async throws -> [ReplicaName]

    /// The row of a replica; nil where there is none.
    func line(of replica: ReplicaName) async throws -> [CopiedCell]?

    /// The next rows of a table after a key, about a MiB of them; none at its end.
    func rows(
        of table: CopiedTable,
        _ replica: ReplicaName,
        after key: [CopiedCell]?
    ) async throws -> [[CopiedCell]]

    /// Begins to write a replica: what is there of it goes.
    func begin(_ replica: ReplicaName) async throws

    /// Removes all keys.
    func removeKeys() async throws

    func hasKeys() async throws -> Bool

    /// Writes rows, unless they are there.
    func insert(
        _ rows: [[CopiedCell]],
        into table: CopiedTable,
        _ replica: ReplicaName
    ) async throws

    /// Writes the row of a replica: from now on, it is there.
    ///
    /// - Throws: ``ServerCopyError/replicaExists(_:)`` when something else has made it meanwhile.
    func finish(_ replica: ReplicaName, _ line: [CopiedCell]) async throws
}
#endif
