internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The step from format 1, where an id's content half was a digest of the flat bytes, to the
/// Merkle digest.
///
/// A client and its server may take the step at different times, and must agree afterwards: so
/// nothing goes into a new id but the state's value and the lineage of its old id.
enum MerkleIDs {
    static func adopt(in database: Database) throws {
        for replica in try Int64.fetchAll(database, sql: "SELECT number FROM godwit_replica") {
            let ids = try rename(statesOf: replica, in: database)
            for (table, column) in [
                ("godwit_device", "base"), ("godwit_peer", "acked"), ("godwit_peer", "sent"),
            ] {
                try rename(column, of: table, replica, ids, in: database)
            }
        }
    }

    /// Renames the states, and returns the new ids by the lineage that they share with the old.
    private static func rename(
        statesOf replica: Int64,
        in database: Database
    ) throws -> [Data: Data] {
        var parts: [Int64: Data] = [:]
        let deltas = try Row.fetchCursor(
            database,
            sql: "SELECT number, delta FROM godwit_part WHERE replica = ?",
            arguments: [replica]
        )
        while let row = try deltas.next() { parts[try row.cell(0)] = try row.cell(1) }

        var ids = [lineage(of: Data(StateID.root.bytes)): Data(StateID.root.bytes)]
        var value: Value = [:]
        let states = try Row.fetchAll(
            database,
            sql: """
                SELECT serial, id, parts FROM godwit_state
                WHERE replica = ? AND id IS NOT NULL ORDER BY serial
                """,
            arguments: [replica]
        )
        for row in states {
            for number in (try row.cell(2) as String).split(separator: " ") {
                guard let bytes = Int64(number).flatMap({ parts[$0] }) else {
                    throw ReplicationError.damagedHistory(reason: "part \(number) is missing")
                }
                value = try Delta(canonicalBytes: Array(bytes)).applied(to: value)
            }
            let (serial, old) = (try row.cell(0) as Int64, try row.cell(1) as Data)
            guard old.starts(with: flatDigest(of: value).bytes) else {
                throw ReplicationError.damagedHistory(reason: "a state is not what its id names")
            }
            let new = Data(value.digest.bytes) + lineage(of: old)
            ids[lineage(of: old)] = new
            try database.execute(
                sql: "UPDATE godwit_state SET id = ? WHERE replica = ? AND serial = ?",
                arguments: [new, replica, serial]
            )
        }
        return ids
    }

    private static func rename(
        _ column: String,
        of table: String,
        _ replica: Int64,
        _ ids: [Data: Data],
        in database: Database
    ) throws {
        let found = try Data.fetchAll(
            database,
            sql: """
                SELECT DISTINCT \(column) FROM \(table)
                WHERE replica = ? AND \(column) IS NOT NULL
                """,
            arguments: [replica]
        )
        for old in found {
            guard let new = ids[lineage(of: old)] else {
                throw ReplicationError.damagedHistory(reason: "a ref names no state")
            }
            try database.execute(
                sql: "UPDATE \(table) SET \(column) = ? WHERE replica = ? AND \(column) = ?",
                arguments: [new, replica, old]
            )
        }
    }

    private static func lineage(of id: Data) -> Data { id.dropFirst(Digest.sizeInBytes) }

    private static func flatDigest(of value: Value) -> Digest {
        Digest(of: [value.canonicalBytes], purpose: "godwit value 1")
    }
}
