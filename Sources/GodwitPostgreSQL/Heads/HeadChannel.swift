#if PostgreSQL
internal import GodwitReplication

/// On which of a bounded number of channels nodes tell each other of a replica's new head.
///
/// A node listens on the channels of the replicas that its clients follow, and on no other ones.
enum HeadChannel {
    static let count: Int64 = 64

    static func name(of replica: ReplicaName) -> String {
        "godwit_heads_\(LineNumber(replica).rawValue % count)"
    }
}

/// The database has neither LISTEN nor `pg_notify`, and nodes ask for heads themselves.
struct NoNotifications: Error {}

/// What is told: which node has made a new head, and of which replica.
struct HeadNotice: Hashable, Sendable {
    let node: UInt64
    let replica: ReplicaName

    var payload: String { "\(String(node, radix: 16)) \(replica.text)" }

    init(node: UInt64, replica: ReplicaName) { (self.node, self.replica) = (node, replica) }

    /// Reads what another node has told; nil for anything else: every user of the database may notify.
    init?(payload: String) {
        let words = payload.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, let node = UInt64(words[0], radix: 16),
            let replica = try? ReplicaName(String(words[1]))
        else { return nil }
        self.init(node: node, replica: replica)
    }
}
#endif
