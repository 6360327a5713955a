internal import Synchronization

/// Lets tasks with one name run one after the other, in the order in which they came.
final class Turns<Name: Hashable & Sendable>: Sendable {
    private struct Line {
        var last: Task<Void, Never>
        var count = 0
    }

    private let lines = Mutex<[Name: Line]>([:])

    /// Runs a task when all tasks of the name that came before are done.
    ///
    /// A task whose caller is cancelled runs all the same: others may wait behind it.
    func take<Result: Sendable>(
        _ name: Name,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = lines.withLock { lines in
            let previous = lines[name]?.last
            let task = Task {
                await previous?.value
                return try await body()
            }
            let end = Task { _ = try? await task.value }
            lines[name] = Line(last: end, count: (lines[name]?.count ?? 0) + 1)
            return task
        }
        defer {
            lines.withLock { lines in
                lines[name]?.count -= 1
                if lines[name]?.count == 0 { lines[name] = nil }
            }
        }
        return try await task.value
    }
}
