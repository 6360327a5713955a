#if Server
internal import GodwitReplication
internal import Hummingbird
internal import Logging

/// What a server records of a principal: the message of an audit record.
///
/// The metadata of a record has the `principal`, the `replica`, the id of the `request`, and where there are
/// some, the `client` and the `reason`.
public enum AuditAction: String, CaseIterable, Sendable {
    /// The principal has made a replica, or has asked for one that was there.
    case created
    /// The server has let in a message with changes, and takes or refuses each object.
    case changed
    /// The request was not let in; the reason says why.
    case refused
}

/// Writes audit records, if there is a logger for them.
struct AuditLog: Sendable {
    let logger: Logger?

    func note(
        _ action: AuditAction,
        _ context: AccessContext,
        by client: ClientID? = nil,
        because reason: String? = nil
    ) {
        guard let logger else { return }
        var metadata: Logger.Metadata = [:]
        if let principal = context.knownPrincipal {
            // The subject of a token and its issuer stand in two lines.
            metadata["principal"] = "\("\(principal.identity)".replacing("\n", with: " "))"
        }
        if let name = context.parameters.get("name") { metadata["replica"] = "\(name)" }
        if let id = context.logger[metadataKey: "hb.request.id"] { metadata["request"] = id }
        if let client { metadata["client"] = "\(client)" }
        if let reason { metadata["reason"] = "\(reason)" }
        logger.notice("\(action.rawValue)", metadata: metadata)
    }
}
#endif
