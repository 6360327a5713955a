#if Server
internal import GodwitReplication
internal import Hummingbird
internal import Logging
internal import Synchronization

/// What a server records of a principal: the message of an audit record.
///
/// The metadata of a record has the `principal`, the `replica`, the id of the `request`, and where there are
/// some, the `client` and the `reason`. Of requests without a known principal, ten records a second are
/// written in the long run; `omitted` says how many others there were before.
public enum AuditAction: String, CaseIterable, Sendable {
    /// The principal has made a replica, or has asked for one that was there.
    case created
    /// The server has answered a message with changes: it has taken or refused each object.
    case changed
    /// The request was not let in because of its key, its token or the principal's rights.
    case refused
}

/// Writes audit records, if there is a logger for them.
final class AuditLog: Sendable {
    private struct Strangers {
        var bucket: RateBucket
        var omittedCount = 0
    }

    private let logger: Logger?
    private let now: @Sendable () -> Duration
    /// How many records there may be of requests without a known principal: anyone can make them.
    private let strangers: Mutex<Strangers>

    /// - Parameter now: The time since any moment.
    init(_ logger: Logger?, now: @escaping @Sendable () -> Duration) {
        (self.logger, self.now) = (logger, now)
        strangers = Mutex(Strangers(bucket: RateBucket(rate: 10, size: 100, now: now())))
    }

    convenience init(_ logger: Logger?) {
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        self.init(logger, now: { start.duration(to: clock.now) })
    }

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
        } else {
            guard let omittedCount = takeStranger() else { return }
            if omittedCount > 0 { metadata["omitted"] = "\(omittedCount)" }
        }
        if let name = try? context.replica() { metadata["replica"] = "\(name)" }
        if let id = context.logger[metadataKey: "hb.request.id"] { metadata["request"] = id }
        if let client { metadata["client"] = "\(client)" }
        if let reason { metadata["reason"] = "\(reason)" }
        logger.notice("\(action.rawValue)", metadata: metadata)
    }

    /// - Returns: How many records were omitted before this one; nil if it is, too.
    private func takeStranger() -> Int? {
        strangers.withLock { strangers in
            guard strangers.bucket.take(at: now()) == nil else {
                strangers.omittedCount += 1
                return nil
            }
            defer { strangers.omittedCount = 0 }
            return strangers.omittedCount
        }
    }
}
#endif
