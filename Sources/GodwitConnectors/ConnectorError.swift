/// Why a cloud did not do what it was asked to.
public enum ConnectorError: Error, Hashable, Sendable {
    /// The cloud cannot be reached; trying again later may help.
    case unreachable(reason: String)
    /// The connection ended before the answer came; the cloud may have done what it was asked to.
    case interrupted(reason: String)
    /// The cloud said no; `code` is its word for why.
    case refused(status: Int, code: String, message: String)
    /// The cloud has too much to do for this client, and names when to ask again.
    case busy(retryAfter: Duration, message: String)
    /// The answer is not one that the protocol has.
    case malformedAnswer(reason: String)
    /// The address is not that of a server.
    case invalidAddress(String)
    /// A file has no root certificates that can be used.
    case unusableCertificates(path: String, reason: String)
    /// The connector has no queue of its own: the app's queue runs the pushes.
    case noOwnQueue
    /// The executor has not handed in the cloud's version of an object, by its key.
    case unreadVersion(String)
}

extension ConnectorError {
    /// Whether the user has to sign in again: the server asks for a token, or does not take this one (401).
    public var needsSignIn: Bool {
        if case .refused(status: 401, _, _) = self { true } else { false }
    }
}

extension ConnectorError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let reason): "the server cannot be reached: \(reason)"
        case .interrupted(let reason): "the connection to the server ended: \(reason)"
        case .refused(let status, let code, let message):
            "the server refused with \(status) (\(code)): \(message)"
        case .busy(let wait, let message):
            "the server asks to wait for \(wait.components.seconds) s: \(message)"
        case .malformedAnswer(let reason): "the server's answer makes no sense: \(reason)"
        case .invalidAddress(let text): "\"\(text)\" is not the address of a server"
        case .unusableCertificates(let path, let reason):
            "the root certificates in \(path) cannot be used: \(reason)"
        case .noOwnQueue:
            "the app's queue runs the pushes: wait for it with its finish(through:)"
        case .unreadVersion(let key):
            "the cloud's version of \(key) was not read: return it with Outcome.conflict(theirs:)"
        }
    }
}
