internal import Foundation
internal import GRDB
internal import GodwitStore

/// The rows behind what a device knows of itself, and a server of its clients.
enum PeerTable {
    /// A device's row.
    struct Device {
        let client: ClientID
        var base: StateID
        var sequence: Int64
        /// No request has had a higher nonce than this.
        var nonce: Int64
    }

    static func device(of replica: ReplicaNumber, in database: Database) throws -> Device? {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT client, base, sequence, nonce FROM godwit_device WHERE replica = ?",
            arguments: [replica.rawValue]
        )
        guard let row else { return nil }
        guard let client = ClientID(text: try row.cell(0)),
            let base = StateID(bytes: Array(try row.cell(1) as Data))
        else { throw ReplicationError.damagedHistory(reason: "the device's row is damaged") }
        return Device(client: client, base: base, sequence: try row.cell(2), nonce: try row.cell(3))
    }

    static func set(
        _ device: Device,
        of replica: ReplicaNumber,
        in database: Database
    ) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO godwit_device (replica, client, base, sequence, nonce)
                VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (replica) DO UPDATE
                SET base = excluded.base, sequence = excluded.sequence, nonce = excluded.nonce
                """
        ).execute(arguments: [
            replica.rawValue, device.client.description, Data(device.base.bytes), device.sequence,
            device.nonce,
        ])
    }

    static func peers(
        of replica: ReplicaNumber,
        in database: Database
    ) throws -> [ClientID: ServerMachine.Peer] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT client, acked, sent, nonce, sequence FROM godwit_peer WHERE replica = ?
                """,
            arguments: [replica.rawValue]
        )
        var peers: [ClientID: ServerMachine.Peer] = [:]
        for row in rows {
            guard let client = ClientID(text: try row.cell(0)) else {
                throw ReplicationError.damagedHistory(reason: "a client's row is damaged")
            }
            var peer = ServerMachine.Peer()
            peer.acked = try (row.cell(1) as Data?).flatMap { StateID(bytes: Array($0)) }
            peer.sent = try (row.cell(2) as Data?).flatMap { StateID(bytes: Array($0)) }
            peer.nonce = try row.cell(3)
            peer.sequence = try row.cell(4)
            peers[client] = peer
        }
        return peers
    }

    static func set(
        _ peer: ServerMachine.Peer,
        _ client: ClientID,
        of replica: ReplicaNumber,
        in database: Database
    ) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO godwit_peer (replica, client, acked, sent, nonce, sequence)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (replica, client) DO UPDATE
                SET acked = excluded.acked, sent = excluded.sent, nonce = excluded.nonce,
                    sequence = excluded.sequence
                """
        ).execute(arguments: [
            replica.rawValue, client.description, peer.acked.map { Data($0.bytes) },
            peer.sent.map { Data($0.bytes) }, peer.nonce, peer.sequence,
        ])
    }
}

extension ClientID {
    fileprivate init?(text: String) {
        guard let identifier = Identifier(text) else { return nil }
        self.init(identifier)
    }
}
