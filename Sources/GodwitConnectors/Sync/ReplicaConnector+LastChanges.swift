public import GodwitReplication
public import GodwitStore
internal import Synchronization

extension ReplicaConnector {
    /// Asks the server which clients have changed some objects last.
    ///
    /// ```swift
    /// let key = items.place("milk")
    /// let changes = try await connector.lastChanges(of: [key], in: "shopping")
    /// if let change = changes[key] { print(change.client, change.date) }
    /// ```
    ///
    /// What is not pushed yet is not known there. An object that is not there has no last change, nor has one
    /// that an earlier version of the server has stored.
    ///
    /// - Throws: ``ConnectorError``; `ReplicationError.unknownReplica(_:)` when the replica is not open.
    public func lastChanges(
        of keys: Set<ObjectKey>,
        in name: ReplicaName
    ) async throws -> [ObjectKey: LastChange] {
        guard let link = links.withLock({ $0[name] }) else {
            throw ReplicationError.unknownReplica(name.text)
        }
        let client = try await link.replica.status().client
        var (changes, left) = ([ObjectKey: LastChange](), keys.sorted()[...])
        while !left.isEmpty {
            let request = LastChangesRequest(of: left.prefix(LastChangesRequest.countMax))
            left = left.dropFirst(LastChangesRequest.countMax)
            let answer = try await transport.exchange(request.bytes, replica: name, client: client)
            changes.merge(try request.changes(in: answer)) { _, new in new }
        }
        return changes
    }
}
