internal import GodwitReplication
internal import GodwitStore

/// The replicas of one server, each opened when it is first asked for.
actor ReplicaHost {
    private let store: Store
    private var replicas: [ReplicaName: HostedReplica] = [:]

    init(store: Store) { self.store = store }

    /// The replica of this name.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    func replica(_ name: ReplicaName) async throws -> HostedReplica {
        if let replica = replicas[name] { return replica }
        return keep(try await HostedReplica.open(name, in: store))
    }

    func create(_ name: ReplicaName) async throws -> HostedReplica {
        if let replica = replicas[name] { return replica }
        return keep(try await HostedReplica.create(name, in: store))
    }

    /// Of several that were opened at once, the first stays: two would not see each other.
    private func keep(_ replica: HostedReplica) -> HostedReplica {
        if let first = replicas[replica.name] { return first }
        replicas[replica.name] = replica
        return replica
    }
}
