internal import Synchronization

/// Lets tasks with one name run one after the other, in the order in which they came.
final class Turns<Name: Hashable & Sendable>: Sendable {
    /// How many tasks of one name may wait.
    static var waitingMax: Int { 1_024 }

    /// The tasks that wait behind the one whose turn it is, by name.
    private let lines = Mutex<[Name: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs a body when all tasks of the name that came before are done.
    ///
    /// A task that is cancelled while it waits keeps its place, and gives its turn away.
    ///
    /// - Throws: ``ReplicationError/contended`` when too many tasks wait.
    func take<Result>(
        _ name: Name,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await wait(for: name)
        defer { end(name) }
        try Task.checkCancellation()
        return try await body()
    }

    private func wait(for name: Name) async throws {
        var isRefused = false
        await withCheckedContinuation { continuation in
            let mayGoOn = lines.withLock { lines in
                guard let waiting = lines[name] else {
                    lines[name] = []
                    return true
                }
                isRefused = waiting.count >= Self.waitingMax
                if !isRefused { lines[name]?.append(continuation) }
                return isRefused
            }
            if mayGoOn { continuation.resume() }
        }
        if isRefused { throw ReplicationError.contended }
    }

    private func end(_ name: Name) {
        let next = lines.withLock { lines in
            guard lines[name]?.isEmpty == false else {
                lines[name] = nil
                return nil as CheckedContinuation<Void, Never>?
            }
            return lines[name]?.removeFirst()
        }
        next?.resume()
    }
}
