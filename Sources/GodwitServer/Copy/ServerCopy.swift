#if Server && PostgreSQL
public import Foundation
public import GodwitPostgreSQL
public import GodwitReplication
public import GodwitStore

/// Copies a server's replicas, what it knows of their clients, and its keys from a store to a PostgreSQL
/// database, or back.
///
/// ```swift
/// let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync")
/// let copy = ServerCopy(store: store, database: PostgreSQLDatabase(address))
/// try await copy.run(.toDatabase) { print("\($0.replica): \($0.rowCount) rows") }
/// ```
///
/// Stop the servers of both sides before. Devices go on where they were, as soon as a server runs over the copy:
/// do not start one over the source again. A replica is there when all of it is. If a copy is cut off, run it
/// again with `replacing`.
public struct ServerCopy: Sendable {
    public enum Direction: Sendable {
        case toDatabase, toStore
    }

    /// A replica that has been copied.
    public struct Progress: Sendable {
        public let replica: ReplicaName
        /// How many rows it has.
        public let rowCount: Int
    }

    private let store: StoreSide
    private let database: DatabaseSide

    public init(store: Store, database: PostgreSQLDatabase) {
        (self.store, self.database) = (StoreSide(store: store), DatabaseSide(database: database))
    }

    /// Copies all replicas and keys.
    ///
    /// - Parameters:
    ///   - direction: Which side is the source.
    ///   - replacing: Whether the target may have replicas and keys, of an earlier copy: it becomes what the
    ///     source is. One that has other replicas, or has gone on since, is refused all the same.
    ///   - report: Called after each replica.
    /// - Returns: All that were reported.
    /// - Throws: ``ServerCopyError``, `StoreError`, `PostgreSQLError`.
    @discardableResult
    public func run(
        _ direction: Direction,
        replacing: Bool = false,
        report: (Progress) throws -> Void = { _ in }
    ) async throws -> [Progress] {
        switch direction {
        case .toDatabase: try await copy(store, database, replacing, report)
        case .toStore: try await copy(database, store, replacing, report)
        }
    }

    private func copy(
        _ source: some CopySide,
        _ target: some CopySide,
        _ isReplacing: Bool,
        _ report: (Progress) throws -> Void
    ) async throws -> [Progress] {
        try await source.requireServer()
        try await target.prepare()
        let names = try await source.names()
        for known in try await target.names() {
            // A server that was started over the target since has noted that in the last column.
            let lines = (try await source.line(of: known), try await target.line(of: known))
            guard isReplacing, lines.0?.dropLast() == lines.1?.dropLast() else {
                throw ServerCopyError.replicaExists(known)
            }
        }
        if !isReplacing, try await target.hasKeys() { throw ServerCopyError.keysExist }
        var all: [Progress] = []
        for name in names {
            let progress = try await copy(name, source, target)
            try report(progress)
            all.append(progress)
        }
        // A key that was revoked must not come back. Keys have no replica: any name does.
        try await target.removeKeys()
        _ = try await copy(.keys, ReplicaName("keys"), source, target)
        return all
    }

    private func copy(
        _ name: ReplicaName,
        _ source: some CopySide,
        _ target: some CopySide
    ) async throws -> Progress {
        guard let line = try await source.line(of: name) else {
            throw ServerCopyError.sourceChanged(name)
        }
        try await target.begin(name)
        var count = 1
        for table in CopiedTable.parts { count += try await copy(table, name, source, target) }
        guard try await source.line(of: name) == line else {
            throw ServerCopyError.sourceChanged(name)
        }
        try await target.finish(name, line)
        return Progress(replica: name, rowCount: count)
    }

    private func copy(
        _ table: CopiedTable,
        _ name: ReplicaName,
        _ source: some CopySide,
        _ target: some CopySide
    ) async throws -> Int {
        var (count, last) = (0, [CopiedCell]?.none)
        while true {
            let rows = try await source.rows(of: table, name, after: last)
            guard let end = rows.last else { return count }
            try await target.insert(rows, into: table, name)
            count += rows.count
            last = Array(end.prefix(table.keyCount))
        }
    }
}

/// Why a server was not copied.
public enum ServerCopyError: Error, Hashable, Sendable {
    /// The source has no tables of a server.
    case noServer
    /// The target has a replica: copy to an empty one. To replace an earlier copy, it has to be of the same
    /// state.
    case replicaExists(ReplicaName)
    /// The target has keys: copy to an empty one.
    case keysExist
    /// An object's key and the name of its collection have more bytes than an index of PostgreSQL takes.
    case keyTooLong(ReplicaName, key: String, sizeMax: Int)
    /// The source was changed meanwhile: stop the server that runs over it.
    case sourceChanged(ReplicaName)
}

extension ServerCopyError: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .noServer: "there is no server: the source has none of its tables"
        case .replicaExists(let name):
            """
            the target has a replica "\(name)": copy to an empty one, or replace an earlier copy that has \
            not gone on since
            """
        case .keysExist: "the target has keys: copy to an empty one, or replace an earlier copy"
        case .keyTooLong(let name, let key, let sizeMax):
            """
            "\(name)" has the key "\(key.prefix(64))…": with its collection, a key has at most \(sizeMax) \
            bytes in PostgreSQL
            """
        case .sourceChanged(let name):
            "the replica \"\(name)\" was changed meanwhile: stop the server, and copy again"
        }
    }

    /// The description, which is in English.
    public var errorDescription: String? { description }
}
#endif
