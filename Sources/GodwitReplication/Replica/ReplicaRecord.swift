internal import GRDB
public import GodwitStore

/// A replica as it stands in a store, for looking at.
public struct ReplicaRecord: Sendable {
    /// A name for a state: git's ref.
    public struct Ref: Hashable, Sendable {
        public let name: String
        public let state: StateID
    }

    public let name: String
    public let role: ReplicaRole
    public let history: History
    public let refs: [Ref]

    /// The size of the changes that no state holds yet, in bytes.
    public var tailSizeInBytes: Int { history.tail.reduce(0) { $0 + $1.sizeInBytes } }

    /// All replicas of a store, the client's and the server's.
    public static func all(in store: Store) async throws -> [ReplicaRecord] {
        try await store.read { transaction in
            let database = transaction.database
            guard try database.tableExists("godwit_replica") else { return [] }
            return try HistoryTable.names(in: database).map { name, role in
                guard let role = ReplicaRole(rawValue: role) else {
                    throw ReplicationError.damagedHistory(reason: "\(name) has the role \(role)")
                }
                return try ReplicaRecord(ReplicaName(name), role: role, in: transaction)
            }
        }
    }

    private init(
        _ name: ReplicaName,
        role: ReplicaRole,
        in transaction: borrowing ReadTransaction
    ) throws {
        let database = transaction.database
        guard let number = try HistoryTable.number(of: name, role: role, in: database) else {
            throw ReplicationError.unknownReplica(name.text)
        }
        let history = try HistoryTable.load(number, in: database)
        var refs = [Ref(name: "head", state: history.head.id)]
        if let device = try PeerTable.device(of: number, in: database) {
            refs.append(Ref(name: "base", state: device.base))
        }
        let peers = try PeerTable.peers(of: number, in: database)
        for (client, peer) in peers.sorted(by: { $0.key.description < $1.key.description }) {
            let short = client.description.prefix(4)
            if let acked = peer.acked { refs.append(Ref(name: "acked/\(short)", state: acked)) }
            if let sent = peer.sent { refs.append(Ref(name: "sent/\(short)", state: sent)) }
        }
        self.name = name.text
        self.role = role
        self.history = history
        self.refs = refs
    }
}
