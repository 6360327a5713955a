internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// Which replica's rows.
struct ReplicaNumber: Hashable, Sendable {
    let rawValue: Int64
}

/// Whose half of an exchange a replica plays in this store.
public enum ReplicaRole: String, Sendable {
    case client, server
}

/// The rows behind replicas and their histories.
enum HistoryTable {
    static func number(
        of name: ReplicaName,
        role: ReplicaRole,
        in database: Database
    ) throws -> ReplicaNumber? {
        try Int64.fetchOne(
            database,
            sql: "SELECT number FROM godwit_replica WHERE name = ? AND role = ?",
            arguments: [name.text, role.rawValue]
        ).map(ReplicaNumber.init)
    }

    static func insert(
        _ name: ReplicaName,
        role: ReplicaRole,
        in database: Database
    ) throws -> ReplicaNumber {
        try database.execute(
            sql: "INSERT INTO godwit_replica (name, role) VALUES (?, ?)",
            arguments: [name.text, role.rawValue]
        )
        return ReplicaNumber(rawValue: database.lastInsertedRowID)
    }

    static func names(in database: Database) throws -> [(name: String, role: String)] {
        try Row.fetchAll(database, sql: "SELECT name, role FROM godwit_replica ORDER BY name, role")
            .map { (try $0.cell(0), try $0.cell(1)) }
    }

    static func load(_ replica: ReplicaNumber, in database: Database) throws -> History {
        let parts = try parts(of: replica, in: database)
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT serial, id, parts FROM godwit_state WHERE replica = ? ORDER BY serial",
            arguments: [replica.rawValue]
        )
        var states: [History.State] = []
        var tail: [History.Part] = []
        for row in rows {
            let numbers = (try row.cell(2) as String).split(separator: " ").compactMap { Int64($0) }
            let own = try numbers.map { number in
                guard let part = parts[number] else {
                    throw ReplicationError.damagedHistory(reason: "part \(number) is missing")
                }
                return part
            }
            guard let bytes = try row.cell(1) as Data? else {
                tail = own
                continue
            }
            guard let id = StateID(bytes: Array(bytes)) else {
                throw ReplicationError.damagedHistory(reason: "an id has \(bytes.count) bytes")
            }
            states.append(History.State(id: id, serial: try row.cell(0), parts: own))
        }
        return try History(restoring: states, tail: tail, lastPart: parts.keys.max() ?? 0)
    }

    static func apply(
        _ writes: [HistoryWrite],
        to replica: ReplicaNumber,
        in database: Database
    ) throws {
        for write in writes { try apply(write, to: replica, in: database) }
    }
}

extension HistoryTable {
    private static let tailSerial: Int64 = -1

    private static func parts(
        of replica: ReplicaNumber,
        in database: Database
    ) throws -> [Int64: History.Part] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT number, delta FROM godwit_part WHERE replica = ?",
            arguments: [replica.rawValue]
        )
        var parts: [Int64: History.Part] = [:]
        for row in rows {
            let number: Int64 = try row.cell(0)
            let bytes = Array(try row.cell(1) as Data)
            do throws(TreeError) {
                let delta = try Delta(canonicalBytes: bytes, budget: .unlimited)
                parts[number] = History.Part(
                    number: number,
                    delta: delta,
                    sizeInBytes: bytes.count
                )
            } catch {
                throw ReplicationError.damagedHistory(reason: error.description)
            }
        }
        return parts
    }

    private static func apply(
        _ write: HistoryWrite,
        to replica: ReplicaNumber,
        in database: Database
    ) throws {
        switch write {
        case .insertPart(let part):
            try database.cachedStatement(
                sql: "INSERT INTO godwit_part (replica, number, delta) VALUES (?, ?, ?)"
            ).execute(arguments: [
                replica.rawValue, part.number, Data(part.delta.canonicalBytes),
            ])
        case .removePart(let number):
            try database.cachedStatement(
                sql: "DELETE FROM godwit_part WHERE replica = ? AND number = ?"
            ).execute(arguments: [replica.rawValue, number])
        case .setState(let state):
            try setState(state.serial, state.id, state.parts, of: replica, in: database)
        case .removeState(let serial):
            try database.cachedStatement(
                sql: "DELETE FROM godwit_state WHERE replica = ? AND serial = ?"
            ).execute(arguments: [replica.rawValue, serial])
        case .setTail(let parts):
            try setState(tailSerial, nil, parts, of: replica, in: database)
        }
    }

    private static func setState(
        _ serial: Int64,
        _ id: StateID?,
        _ parts: [History.Part],
        of replica: ReplicaNumber,
        in database: Database
    ) throws {
        let numbers = parts.map { String($0.number) }.joined(separator: " ")
        try database.cachedStatement(
            sql: """
                INSERT INTO godwit_state (replica, serial, id, parts) VALUES (?, ?, ?, ?)
                ON CONFLICT (replica, serial) DO UPDATE
                SET id = excluded.id, parts = excluded.parts
                """
        ).execute(arguments: [replica.rawValue, serial, id.map { Data($0.bytes) }, numbers])
    }
}
