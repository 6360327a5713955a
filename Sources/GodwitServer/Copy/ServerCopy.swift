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
/// do not start one over the source again. A replica is there when all of it is; a copy that was cut off may
/// be run again, and passes over what is there already.
public struct ServerCopy: Sendable {
    public enum Direction: Sendable {
        case toDatabase, toStore
    }

    /// A replica that has been copied.
    public struct Progress: Sendable {
        public let replica: ReplicaName
        /// How many rows it has; 0 if it was there already.
        public let rowCount: Int
        public let wasThere: Bool
    }

    private let store: StoreSide
    private let database: DatabaseSide

    public init(store: Store, database: PostgreSQLDatabase) {
        (self.store, self.database) = (StoreSide(store: store), DatabaseSide(database: database))
    }

    /// Copies all replicas and keys.
    ///
    /// - Parameter report: Called after each replica.
    /// - Returns: All that were reported.
    /// - Throws: ``ServerCopyError``, `StoreError`, `PostgreSQLError`.
    @discardableResult
    public func run(
        _ direction: Direction,
        report: (Progress) throws -> Void = { _ in }
    ) async throws -> [Progress] {
        switch direction {
        case .toDatabase: try await copy(store, database, report)
        case .toStore: try await copy(database, store, report)
        }
    }

    private func copy(
        _ source: some CopySide,
        _ target: some CopySide,
        _ report: (Progress) throws -> Void
    ) async throws -> [Progress] {
        try await source.prepare()
        try await target.prepare()
        var all: [Progress] = []
        for name in try await source.names() {
            let progress = try await copy(name, source, target)
            try report(progress)
            all.append(progress)
        }
        // Keys have no replica: any name does.
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
        if let known = try await target.line(of: name) {
            // A server that was started over it since has noted that.
            guard known.dropLast() == line.dropLast() else {
                throw ServerCopyError.replicaExists(name)
            }
            return Progress(replica: name, rowCount: 0, wasThere: true)
        }
        try await target.begin(name)
        var count = 1
        for table in CopiedTable.parts { count += try await copy(table, name, source, target) }
        guard try await source.line(of: name) == line else {
            throw ServerCopyError.sourceChanged(name)
        }
        try await target.finish(name, line)
        return Progress(replica: name, rowCount: count, wasThere: false)
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
    /// The target has another replica of the name, or another state of it: copy to an empty one.
    case replicaExists(ReplicaName)
    /// The source was changed meanwhile: stop the server that runs over it.
    case sourceChanged(ReplicaName)
}

extension ServerCopyError: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .replicaExists(let name):
            "the target has another replica \"\(name)\" already: copy to an empty one"
        case .sourceChanged(let name):
            "the replica \"\(name)\" was changed meanwhile: stop the server, and copy again"
        }
    }

    /// The description, which is in English.
    public var errorDescription: String? { description }
}
#endif
