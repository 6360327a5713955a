public import GodwitReplication

/// Carries the messages of an exchange, and does not look into them.
///
/// HTTP is one; a test's simulated network is another.
public protocol ReplicaTransport: Sendable {
    /// Makes the replica on the server, unless it is there.
    func create(_ replica: ReplicaName) async throws

    /// Sends the bytes of a request, and returns those of the answer.
    ///
    /// - Throws: ``ConnectorError``. Whether the request has arrived is unknown then.
    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8]

    /// The states of the server: the current one, then each newer one that is not overtaken.
    ///
    /// The sequence ends, or throws, when the connection does; the connector asks again then.
    func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error>
}
