#if PostgreSQL
public import Foundation

/// Why a database was not read, or not written to.
///
/// Nothing has changed then, but for ``unknownOutcome``.
public enum PostgreSQLError: Error, Hashable, Sendable {
    /// The address is none of a database: correct it.
    case unusableAddress(reason: String)
    /// No connection came about: the database is down, or does not let this user in.
    case unreachable(reason: String)
    /// The connection ended: what was not committed is rolled back.
    case connectionLost(reason: String)
    /// The database refused a statement.
    case refused(sqlState: String, message: String)
    /// A statement took longer than it may, and was cancelled.
    case timedOut
    /// Too many tasks wait for a connection: come later, or allow more connections.
    case busy(waitingMax: Int)
    /// The connection ended at the end of a transaction, and no later one could tell whether it was done.
    ///
    /// A message of a device may be sent again: the server knows batches that it has taken.
    case unknownOutcome
    /// A newer program has changed the tables: upgrade this one.
    case schemaIsNewer(step: Int, known: Int)
    /// The tables are not there, or an older program made them: run the migrations.
    case schemaIsOlder(step: Int, known: Int)
    /// Two names of replicas have the same number: one of them must be another name.
    case numberTaken(name: String)
    /// A column holds something else than this program stores.
    case damagedRow(reason: String)
    /// The pool of connections was closed.
    case closed
}

extension PostgreSQLError {
    /// Whether the same transaction may succeed when it is tried again at once.
    public var isTransient: Bool {
        switch self {
        case .connectionLost: true
        // Serialisation failures and deadlocks, locks that were not to be had, a server that starts.
        case .refused(let state, _): ["40001", "40P01", "40003", "55P03"].contains(state)
        case .unreachable(let reason): reason.contains("starting up")
        default: false
        }
    }

    /// Whether a client may ask again in a moment, although this program has given up.
    package var isPassing: Bool {
        switch self {
        case .unreachable, .connectionLost, .busy, .timedOut, .unknownOutcome: true
        default: isTransient
        }
    }

    /// Whether the database does not know a command: feature_not_supported, syntax_error.
    ///
    /// Only for a command whose text is right in PostgreSQL: of any other it says nothing.
    var isUnknownCommand: Bool { hasState(in: ["0A000", "42601"]) }

    /// Whether the database does not know a function: feature_not_supported, undefined_function.
    var isUnknownFunction: Bool { hasState(in: ["0A000", "42883"]) }

    private func hasState(in states: [String]) -> Bool {
        guard case .refused(let state, _) = self else { return false }
        return states.contains(state)
    }
}

extension PostgreSQLError: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .unusableAddress(let reason):
            "that is no address of a database, such as postgres://user@host:5432/name: \(reason)"
        case .unreachable(let reason): "the database cannot be reached: \(reason)"
        case .connectionLost(let reason): "the connection to the database ended: \(reason)"
        case .refused(let state, let message): "the database refused (\(state)): \(message)"
        case .timedOut: "a statement took too long, and was cancelled"
        case .busy(let count):
            "\(count) tasks wait for a connection to the database: try again later"
        case .unknownOutcome:
            "the connection ended at the end of a transaction, and the database cannot say what became of it"
        case .schemaIsNewer(let step, let known):
            "the tables are of step \(step), and this program knows \(known): upgrade it"
        case .schemaIsOlder(let step, let known):
            "the tables are of step \(step), and this program needs \(known): run `godwit server migrate`"
        case .numberTaken(let name):
            "another replica has the number of \"\(name)\": choose another name"
        case .damagedRow(let reason): "a row of the database is damaged: \(reason)"
        case .closed: "the connections to the database are closed"
        }
    }

    /// The description, which is in English.
    public var errorDescription: String? { description }
}
#endif
